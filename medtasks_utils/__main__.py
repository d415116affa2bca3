"""The console script ``medtasks``. Exit codes: 0 done, 1 the thing asked for failed, 2 wrong usage."""

from __future__ import annotations

import argparse
import os
import re
import select
import sys
import traceback
from collections.abc import Sequence
from functools import partial
from typing import Any, NoReturn

from medtasks_utils.errors import MedtasksError, UsageError, debugging, meant
from medtasks_utils.registry import Registry

COMMANDS = Registry(
    "medtasks.commands",
    {
        "path": "medtasks_utils.commands.path",
        "eval": "medtasks_utils.commands.evaluate",
        "extract": "medtasks_utils.commands.extract",
        "fetch": "medtasks_utils.commands.fetch",
        "import": "medtasks_utils.commands.imports",
        "compare": "medtasks_utils.commands.compare",
        "publish": "medtasks_utils.commands.publish",
        "report": "medtasks_utils.commands.report",
        "rescore": "medtasks_utils.commands.rescore",
        "audit": "medtasks_utils.commands.audit",
        "selfcheck": "medtasks_utils.commands.selfcheck",
        "sweep": "medtasks_utils.commands.sweep",
        "tool": "medtasks_utils.commands.tool",
        "completion": "medtasks_utils.commands.completion",
    },
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
        misspelt = [flag for flag in flags if not any(name.startswith(flag) for name in known)]
        if misspelt:
            said = "; ".join(f"there is no flag {flag}{meant(flag, known)}" for flag in misspelt)
            message = said if message.startswith("unrecognized") else f"{message}; {said}"
        self.exit(2, f"medtasks: error: {message}; {self.prog} --help lists all\n")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Let errors of writing pass, which argparse swallows."""
        print(message, end="", file=file or sys.stderr)


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
            command.add_arguments(subparser)
    return parser


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = build_parser(next(iter(argv), None))
    _Parser.given = argv
    arguments, unknown = parser.parse_known_args(argv)
    subparser = vars(arguments).pop("parser", parser)
    if unknown:
        subparser.error("unrecognized arguments: " + " ".join(unknown))
    if arguments.command is None and not arguments.version:
        parser.print_help()
    return arguments


def version() -> str:
    """This package's version, and those that decide what a run does."""
    from importlib import metadata

    def of(name: str) -> str:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            return "(not installed)"

    return f"medtasks {of('medtasks')} (lm_eval {of('lm_eval')}, Python {sys.version.split()[0]})"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    _prepare_streams()
    try:
        return _run(sys.argv[1:] if argv is None else argv)
    except MedtasksError as error:
        if error.__cause__ is not None:  # a bug, not bad input: it needs its traceback
            raise
        if debugging():
            traceback.print_exc()
        print(f"medtasks: error: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    except KeyboardInterrupt:
        print("medtasks: stopped", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        if not _is_output_closed():
            raise
        return 0
    except OSError as error:
        if not _is_output_refused():
            raise
        print(f"medtasks: error: standard output cannot be written: {error.strerror or error}", file=sys.stderr)
        return 1


def _run(argv: Sequence[str]) -> int:
    """Run a command until all that it says is out."""
    try:
        arguments = _parse(argv)
        if arguments.command is not None:
            return int(arguments.run(arguments))
        if arguments.version:
            print(version())
        return 0
    finally:
        if sys.stdout is not None and not isinstance(sys.exc_info()[1], Exception):
            sys.stdout.flush()


def _prepare_streams() -> None:
    """Where the terminal's encoding lacks a character, show it escaped; printing must not end a run.

    Nor must a closed standard error, whose number the next file to be opened would get: a cache, for one.
    """
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _is_output_closed() -> bool:
    """Whether whoever read our output has left, as ``head`` does; what is left of it goes nowhere then."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    if not any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0)):
        return False
    _drop_output()
    return True


def _is_output_refused() -> bool:
    """Whether standard output takes nothing, as a file on a full disk; what is left of it goes nowhere then."""
    try:
        print(flush=True)
    except OSError:
        _drop_output()
        return True
    return False


def _drop_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
