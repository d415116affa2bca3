"""``medtasks extract``: reading answers by hand (:mod:`medtasks_utils.commands.reading`)."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

SUMMARY = "read answers out of text on standard input, or out of saved samples, and say how"
KINDS = ("decimal", "integer", "date", "weeks_days")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Paths of saved runs, the task, and what it is to be read against."""
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="saved runs; none: text on standard input")
    parser.add_argument("--task", required=True, metavar="T", help="a task of this pack")
    parser.add_argument("--explain", action="store_true", help="show the candidates and the evidence for and against")
    parser.add_argument("--row", type=int, metavar="N", help="the task's document, from 0, that the text answers")
    parser.add_argument("--kind", choices=KINDS, help="without --row: what MedCalc-Bench asks for; default: decimal")
    parser.add_argument("--json", action="store_true", help="print the lines as a list in JSON")
    parser.add_argument("--data", default="sample", metavar="DIR", help="where rows come from; default: the sample")


def run(arguments: argparse.Namespace) -> int:
    """Print what is read; 0 wherever it could be looked at."""
    from medtasks_utils.commands.reading import document, read_samples, read_text, task_named
    from medtasks_utils.errors import MedtasksError, UsageError
    from medtasks_utils.extraction.printable import printable

    given = "--kind" if arguments.kind else "" if arguments.row is None else "--row"
    if given and arguments.paths:
        raise UsageError(f"{given} goes with text on standard input; a saved sample has its own document")
    if arguments.kind and arguments.row is not None:
        raise UsageError("--kind goes without --row: the document says what is asked for")
    task = task_named(arguments.task, arguments.data)
    if arguments.kind and task.benchmark.name != "medcalc_bench":
        raise UsageError(f"--kind is of MedCalc-Bench, and {arguments.task} is not: leave it out")
    if arguments.paths:
        lines = read_samples(task, arguments.paths, arguments.explain)
    else:
        if sys.stdin is None:
            raise MedtasksError("standard input is closed, and the text is read from it; or name a saved run")
        try:
            response = printable(sys.stdin.read())
        except UnicodeDecodeError as error:
            raise MedtasksError(
                f"standard input is not {error.encoding}: {error.reason} at byte {error.start}"
            ) from None
        lines = read_text(task, response, document(task, arguments.row, arguments.kind or "decimal"), arguments.explain)
    if arguments.json:
        print(json.dumps(list(lines), indent=2, ensure_ascii=False))
        return 0
    for line in lines:
        print(line)
    return 0
