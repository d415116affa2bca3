"""``medtasks publish``: a run's results in the Hub's form (:mod:`medtasks_utils.results.publish`)."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

SUMMARY = "write a run's results as the Hub's .eval_results/*.yaml, or open a pull request with them"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The run, where it goes, and how."""
    parser.add_argument("results", type=Path, metavar="RUN", help="a results file, or a folder with one run")
    parser.add_argument("--model_repo", required=True, metavar="ORG/NAME", help="the model's repository on the Hub")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="DIR",
        help="where .eval_results/ goes; default: a folder of the model's name",
    )
    parser.add_argument("--create_pr", action="store_true", help="open a pull request on the model's repository")
    parser.add_argument(
        "--allow_partial", action="store_true", help="also results of a part of the rows, or of files of your own"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the files and name them; with ``--create_pr``, print the pull request's address."""
    from huggingface_hub.utils import validate_repo_id

    from medtasks_utils.compare import one_run
    from medtasks_utils.errors import UsageError
    from medtasks_utils.results import publish

    if "/" not in arguments.model_repo:
        raise UsageError(f"--model_repo takes ORG/NAME, not {arguments.model_repo!r}")
    validate_repo_id(arguments.model_repo)
    found = one_run(arguments.results)
    folder = arguments.output or Path(arguments.model_repo.rpartition("/")[2])
    files = publish.contents(found, arguments.allow_partial)
    paths = [str(path) for path in publish.write(files, folder)]
    address = None
    if arguments.create_pr:
        address = publish.open_pull_request(found, arguments.model_repo, files)
    told = {"files": paths, "pull_request": address and str(address)}
    print(json.dumps(told, indent=2) if arguments.json else "\n".join([*paths, *([str(address)] if address else [])]))
    return 0
