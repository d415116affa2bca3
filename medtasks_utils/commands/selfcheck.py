"""``medtasks selfcheck``: the harness against known answers (:mod:`medtasks_utils.selfcheck`)."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from pathlib import Path

from medtasks_utils.commands.flags import number

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
    parser.add_argument("--data", default="sample", metavar="DIR", help="a data directory; default: bundled sample")
    parser.add_argument("--limit", type=number(int, 1), metavar="N", help="only the first N examples of each task")
    parser.add_argument(
        "-o", "--output", type=Path, default=FOLDER, metavar="FOLDER", help=f"for the runs and the report; {FOLDER}"
    )
    parser.add_argument("--table", action="store_true", help="print every score")


def run(arguments: argparse.Namespace) -> int:
    """Run it; 1 if any score misses."""
    os.environ["TQDM_DISABLE"] = "1"  # which is read when tqdm is imported
    from medtasks_utils import selfcheck
    from medtasks_utils.harness.checks import try_folder
    from medtasks_utils.selfcheck import output

    runs: Path = arguments.output / "runs"
    try_folder(runs, "--output")
    checked = selfcheck.run(arguments.data, arguments.limit, runs, _tell)
    report, lacking = _report(runs, arguments.output / "report.html")
    if arguments.json:
        told = {**output.as_data(checked), "runs": str(runs), "report": str(report) if report else None}
        print(json.dumps(told, indent=2))
    else:
        if arguments.table:
            print(output.as_table(checked), end="\n\n")
        print("\n".join(output.in_words(checked)))
        print(f"report: {report.resolve()} (open it in a browser)" if report else f"no report: {lacking}")
    return 1 if checked.missed else 0


def _report(runs: Path, page: Path) -> tuple[Path | None, str]:
    """The page about the runs, or why there is none."""
    from medtasks_utils.errors import MedtasksError
    from medtasks_utils.results import read_runs
    from medtasks_utils.writing import write_whole

    _tell("writing the report …")
    try:
        from medtasks_utils.report import build_page

        write_whole(page, build_page(read_runs(runs)))
    except (MedtasksError, OSError) as error:
        return None, f"{error}; then medtasks report {shlex.quote(str(runs))} -o {shlex.quote(str(page))}"
    return page, ""


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
