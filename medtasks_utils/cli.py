"""The console script ``medtasks``. Exit codes: 0 done, 1 the thing asked for failed, 2 wrong usage."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from medtasks_utils.errors import MedtasksError


def tasks_path() -> Path:
    """The folder with the tasks' YAML: beside the modules in an installed package, beside the package in a checkout."""
    package = Path(__file__).parent
    installed = package / "tasks"
    return installed if installed.is_dir() else package.parent / "tasks"


def _path(arguments: argparse.Namespace) -> int:
    print(tasks_path())
    return 0


def _selfcheck(arguments: argparse.Namespace) -> int:
    from medtasks_utils import selfcheck

    return selfcheck.run(arguments.data, tasks_path(), limit=arguments.limit)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="medtasks", description="Medical benchmarks for lm-evaluation-harness.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    path = commands.add_parser("path", help='print the tasks folder, for lm_eval --include_path "$(medtasks path)"')
    path.set_defaults(run=_path)

    selfcheck = commands.add_parser(
        "selfcheck",
        help="run the harness against a local server with known answers and check every score",
        description="Serves right, first-option, random, malformed and unsure answers from a local OpenAI-compatible "
        "server, runs the harness against it, and compares every score with its expected floor and ceiling. "
        "Exit code 1 on any miss.",
    )
    selfcheck.add_argument("--data", default="sample", metavar="DIR", help="a data directory; default: bundled sample")
    selfcheck.add_argument("--limit", type=int, metavar="N", help="only the first N examples of each task")
    selfcheck.set_defaults(run=_selfcheck)
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
