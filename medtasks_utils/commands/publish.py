"""``medtasks publish``: a run's results in the Hub's form (:mod:`medtasks_utils.results.publish`)."""

from __future__ import annotations

import argparse
from pathlib import Path

from medtasks_utils.commands.flags import show

SUMMARY = "write a run's results as the Hub's .eval_results/*.yaml, or open a pull request with them"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The run, where it goes, and how."""
    add = parser.add_argument
    add("results", type=Path, metavar="RUN", help="a results file, or a folder with one run")
    add("--model_repo", required=True, metavar="ORG/NAME", help="the model's repository on the Hub")
    add("-o", "--output", type=Path, metavar="DIR", help="where .eval_results/ goes; default: a folder of the model's")
    add("--create_pr", action="store_true", help="open a pull request on the model's repository")
    add("--allow_partial", action="store_true", help="also results of a part of the rows, or of files of your own")


def run(arguments: argparse.Namespace) -> int:
    """Write the files and name them; with ``--create_pr``, print the pull request's address."""
    from medtasks_utils.compare import one_run
    from medtasks_utils.errors import UsageError
    from medtasks_utils.results import publish

    organisation, slash, name = arguments.model_repo.partition("/")
    if not (organisation and slash and name):
        raise UsageError(f"--model_repo takes ORG/NAME, not {arguments.model_repo!r}")
    found = one_run(arguments.results)
    files = publish.contents(found, arguments.allow_partial)
    paths, address = publish.write(files, arguments.output or Path(name)), None
    if arguments.create_pr:
        address = publish.open_pull_request(found, arguments.model_repo, files)
    told = [*map(str, paths), *filter(None, [address])]
    return show(arguments, {"files": told[: len(paths)], "pull_request": address}, "\n".join(told))
