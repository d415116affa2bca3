"""The console script ``medtasks``. Exit codes: 0 done, 1 the thing asked for failed, 2 wrong usage."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from medtasks_utils.errors import MedtasksError, UsageError
from medtasks_utils.registry import Registry

COMMANDS = Registry(
    "medtasks.commands",
    {
        "path": "medtasks_utils.commands.path",
        "eval": "medtasks_utils.commands.evaluate",
        "extract": "medtasks_utils.commands.extract",
        "fetch": "medtasks_utils.commands.fetch",
        "compare": "medtasks_utils.commands.compare",
        "publish": "medtasks_utils.commands.publish",
        "report": "medtasks_utils.commands.report",
        "rescore": "medtasks_utils.commands.rescore",
        "selfcheck": "medtasks_utils.commands.selfcheck",
        "sweep": "medtasks_utils.commands.sweep",
        "tool": "medtasks_utils.commands.tool",
    },
)
"""By name: modules with ``SUMMARY``, ``add_arguments(parser)`` and ``run(arguments)``, which returns the exit code."""


def _parser(asked_for: str | None) -> argparse.ArgumentParser:
    """The parser of the command line; only the command that is asked for adds its arguments."""
    parser = argparse.ArgumentParser(prog="medtasks", description="Medical benchmarks for lm-evaluation-harness.")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
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
