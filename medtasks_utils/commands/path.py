"""``medtasks path``: where the tasks are, for ``lm_eval --include_path "$(medtasks path)"``."""

from __future__ import annotations

import argparse
import json

from medtasks_utils.benchmarks.yaml_tasks import tasks_path

SUMMARY = 'print the tasks folder, for lm_eval --include_path "$(medtasks path)"'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """None of its own."""


def run(arguments: argparse.Namespace) -> int:
    """Print the folder."""
    print(json.dumps({"tasks": str(tasks_path())}) if arguments.json else tasks_path())
    return 0
