"""The console script ``medtasks``. Exit codes: 0 done, 1 the thing asked for failed, 2 wrong usage."""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import traceback
from collections.abc import Sequence
from functools import partial
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
    """A parser whose errors are one line, with what was probably meant."""

    given: Sequence[str] = ()

    def error(self, message: str) -> NoReturn:
        """End with exit code 2."""
        words = re.match(r"argument COMMAND: invalid choice: '(.*?)'", message)
        if words:
            message = f"there is no command {words[1]!r}{meant(words[1], COMMANDS)}"
        known = [flag for action in self._actions for flag in action.option_strings]
        flags = [word.partition("=")[0] for word in self.given if re.match(r"--\w", word)]
        for flag in flags:
            if not any(name.startswith(flag) for name in known):
                message = f"there is no flag {flag}{meant(flag, known)}"
        self.exit(2, f"medtasks: error: {message}; {self.prog} --help lists all\n")


def build_parser(asked_for: str | None = None, every: bool = False) -> argparse.ArgumentParser:
    """The parser of the command line, with the arguments of one command, or of ``every``.

    Adding them for all would import what all need.
    """
    parser = _Parser(prog="medtasks", description="Medical benchmarks for lm-evaluation-harness.")
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, command in COMMANDS.items():
        subparser = subparsers.add_parser(name, help=command.SUMMARY, description=command.SUMMARY)
        subparser.set_defaults(run=command.run, parser=subparser, whole=partial(build_parser, every=True))
        if every or name == asked_for:
            subparser.add_argument("--json", action="store_true", help="print JSON")
            command.add_arguments(subparser)
    return parser


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = build_parser(next(iter(argv), None))
    _Parser.given = argv
    try:
        arguments, unknown = parser.parse_known_args(argv)
    except ValueError as error:  # lm_eval's flags raise theirs past argparse
        parser.exit(2, f"medtasks: error: {error}\n")
    subparser = vars(arguments).pop("parser", parser)
    if unknown:
        subparser.error("unrecognized arguments: " + " ".join(unknown))
    if arguments.command is None and not arguments.version:
        parser.print_help()
    return arguments


def version() -> str:
    """This package's version, and those that decide what a run does."""
    from importlib.metadata import version

    return f"medtasks {version('medtasks')} (lm_eval {version('lm_eval')}, Python {sys.version.split()[0]})"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # printing a character that the terminal lacks must not end a run
            stream.reconfigure(errors="backslashreplace")
    try:
        arguments = _parse(sys.argv[1:] if argv is None else argv)
        if arguments.version:
            print(version())
        code = int(arguments.run(arguments)) if arguments.command else 0
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
    with tempfile.NamedTemporaryFile(
        "w", prefix="medtasks_traceback_", suffix=".txt", delete=False, encoding="utf-8", errors="backslashreplace"
    ) as file:
        file.write(SECRETS.scrub("".join(traceback.format_exception(error))))
    return f"{type(error).__name__}: {reason_of(error)} (the traceback is in {file.name})"


if __name__ == "__main__":
    sys.exit(main())
