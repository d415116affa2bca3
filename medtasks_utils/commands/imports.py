"""``medtasks import``: runs of the defining environments (:mod:`medtasks_utils.results.importing`)."""

from __future__ import annotations

import argparse
from pathlib import Path

from medtasks_utils.commands.flags import show, warn

SUMMARY = "write runs of the defining environments (results.jsonl) as the harness's files"
DESCRIPTION = (
    "Reads results.jsonl, as vf-eval -s writes it, scores its responses anew under both filters, and writes results "
    "and samples as lm_eval does, for report, compare and rescore. Exit code 1 if a file cannot be told or matched."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Files, where to, and what they are of."""
    parser.description = DESCRIPTION
    add = parser.add_argument
    add("paths", nargs="+", type=Path, metavar="PATH", help="results.jsonl, or folders with such files")
    add("-o", "--output", type=Path, default=Path("imported"), metavar="FOLDER", help="default: imported")
    add("--task", metavar="NAME", help="the task that the rows are of; default: the benchmark's own")
    add("--data", metavar="DIR", help="where the task's rows come from; default: as for runs")


def run(arguments: argparse.Namespace) -> int:
    """Write each run, and say where."""
    from medtasks_utils.results.importing import ImportingError, import_run

    files = [p for path in arguments.paths for p in (sorted(path.rglob("results.jsonl")) if path.is_dir() else [path])]
    if not files:
        raise ImportingError(f"no results.jsonl in {', '.join(map(str, arguments.paths))}")
    told = []
    for path in files:
        written, problems = import_run(path, arguments.output, arguments.task, arguments.data)
        for problem in problems:
            warn(problem)
        told.append({"run": str(path), "written": str(written), "problems": problems})
    return show(arguments, told, "\n".join(str(each["written"]) for each in told))
