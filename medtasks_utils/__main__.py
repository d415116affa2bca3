"""The console script ``medtasks``. Exit codes: 0 done, 1 the thing asked for failed, 2 wrong usage."""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import traceback
from collections.abc import Sequence
from typing import NoReturn

from medtasks_utils.errors import MedtasksError, UsageError, debugging, meant, reason_of
from medtasks_utils.registry import Registry
from medtasks_utils.writing import SECRETS

_MODULES = {
    **{name: name for name in ("path", "extract", "fetch", "compare", "publish", "report", "rescore", "audit")},
    **{name: name for name in ("selfcheck", "sweep", "tool", "completion")},
    "eval": "evaluate",
    "import": "imports",
}
COMMANDS = Registry(
    "medtasks.commands", {name: f"medtasks_utils.commands.{module}" for name, module in _MODULES.items()}
)
"""By name: modules with ``SUMMARY``, ``add_arguments(parser)`` and ``run(arguments)``, which returns the exit code."""

INTERRUPTED = 130


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """End with exit code 2."""
        word = re.match(r"argument COMMAND: invalid choice: '(.*?)'", message)
        if word:
            message = f"there is no command {word[1]!r}{meant(word[1], COMMANDS)}"
        message = re.sub(r"invalid functools.* value:", "invalid value:", message)  # of lm_eval's --seed
        self.exit(2, f"medtasks: error: {message}; {self.prog} --help lists all\n")


def build_parser(asked_for: str | None = None) -> argparse.ArgumentParser:
    """The parser of the command line, with the arguments of one command; of all for ``completion``.

    Adding them for all would import what all need.
    """
    parser = _Parser(prog="medtasks", description="Medical benchmarks for lm-evaluation-harness.")
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    parser.set_defaults(parser=parser, parsers=subparsers.choices)
    for name, command in COMMANDS.items():
        subparser = subparsers.add_parser(name, help=command.SUMMARY, description=command.SUMMARY)
        if asked_for in (name, "completion"):
            subparser.add_argument("--json", action="store_true", help="print JSON")
            command.add_arguments(subparser)
    return parser


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = build_parser(next(iter(argv), None))
    try:
        arguments, unknown = parser.parse_known_args(argv)
    except ValueError as error:  # lm_eval's flags raise theirs past argparse
        parser.error(str(error))
    if unknown:
        asked = arguments.parsers.get(arguments.command, parser)
        flags = [flag for action in asked._actions for flag in action.option_strings]
        flag = unknown[0].partition("=")[0]
        asked.error(f"there is no {'flag' if flag.startswith('-') else 'argument'} {flag}{meant(flag, flags)}")
    return arguments


def version() -> str:
    """This package's version, and those that decide what a run does."""
    from importlib.metadata import version

    return f"medtasks {version('medtasks')} (lm_eval {version('lm_eval')}, Python {sys.version.split()[0]})"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    try:
        arguments = _parse(sys.argv[1:] if argv is None else argv)
        if arguments.version:
            print(version())
        elif arguments.command is None:
            arguments.parser.print_help()
        code = int(COMMANDS[arguments.command].run(arguments)) if arguments.command else 0
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        print("medtasks: stopped", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # whoever read our output has left, as head does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        is_expected = isinstance(error, MedtasksError) and error.__cause__ is None
        if debugging():
            traceback.print_exc()
        message = str(error) if is_expected else _with_traceback(error)
        print(f"medtasks: error: {SECRETS.scrub(message)}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1


def _with_traceback(error: Exception) -> str:
    """What an error that nobody foresaw says, and the file with its traceback."""
    whole = "".join(traceback.format_exception(error))
    with tempfile.NamedTemporaryFile("wb", prefix="medtasks_traceback_", suffix=".txt", delete=False) as file:
        file.write(SECRETS.scrub(whole).encode(errors="backslashreplace"))
    return f"{type(error).__name__}: {reason_of(error)} (the traceback is in {file.name})"


if __name__ == "__main__":
    sys.exit(main())
