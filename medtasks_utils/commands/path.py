"""``medtasks path``: where the tasks are, for ``lm_eval --include_path "$(medtasks path)"``."""

from __future__ import annotations

import argparse
from pathlib import Path

SUMMARY = 'print the tasks folder, for lm_eval --include_path "$(medtasks path)"'


def tasks_path() -> Path:
    """The folder with the tasks' YAML: beside the modules in an installed package, beside the package in a checkout."""
    package = Path(__file__).parents[1]
    installed = package / "tasks"
    return installed if installed.is_dir() else package.parent / "tasks"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """None."""


def run(arguments: argparse.Namespace) -> int:
    """Print the folder."""
    print(tasks_path())
    return 0
