"""``medtasks fetch``: all that a machine without internet will need (:mod:`medtasks_utils.harness.fetch`)."""

from __future__ import annotations

import argparse
import os

from medtasks_utils.commands.flags import show

SUMMARY = "download all that a machine without internet will need"
DESCRIPTION = """\
Downloads the data sets and SciBERT into the hub's cache (HF_HOME), WordNet and Punkt's sentence model (punkt_tab) into
NLTK's folder (NLTK_DATA), and loads each as a run does. What is there already is kept, so that a fetch that was stopped
goes on with the rest. Then runs need no internet: set HF_HUB_OFFLINE=1. Exit code 1 if anything is missing.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """``--only`` and ``--check``."""
    parser.description = DESCRIPTION
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--only", metavar="NAME,...", help="some of what is listed without it; default: all")
    parser.add_argument("--check", action="store_true", help="download nothing, and say what is missing")


def run(arguments: argparse.Namespace) -> int:
    """Fetch or check; 1 if anything is missing."""
    if arguments.check:
        os.environ["HF_HUB_OFFLINE"] = "1"  # before the hub's client, which reads it once, is imported
    from huggingface_hub.errors import HfHubHTTPError

    from medtasks_utils.errors import MedtasksError, UsageError, first_line
    from medtasks_utils.harness import fetch
    from medtasks_utils.writing import table

    items = list(fetch.items())
    known = dict.fromkeys(item.name for item in items)
    wanted = arguments.only.split(",") if arguments.only else list(known)
    if not set(wanted) <= set(known):
        raise UsageError(f"--only takes some of {', '.join(known)}, not {arguments.only}")
    told = []
    for item in (item for item in items if item.name in wanted):
        size, missing = None, None
        try:
            size = fetch.size(item.load())
        except (MedtasksError, OSError, *HfHubHTTPError.__bases__) as error:  # whichever HTTP library the client uses
            missing = first_line(error)
        told.append({"name": item.name, "origin": item.origin, "bytes": size, "missing": missing})
    rows = [
        (each["name"], each["origin"], f"MISSING  {each['missing']}" if each["missing"] else f"{each['bytes']:,} bytes")
        for each in told
    ]
    lacking = sum(each["missing"] is not None for each in told)
    text = f"{table(rows, left=3)}\n{len(told) - lacking} of {len(told)} there"
    return show(arguments, told, text, failed=lacking > 0)
