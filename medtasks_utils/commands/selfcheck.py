"""``medtasks selfcheck``: check the harness against known answers (:mod:`medtasks_utils.selfcheck`)."""

import os
from pathlib import Path

from pydantic import PositiveInt
from pydantic.dataclasses import dataclass

from medtasks_utils.writing import table

from .flags import Command, CommandResult


@dataclass(kw_only=True)
class Selfcheck(Command):
    about = """
    Run the harness against a local server with known answers, and check every score.

    A local OpenAI-compatible server gives right, first-option, random, malformed and unsure answers in turn. The
    harness is run against it, and every score is compared with the value that follows from the answers. The runs and a
    report on them are kept in a folder. Exit code 1 if any score is wrong, or a benchmark has a problem.
    """

    data: str = "sample"
    """a data directory; default: the bundled sample"""
    limit: PositiveInt | None = None
    """use only the first LIMIT examples of each task"""
    output: Path = Path("medtasks_selfcheck")
    """the folder for the runs and the report; default: medtasks_selfcheck"""
    table: bool = False
    """print every score, not only the wrong ones"""
    published: Path | None = None
    """instead, score the published responses in this folder, and compare each verdict with the published one; see
    docs/published.md"""

    def run(self) -> CommandResult:
        """Run the check, and return its result; with ``--published``, score published responses instead.

        The command fails if the check finds a wrong score or a problem with a benchmark; published responses that are
        scored differently do not make it fail.
        """
        if self.published:
            from medtasks_utils.selfcheck.published import score_published

            rows = [run.to_data() for run in score_published(self.published, self.data)]
            cells = (map(shown_cell, row.values()) for row in rows)
            return CommandResult([table([[*rows[0]], *map(list, cells)], left=range(3))], rows)
        os.environ["TQDM_DISABLE"] = "1"  # read when tqdm is imported
        from medtasks_utils.harness.checks import try_folder
        from medtasks_utils.report.page import build_page
        from medtasks_utils.results import read_runs
        from medtasks_utils.selfcheck import check
        from medtasks_utils.writing import write_whole

        try_folder(self.output / "runs", "--output")
        result = check.run(self.data, self.limit, self.output / "runs")
        write_whole(result.page, build_page(read_runs([result.runs])))
        return CommandResult([result.to_text(self.table)], result.to_data(), result.failed)


def shown_cell(value: object) -> object:
    """Format a float with two decimals; return any other value unchanged."""
    return f"{value:.2f}" if isinstance(value, float) else value
