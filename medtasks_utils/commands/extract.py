"""``medtasks extract``: show the answer that each filter finds in responses, and the evidence for each candidate."""

import sys
from dataclasses import KW_ONLY
from pathlib import Path

from pydantic.dataclasses import dataclass

from .flags import Command, CommandResult, warn


@dataclass
class Extract(Command):
    about = "Show the answer that each filter finds in a response from standard input, or in saved runs."

    paths: tuple[Path, ...] = ()
    """saved runs with samples; default: a response on standard input"""
    _: KW_ONLY
    task: str
    """a task of this package"""
    explain: bool = False
    """show each candidate with the evidence for and against it"""
    kind: str | None = None
    """the kind of answer, if the benchmark has more than one; default: its first kind"""

    def run(self) -> CommandResult:
        """Return the answers that the filters find in the saved runs' responses or, without runs, in standard input.

        Raises:
            UsageError: if no run has samples of the task.
        """
        from medtasks_utils.benchmarks.yaml_tasks import tasks_named
        from medtasks_utils.errors import UsageError
        from medtasks_utils.report.summary import problems_of
        from medtasks_utils.results import read_runs
        from medtasks_utils.scoring import Scorer
        from medtasks_utils.writing import printable

        scorer = Scorer(self.task)
        names = {settings["task"] for settings in tasks_named(self.task)}
        lines = []
        for run in read_runs(self.paths) if self.paths else ():
            for task in (task for name, task in run.tasks.items() if name in names):
                warn(*problems_of(run, task))
                for sample in task.samples:
                    for generation, response in enumerate(sample.responses):
                        right = sample.answer_shown(sample.target, generation)
                        lines.append(f"{run.name}, {task.task} {sample.doc_id}, right: {right}")
                        example = sample.example_shown(scorer.benchmark, generation)
                        lines += [f"  {line}" for line in scorer.lines_of_readings(response, example, self.explain)]
        if not self.paths:
            lines += scorer.lines_of_readings(
                printable(sys.stdin.read()), scorer.blank_example(self.kind), self.explain
            )
        elif not lines:
            raise UsageError(f"no run has samples of {self.task}; add --log_samples to a run to save them")
        return CommandResult(lines, lines)
