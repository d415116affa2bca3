"""The console script ``medtasks``. Exit codes: 0 success, 1 the command failed, 2 wrong usage, 130 interrupted."""

import argparse
import gc
import io
import os
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Sequence
from functools import partial

from medtasks_utils.commands.flags import Command, described, print_error
from medtasks_utils.errors import MedtasksError, Parser, UsageError, did_you_mean, reason_of
from medtasks_utils.registry import Registry
from medtasks_utils.writing import SECRETS, SIMPLER, WIDTH

COMMANDS = Registry(
    "medtasks.commands",
    {
        "path": "medtasks_utils.commands.path:TasksPath",
        "eval": "medtasks_utils.commands.evaluate:Eval",
        "selfcheck": "medtasks_utils.commands.selfcheck:Selfcheck",
        "fetch": "medtasks_utils.commands.fetch:Fetch",
        "rescore": "medtasks_utils.commands.rescore:Rescore",
        "report": "medtasks_utils.commands.report:Report",
        "compare": "medtasks_utils.commands.compare:Compare",
        "audit": "medtasks_utils.commands.audit:Audit",
        "doubt": "medtasks_utils.commands.doubt:Doubt",
        "requests": "medtasks_utils.commands.requests:Requests",
        "import": "medtasks_utils.commands.imports:Import",
        "extract": "medtasks_utils.commands.extract:Extract",
        "sweep": "medtasks_utils.commands.sweep:Sweep",
        "publish": "medtasks_utils.commands.publish:Publish",
        "tool": "medtasks_utils.commands.call_tool:CallTool",
    },
)
"""The commands by name: classes derived from :class:`.commands.flags.Command`."""

INTERRUPTED = 130


def _parse(words: Sequence[str]) -> Command:
    """Parse a command line into a command; for ``--help``, print the help text and exit with code 0.

    Raises:
        UsageError: if the command line is not valid.
    """
    name, *others = words
    if name not in COMMANDS:
        raise UsageError(f"there is no command {name}{did_you_mean(name, COMMANDS)}; see medtasks --help")
    command: type[Command] = COMMANDS[name]
    width = min(WIDTH, shutil.get_terminal_size().columns) - 2
    form = partial(argparse.RawDescriptionHelpFormatter, width=width)
    parser = Parser(prog=f"medtasks {name}", formatter_class=form)
    if not {"-h", "--help"}.isdisjoint(others):  # the text may take a second to create
        parser.description = command.help()
    command.add_arguments(parser)
    arguments, unknown = parser.parse_known_args(others)
    if unknown:
        flag = unknown[0].partition("=")[0]
        what = "there is no flag" if flag.startswith("-") else "unexpected argument:"
        # The two dashes alone make short flags similar.
        parser.error(f"{what} {flag}{did_you_mean(flag, parser._option_string_actions, cutoff=0.7)}")
    return command.from_arguments(arguments)


def overview() -> str:
    """Return the usage, and each command with the first line of its help text."""
    listed = described([(f"  {name}", command.about.strip().splitlines()[0]) for name, command in COMMANDS.items()], 12)
    usage = "usage: medtasks COMMAND ..., medtasks COMMAND --help, medtasks --version"
    return "\n".join(["Medical benchmarks for lm-evaluation-harness.", "", usage, "", *listed])


def version() -> str:
    """Return the versions of this package, lm_eval and Python on one line."""
    from importlib.metadata import version

    return f"medtasks {version('medtasks')} (lm_eval {version('lm_eval')}, Python {sys.version.split()[0]})"


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line, by default that of this process, and return its exit code.

    Raises:
        SystemExit: with code 0 for a command's ``--help``.
    """
    gc.set_threshold(100_000)  # collect rarely, since imports and samples are long-lived objects
    words = sys.argv[1:] if argv is None else argv
    code = 0
    SECRETS.learn()  # those in the environment, since an error may quote a command line that contains one
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed, as for some services
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=SIMPLER)
    try:
        if not words or words[0] in ("-h", "--help"):
            print(overview())
        elif words[0] == "--version":
            print(version())
        else:
            code = _parse(words).execute()
        print(end="", flush=True)  # standard output may be closed
        return code
    except KeyboardInterrupt:
        if argv is None:  # else a second Ctrl-C prints where the process is waiting for its threads
            signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
        print("medtasks: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the program that reads our output has ended, for example head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        is_expected = isinstance(error, MedtasksError) and error.__cause__ is None
        print_error(str(error) if is_expected else _with_traceback(error))
        return 2 if isinstance(error, UsageError) else 1


def _with_traceback(error: Exception) -> str:
    """Write an unexpected error's traceback to a file, and return the error's type and message and the file's path."""
    text = "".join(traceback.format_exception(error))
    with tempfile.NamedTemporaryFile("wb", prefix="medtasks_traceback_", suffix=".txt", delete=False) as file:
        file.write(SECRETS.scrub(text).encode(errors="backslashreplace"))
    return f"{type(error).__name__}: {reason_of(error)} (the traceback is in {file.name})"


if __name__ == "__main__":
    sys.exit(main())
