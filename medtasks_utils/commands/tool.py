"""``medtasks tool``: a tool of MedCalc-Bench by hand, by the very path of a run."""

from __future__ import annotations

import argparse
import json
import sys

from medtasks_utils.commands.flags import number, text_on_standard_input

SUMMARY = "run one call of a tool: code or an expression on standard input, the result on standard output"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The tool, ``--timeout`` and ``--layers``."""
    from medtasks_utils.tools import TOOLS

    parser.add_argument(
        "tool", choices=tuple(TOOLS), help="python runs code in the sandbox, calculator evaluates arithmetic"
    )
    parser.add_argument(
        "--timeout",
        type=number(float, 0, above=True),
        default=10.0,
        metavar="S",
        help="seconds that the code may take",
    )
    parser.add_argument(
        "--layers", action="store_true", help="python: show which layers of the sandbox are on, and end"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the result, and return 0; 1 with the error on standard error if the call fails."""
    from medtasks_utils.extraction.printable import without_controls
    from medtasks_utils.tools import TOOLS

    if arguments.layers:
        return _show_layers(arguments.tool)
    argument = text_on_standard_input()
    with TOOLS[arguments.tool].opened(timeout=arguments.timeout) as tool:
        (outcome,) = tool.run([("", argument)])
    if arguments.json:
        print(json.dumps({"text": outcome.text, "failed": outcome.failed}))
    elif outcome.text:
        print(without_controls(outcome.text), file=sys.stderr if outcome.failed else sys.stdout)
    return 1 if outcome.failed else 0


def _show_layers(tool: str) -> int:
    """Print the table; 1 where plain Python cannot run."""
    from medtasks_utils.errors import UsageError
    from medtasks_utils.sandbox import Sandbox

    if tool != "python":
        raise UsageError("--layers is about the sandbox: medtasks tool python --layers")
    with Sandbox(weak=True) as sandbox:
        for name, reason in sandbox.layers.items():
            print(f"{name:<12}{f'off  {reason}' if reason else 'on'}")
        print(sandbox.started().description)
        return 1 if sandbox.started().missing else 0
