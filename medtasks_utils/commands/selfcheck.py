"""``medtasks selfcheck``: the harness against known answers (:mod:`medtasks_utils.selfcheck`)."""

from __future__ import annotations

import argparse

SUMMARY = "run the harness against a local server with known answers and check every score"
DESCRIPTION = (
    "Serves right, first-option, random, malformed and unsure answers from a local OpenAI-compatible server, runs the "
    "harness against it, and compares every score with its expected floor and ceiling. Exit code 1 on any miss."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """``--data`` and ``--limit``."""
    parser.description = DESCRIPTION
    parser.add_argument("--data", default="sample", metavar="DIR", help="a data directory; default: bundled sample")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N examples of each task")


def run(arguments: argparse.Namespace) -> int:
    """Run it; 1 if any score misses."""
    from medtasks_utils import selfcheck
    from medtasks_utils.harness.catalog import task_folders

    return selfcheck.run(arguments.data, task_folders(), limit=arguments.limit)
