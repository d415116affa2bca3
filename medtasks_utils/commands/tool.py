"""``medtasks tool``: a tool of MedCalc-Bench by hand, by the very path of a run."""

from __future__ import annotations

import argparse
import sys

from medtasks_utils.commands.flags import number, show, text_on_standard_input

SUMMARY = "run one call of a tool: code or an expression on standard input, the result on standard output"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The tool, ``--timeout`` and ``--layers``."""
    from medtasks_utils.tools import TOOLS

    add = parser.add_argument
    add("tool", choices=tuple(TOOLS), help="python runs code in the sandbox, calculator evaluates arithmetic")
    add("--timeout", type=number(float, 0.1), default=10.0, metavar="S", help="seconds that the code may take")
    add("--layers", action="store_true", help="show which layers of the sandbox are on, and end")


def run(arguments: argparse.Namespace) -> int:
    """Print the result, and return 0; 1 with the error on standard error if the call fails."""
    from medtasks_utils.tools import TOOLS
    from medtasks_utils.writing import without_controls

    if arguments.layers:
        return _show_layers(arguments)
    argument = text_on_standard_input()
    with TOOLS[arguments.tool](timeout=arguments.timeout) as tool:
        (outcome,) = tool.run([("", argument)])
    text = without_controls(outcome.text)
    if outcome.failed and not arguments.json:
        print(text, file=sys.stderr)
        return 1
    return show(arguments, {"text": outcome.text, "failed": outcome.failed}, text, outcome.failed)


def _show_layers(arguments: argparse.Namespace) -> int:
    """Print the table; 1 where plain Python cannot run."""
    from medtasks_utils.sandbox import Sandbox

    with Sandbox(weak=True) as sandbox:
        layers, found = sandbox.layers, sandbox.started()
    lines = [f"{name:<12}{f'off  {reason}' if reason else 'on'}" for name, reason in layers.items()]
    told = {"layers": layers, "missing": found.missing}
    return show(arguments, told, "\n".join([*lines, found.description]), failed=bool(found.missing))
