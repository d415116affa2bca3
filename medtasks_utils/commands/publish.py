"""``medtasks publish``: write a run's results in the Hub's format (:mod:`medtasks_utils.report.eval_results`)."""

import shlex
from dataclasses import KW_ONLY, dataclass
from pathlib import Path

from .flags import Command, Printout


@dataclass
class Publish(Command):
    """Write a run's results as the Hub's .eval_results/*.yaml; hf upload opens a pull request with them.

    Attributes:
        results: a results file, or a folder with one run
        model_repo: the model's repository on the Hub, as in ORG/NAME
        output: the folder in which .eval_results/ is written; default: a folder with the model's name
        allow_partial: also write results on only part of the rows, or on rows from local files
    """

    results: Path
    _: KW_ONLY
    model_repo: str
    output: Path | None = None
    allow_partial: bool = False

    def run(self) -> Printout:
        """Write the files; return their paths."""
        from medtasks_utils.compare import one_run
        from medtasks_utils.report.eval_results import contents
        from medtasks_utils.writing import write_whole

        output = self.output or Path(Path(self.model_repo).name)
        paths = []
        for name, text in contents(one_run(self.results), self.allow_partial).items():
            write_whole(output / name, text, make_folder=True)
            paths.append(str(output / name))
        upload = f"hf upload {self.model_repo} {shlex.quote(str(output / '.eval_results'))} .eval_results --create-pr"
        return Printout("\n".join([*paths, f"next: {upload}"]), {"files": paths})
