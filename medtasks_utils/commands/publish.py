"""``medtasks publish``: a run's results in the form of the hub (:mod:`medtasks_utils.results.publish`)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from pathlib import Path

from medtasks_utils.commands.flags import Command


@dataclass
class Publish(Command):
    """Write a run's results as the Hub's .eval_results/*.yaml, or open a pull request with them.

    Attributes:
        results: a results file, or a folder with one run
        model_repo: the model's repository on the Hub, as in ORG/NAME
        output: the folder to put .eval_results/ into; default: one of the model's name
        create_pr: open a pull request on the model's repository
        allow_partial: also results of a part of the rows, or of files of your own
    """

    results: Path
    _: KW_ONLY
    model_repo: str
    output: Path | None = None
    create_pr: bool = False
    allow_partial: bool = False

    def run(self) -> int:
        """Write the files and name them; with ``--create_pr``, print the pull request's address."""
        from medtasks_utils.compare import one_run
        from medtasks_utils.results import publish

        found = one_run(self.results)
        files = publish.contents(found, self.allow_partial)
        paths = publish.write(files, self.output or Path(Path(self.model_repo).name))
        address = publish.open_pull_request(found, self.model_repo, files) if self.create_pr else None
        return self.tell({"files": paths, "pull_request": address}, "\n".join(filter(None, [*paths, address])))
