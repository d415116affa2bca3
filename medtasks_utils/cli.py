"""The console script ``medtasks``. Exit codes: 0 done, 1 the thing asked for failed, 2 wrong usage."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

from medtasks_utils.errors import MedtasksError, UsageError

COMMANDS = {
    "path": "path",
    "eval": "evaluate",
    "fetch": "fetch",
    "compare": "compare",
    "report": "report",
    "rescore": "rescore",
    "selfcheck": "selfcheck",
    "tool": "tool",
}
"""Each command's module in :mod:`medtasks_utils.commands`."""


def _parser(asked_for: str | None) -> argparse.ArgumentParser:
    """The parser of the command line; only the command that is asked for adds its arguments."""
    parser = argparse.ArgumentParser(prog="medtasks", description="Medical benchmarks for lm-evaluation-harness.")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module_name in COMMANDS.items():
        command = importlib.import_module(f"medtasks_utils.commands.{module_name}")
        subparser = subparsers.add_parser(name, help=command.SUMMARY, description=command.SUMMARY)
        subparser.set_defaults(run=command.run)
        if name == asked_for:
            command.add_arguments(subparser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    argv = sys.argv[1:] if argv is None else argv
    arguments = _parser(next(iter(argv), None)).parse_args(argv)
    try:
        code: int = arguments.run(arguments)
    except MedtasksError as error:
        if error.__cause__ is not None:  # a bug, not bad input: it needs its traceback
            raise
        print(f"medtasks: error: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    except KeyboardInterrupt:
        return 130
    return code


if __name__ == "__main__":
    sys.exit(main())
