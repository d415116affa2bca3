"""``medtasks extract``: reading answers by hand (:mod:`medtasks_utils.commands.reading`)."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from medtasks_utils.commands.flags import text_on_standard_input

SUMMARY = "read answers out of text on standard input, or out of saved samples, and say how"
KINDS = ("decimal", "integer", "date", "weeks_days")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Paths of saved runs, the task, and what it is to be read against."""
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="saved runs; none: text on standard input")
    parser.add_argument("--task", required=True, metavar="T", help="a task of this pack")
    parser.add_argument("--explain", action="store_true", help="show the candidates and the evidence for and against")
    parser.add_argument("--data", default="sample", metavar="DIR", help="where rows come from; default: the sample")
    of_text = parser.add_mutually_exclusive_group()
    of_text.add_argument("--row", type=int, metavar="N", help="the task's document, from 0, that the text answers")
    of_text.add_argument("--kind", choices=KINDS, help="what MedCalc-Bench asks for; default: decimal")


def run(arguments: argparse.Namespace) -> int:
    """Print what is read; 0 wherever it could be looked at."""
    from medtasks_utils.commands.reading import document, read_samples, read_text, task_named
    from medtasks_utils.errors import UsageError

    if arguments.paths and (arguments.kind or arguments.row is not None):
        raise UsageError("--row and --kind go with text on standard input; a saved sample has its own document")
    task = task_named(arguments.task, arguments.data)
    if arguments.paths:
        lines = read_samples(task, arguments.paths, arguments.explain)
    else:
        doc = document(task, arguments.row, arguments.kind or "decimal")
        lines = read_text(task, text_on_standard_input(), doc, arguments.explain)
    print(json.dumps(list(lines), indent=2, ensure_ascii=False) if arguments.json else "\n".join(lines))
    return 0
