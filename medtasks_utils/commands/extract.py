"""``medtasks extract``: what both filters read in a response, and the evidence that the flexible one weighed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from medtasks_utils.commands.flags import Command, warn

if TYPE_CHECKING:
    from medtasks_utils.extraction.weighing import Candidate
    from medtasks_utils.scoring import Scorer

_SHOWN = 20  # candidates
_AROUND = 40  # characters on either side of a candidate


@dataclass
class Extract(Command):
    """Read answers out of text on standard input, or out of saved samples, and say how.

    Attributes:
        paths: saved runs; none: text on standard input
        task: a task of this pack
        explain: show the candidates and the evidence for and against
        kind: what MedCalc-Bench asks the text for: decimal, integer, date or weeks_days; default: decimal
    """

    paths: tuple[Path, ...] = ()
    _: KW_ONLY
    task: str
    explain: bool = False
    kind: Literal["decimal", "integer", "date", "weeks_days"] = "decimal"

    def run(self) -> int:
        """Print what is read."""
        from medtasks_utils.extraction.printable import printable
        from medtasks_utils.scoring import Scorer

        scorer = Scorer(self.task)
        if self.paths:
            lines = list(self._samples(scorer))
        else:  # a document of what reading needs, without the texts of choices
            doc = {"options": [""] * 4, "judgement": self.kind, "calculator_id": -1, "note": "", "question": ""}
            lines = list(self._read(scorer, printable(sys.stdin.read()), doc))
        return self.tell(lines, "\n".join(lines))

    def _read(self, scorer: Scorer, response: str, doc: dict[str, Any]) -> Iterator[str]:
        """What each filter reads in a response and how it was found; with ``--explain`` the candidates too.

        Of each candidate, the heaviest first, these are shown: weight, value, cue, evidence, and its place.
        """
        benchmark = scorer.benchmark
        for name, read in benchmark.readers.items():
            answer = read(response, doc, scorer.options)
            yield f"{name}: {answer} ({answer.details['found_by']})"
        if not self.explain:
            return
        reading = benchmark.read(response, doc, scorer.options)
        if reading.value is not None:
            yield f"certainty {reading.certainty:.2f}"
        for one in sorted(reading.candidates, key=lambda one: -one.weight)[:_SHOWN]:
            value = "{} weeks, {} days".format(*one.value) if isinstance(one.value, tuple) else one.value
            evidence = {one.cue: one.support, **one.evidence}
            found = ", ".join(f"{name} {weight:+g}" for name, weight in evidence.items())
            yield f"{one.weight:6g}  {value}  {found}  {_place(one)}"

    def _samples(self, scorer: Scorer) -> Iterator[str]:
        """Lines on every response of the task in saved runs, headed by the run, the example and its right answer.

        Raises:
            UsageError: where no run has samples of the task.
        """
        from medtasks_utils.benchmarks.yaml_tasks import tasks_named
        from medtasks_utils.errors import UsageError
        from medtasks_utils.report.summary import problems_of
        from medtasks_utils.results import read_runs

        names = [settings["task"] for settings in tasks_named(self.task)]
        found = [(run, run.tasks[name]) for run in read_runs(self.paths) for name in names if name in run.tasks]
        for run, task in found:
            for problem in [*run.problems, *problems_of(run, task)]:
                warn(problem)
            for sample in task.samples:
                for response in sample.responses:
                    yield f"{run.name}, {task.task} {sample.doc_id}, right: {sample.target}"
                    yield from (f"  {line}" for line in self._read(scorer, response, sample.doc))
        if not any(task.samples for _, task in found):
            raise UsageError(f"no samples of {self.task} there; lm_eval writes them with --log_samples")


def _place(candidate: Candidate) -> str:
    """The candidate's text, and what is around it."""
    from medtasks_utils.extraction.plain import BOLD

    text, start, end = candidate.text, candidate.start, candidate.end
    shown = f"…{text[max(0, start - _AROUND) : start]}[{text[start:end][:_AROUND]}]{text[end : end + _AROUND]}…"
    return " ".join(shown.replace(BOLD, "**").split())
