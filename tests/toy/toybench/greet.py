"""``medtasks greet``."""

import argparse

SUMMARY = "say hello"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Whom."""
    parser.add_argument("name")


def run(arguments: argparse.Namespace) -> int:
    """Greet."""
    print(f"hello {arguments.name}")
    return 0
