"""``medtasks fetch``: all that a machine without internet will need (:mod:`medtasks_utils.harness.fetch`)."""

from __future__ import annotations

import argparse
import os

from medtasks_utils.benchmarks import benchmarks

SUMMARY = "download all that a machine without internet will need"
DESCRIPTION = """\
Downloads the data sets and SciBERT into the hub's cache (HF_HOME), WordNet and Punkt's sentence model (punkt_tab) into
NLTK's folder (NLTK_DATA). Files that are there already are kept, so that a fetch that was stopped goes on with the
rest. Then runs need no internet: set HF_HUB_OFFLINE=1. Exit code 1 if anything is missing.
"""
NAMES = (*benchmarks(), "wordnet", "punkt_tab", "scibert")


def _names(text: str) -> list[str]:
    names = [name for name in text.split(",") if name]
    unknown = [name for name in names if name not in NAMES]
    if unknown or not names:
        raise argparse.ArgumentTypeError(f"{', '.join(unknown) or 'nothing'} is none of {', '.join(NAMES)}")
    return names


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """``--only`` and ``--check``."""
    parser.description = DESCRIPTION
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--only", type=_names, metavar="NAME,...", help=f"some of {', '.join(NAMES)}; default: all")
    parser.add_argument(
        "--check",
        action="store_true",
        help="download nothing; load everything as a run without internet would, and say what is missing",
    )
    parser.add_argument("--json", action="store_true", help="print JSON, once all is done")


def run(arguments: argparse.Namespace) -> int:
    """Fetch or check; 1 if anything is missing."""
    if arguments.check:
        os.environ["HF_HUB_OFFLINE"] = "1"  # before the hub's client, which reads it once, is imported
    from medtasks_utils.harness import fetch

    items = fetch.items(arguments.only or NAMES)
    return (fetch.check if arguments.check else fetch.fetch)(items, as_json=arguments.json)
