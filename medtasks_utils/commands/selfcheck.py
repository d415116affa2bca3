"""``medtasks selfcheck``: the harness against known answers (:mod:`medtasks_utils.selfcheck`)."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from medtasks_utils.commands.flags import number, show

SUMMARY = "run the harness against a local server with known answers and check every score"
DESCRIPTION = (
    "Serves right, first-option, random, malformed and unsure answers from a local OpenAI-compatible server, runs the "
    "harness against it, and compares every score with its expected floor and ceiling. Leaves the runs and a report of "
    "them in a folder. Exit code 1 on any miss."
)
FOLDER = Path("medtasks_selfcheck")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to check on, and what to show."""
    parser.description = DESCRIPTION
    add = parser.add_argument
    add("--data", default="sample", metavar="DIR", help="a data directory; default: bundled sample")
    add("--limit", type=number(int, 1), metavar="N", help="only the first N examples of each task")
    add("-o", "--output", type=Path, default=FOLDER, metavar="FOLDER", help=f"for the runs and the report; {FOLDER}")
    add("--table", action="store_true", help="print every score")


def run(arguments: argparse.Namespace) -> int:
    """Run it; 1 if any score misses."""
    os.environ["TQDM_DISABLE"] = "1"  # which is read when tqdm is imported
    from medtasks_utils import selfcheck
    from medtasks_utils.harness.checks import try_folder
    from medtasks_utils.report import build_page
    from medtasks_utils.results import read_runs
    from medtasks_utils.selfcheck import output
    from medtasks_utils.writing import write_whole

    runs, page = arguments.output / "runs", arguments.output / "report.html"
    try_folder(runs, "--output")
    checked = selfcheck.run(arguments.data, arguments.limit, runs, _tell)
    _tell("writing the report …")
    write_whole(page, build_page(read_runs([runs])))
    told = {**output.as_data(checked), "runs": str(runs), "report": str(page)}
    lines = [*output.in_words(checked), f"report: {page.resolve()} (open it in a browser)"]
    if arguments.table:
        lines.insert(0, output.as_table(checked) + "\n")
    return show(arguments, told, "\n".join(lines), failed=bool(checked.missed))


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
