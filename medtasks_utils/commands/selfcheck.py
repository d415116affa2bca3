"""``medtasks selfcheck``: the harness against known answers (:mod:`medtasks_utils.selfcheck`)."""

import os
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import PositiveInt

from .flags import Command

if TYPE_CHECKING:
    from medtasks_utils.selfcheck.output import SelfcheckResult


@dataclass(kw_only=True)
class Selfcheck(Command):
    """Run the harness against a local server with known answers and check every score.

    Serves right, first-option, random, malformed and unsure answers from a local OpenAI-compatible server, runs the
    harness against it, and compares every score with its expected floor and ceiling. Leaves the runs and a report of
    them in a folder. Exit code 1 on any miss.

    Attributes:
        data: a data directory; default: the bundled sample
        limit: only the first so many examples of each task
        output: the folder for the runs and the report; default: medtasks_selfcheck
        table: print every score
    """

    data: str = "sample"
    limit: PositiveInt | None = None
    output: Path = Path("medtasks_selfcheck")
    table: bool = False

    def run(self) -> "SelfcheckResult":
        """Run the check; the result failed if any score misses."""
        os.environ["TQDM_DISABLE"] = "1"  # which is read when tqdm is imported
        from medtasks_utils.harness.checks import try_folder
        from medtasks_utils.report.page import build_page
        from medtasks_utils.results import read_runs
        from medtasks_utils.selfcheck import check
        from medtasks_utils.selfcheck.output import SelfcheckResult
        from medtasks_utils.writing import write_whole

        say = partial(print, file=sys.stderr, flush=True)
        runs, page = self.output / "runs", self.output / "report.html"
        try_folder(runs, "--output")
        checked = check.run(self.data, self.limit, runs, say)
        say("writing the report …")
        write_whole(page, build_page(read_runs([runs])))
        return SelfcheckResult(checked, runs, page, every_score=self.table)
