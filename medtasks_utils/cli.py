"""The console script ``medtasks``. Exit codes: 0 done, 1 the thing asked for failed, 2 wrong usage."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

from medtasks_utils.errors import MedtasksError

COMMANDS = {
    "path": "path",
    "selfcheck": "selfcheck",
}
"""Each command's module in :mod:`medtasks_utils.commands`."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="medtasks", description="Medical benchmarks for lm-evaluation-harness.")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module_name in COMMANDS.items():
        command = importlib.import_module(f"medtasks_utils.commands.{module_name}")
        subparser = subparsers.add_parser(name, help=command.SUMMARY, description=command.SUMMARY)
        command.add_arguments(subparser)
        subparser.set_defaults(run=command.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = _parser().parse_args(argv)
    try:
        code: int = arguments.run(arguments)
    except MedtasksError as error:
        if error.__cause__ is not None:  # a bug, not bad input: it needs its traceback
            raise
        print(f"medtasks: error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return code


if __name__ == "__main__":
    sys.exit(main())
