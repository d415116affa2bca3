"""``medtasks completion``: what a shell needs to complete commands, flags and task names."""

from __future__ import annotations

import argparse

from medtasks_utils.commands.flags import show

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
    for flag in arguments.parsers["eval"]._actions:
        if flag.dest == "tasks":
            flag.complete = {"bash": "_medtasks_names", "zsh": f"({names})"}
    preamble = {"bash": f'_medtasks_names() {{ compgen -W "{names}" -- "$1"; }}'}
    script = shtab.complete(arguments.parser, arguments.shell, preamble=preamble)
    return show(arguments, {"shell": arguments.shell, "script": script}, script)
