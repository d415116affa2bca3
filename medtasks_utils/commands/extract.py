"""``medtasks extract``: show the answers that both filters read in a response, and the evidence for each candidate."""

import itertools
import sys
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .flags import Command, Printout, warn

if TYPE_CHECKING:
    from medtasks_utils.scoring import Scorer


@dataclass
class Extract(Command):
    """Show what both filters read in a response from standard input, or in the responses of saved runs.

    Attributes:
        paths: saved runs with samples; default: a response on standard input
        task: a task of this package
        explain: show the candidates with the evidence for and against each
        kind: the kind of answer, if the benchmark has several; default: its first kind
    """

    paths: tuple[Path, ...] = ()
    _: KW_ONLY
    task: str
    explain: bool = False
    kind: str | None = None

    def run(self) -> Printout:
        """Return what the filters read in a response, or in all responses of the runs."""
        from medtasks_utils.scoring import Scorer
        from medtasks_utils.writing import printable

        scorer = Scorer(self.task)
        if self.paths:
            lines = list(self._samples(scorer))
        else:
            lines = list(scorer.told(printable(sys.stdin.read()), scorer.blank_example(self.kind), self.explain))
        return Printout("\n".join(lines), lines)

    def _samples(self, scorer: "Scorer") -> Iterator[str]:
        """Yield, for each response to the task in saved runs, the example's right answer and what the filters read.

        Raises:
            UsageError: if no run has samples of the task.
        """
        from medtasks_utils.benchmarks.yaml_tasks import tasks_named
        from medtasks_utils.errors import UsageError
        from medtasks_utils.report.summary import problems_of
        from medtasks_utils.results import read_runs

        names = [settings["task"] for settings in tasks_named(self.task)]
        has_samples = False
        for run, name in itertools.product(read_runs(self.paths), names):
            if name not in run.tasks:
                continue
            task = run.tasks[name]
            warn(*run.problems, *problems_of(run, task))
            for sample in task.samples:
                has_samples = True
                for response in sample.responses:
                    yield f"{run.name}, {task.task} {sample.doc_id}, right: {sample.target}"
                    yield from (f"  {line}" for line in scorer.told(response, sample.doc, self.explain))
        if not has_samples:
            raise UsageError(f"no run has samples of {self.task}; add --log_samples to a run to save them")
