"""``medtasks publish``: write a run's results in a public format (:mod:`medtasks_utils.report`)."""

import shlex
from dataclasses import KW_ONLY
from pathlib import Path
from re import fullmatch
from typing import Literal

from pydantic.dataclasses import dataclass

from medtasks_utils.errors import UsageError

from .flags import Command, CommandResult


@dataclass
class Publish(Command):
    about = """
    Write a run's results as the Hub's .eval_results/*.yaml, or in the schema of every_eval_ever.

    hf upload opens a pull request with the former. The latter is for github.com/evaleval/every_eval_ever, and includes
    every sample.
    """

    results: Path
    """a results file, or a folder with one run"""
    _: KW_ONLY
    model_repo: str
    """the model's repository on the Hub, such as ORG/NAME"""
    output: Path | None = None
    """the output folder; default: a folder with the model's name"""
    format: Literal["hub", "every_eval_ever"] = "hub"
    """hub or every_eval_ever"""
    allow_partial: bool = False
    """also publish results on only some of the rows, or on rows from local files"""

    def run(self) -> CommandResult:
        """Write the results in the chosen format, and return the paths of the files and the next step."""
        from medtasks_utils.compare import one_run
        from medtasks_utils.report import eval_results, every_eval_ever
        from medtasks_utils.writing import write_whole

        if not fullmatch(r"[^/\s]+/[^/\s]+", self.model_repo):
            raise UsageError(f"--model_repo must be ORG/NAME, not {self.model_repo}")
        output = self.output or Path(Path(self.model_repo).name)
        run = one_run(self.results)
        if self.format == "hub":
            files = eval_results.contents(run, self.allow_partial)
            folder = shlex.quote(str(output / ".eval_results"))
            way_on = f"next: hf upload {self.model_repo} {folder} .eval_results --create-pr"
        else:
            files = every_eval_ever.contents(run, self.model_repo, self.allow_partial)
            way_on = "next: name your organization in source_metadata (docs/elsewhere.md)"
        paths = []
        for name, text in files.items():
            write_whole(output / name, text)
            paths.append(str(output / name))
        return CommandResult([*paths, way_on], {"files": paths})
