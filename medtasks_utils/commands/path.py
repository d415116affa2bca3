"""``medtasks path``: where the tasks are, for ``lm_eval --include_path "$(medtasks path)"``."""

from __future__ import annotations

import argparse

from medtasks_utils.harness.sources import tasks_path

SUMMARY = 'print the tasks folder, for lm_eval --include_path "$(medtasks path)"'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """None."""


def run(arguments: argparse.Namespace) -> int:
    """Print the folder."""
    print(tasks_path())
    return 0
