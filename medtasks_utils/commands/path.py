"""``medtasks path``: where the tasks are, for ``lm_eval --include_path "$(medtasks path)"``."""

from __future__ import annotations

import argparse

from medtasks_utils.benchmarks.yaml_tasks import tasks_path
from medtasks_utils.commands.flags import show

SUMMARY = 'print the tasks folder, for lm_eval --include_path "$(medtasks path)"'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """None of its own."""


def run(arguments: argparse.Namespace) -> int:
    """Print the folder."""
    return show(arguments, {"tasks": str(tasks_path())}, str(tasks_path()))
