"""``medtasks completion``: what a shell needs to complete commands, flags and task names."""

from __future__ import annotations

import argparse
import json

SUMMARY = 'print completion for a shell: eval "$(medtasks completion bash)"'
SHELLS = ("bash", "zsh", "tcsh")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The shell."""
    parser.add_argument("shell", choices=SHELLS, help="which shell")


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    import shtab

    from medtasks_utils.harness.catalog import listings

    names = " ".join(listing.name for listing in listings())
    parser: argparse.ArgumentParser = arguments.whole()
    commands = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    for flag in commands.choices["eval"]._actions:
        if flag.dest == "tasks":
            flag.complete = {"bash": "_medtasks_names", "zsh": f"({names})"}
    preamble = {"bash": f'_medtasks_names() {{ compgen -W "{names}" -- "$1"; }}'}
    script = shtab.complete(parser, arguments.shell, preamble=preamble)
    print(json.dumps({"shell": arguments.shell, "script": script}) if arguments.json else script)
    return 0
