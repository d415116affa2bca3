"""``medtasks extract``: what both filters read in a response, and the evidence that the flexible one weighed."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medtasks_utils.commands.flags import show, text_on_standard_input, warn

if TYPE_CHECKING:
    from medtasks_utils.extraction.weighing import Candidate, Reading
    from medtasks_utils.scoring import Scorer

SUMMARY = "read answers out of text on standard input, or out of saved samples, and say how"
KINDS = ("decimal", "integer", "date", "weeks_days")
_SHOWN = 20  # candidates
_AROUND = 40  # characters on either side of a candidate


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Paths of saved runs, the task, and what text is to be read as."""
    add = parser.add_argument
    add("paths", nargs="*", type=Path, metavar="PATH", help="saved runs; none: text on standard input")
    add("--task", required=True, metavar="T", help="a task of this pack")
    add("--explain", action="store_true", help="show the candidates and the evidence for and against")
    add("--kind", choices=KINDS, default=KINDS[0], help="what MedCalc-Bench asks the text for; default: decimal")


def run(arguments: argparse.Namespace) -> int:
    """Print what is read."""
    from medtasks_utils.scoring import Scorer

    scorer = Scorer(arguments.task)
    if arguments.paths:
        lines = list(_samples(scorer, arguments.task, arguments.paths, arguments.explain))
    else:  # a document of what reading needs, without the texts of choices
        doc = {"options": [""] * 4, "judgement": arguments.kind, "calculator_id": -1, "note": "", "question": ""}
        lines = list(_read(scorer, text_on_standard_input(), doc, arguments.explain))
    return show(arguments, lines, "\n".join(lines))


def _read(scorer: Scorer, response: str, doc: dict[str, Any], explain: bool) -> Iterator[str]:
    """Lines on one response: what each filter reads and how it was found; with ``explain`` the candidates too."""
    benchmark = scorer.benchmark
    for name, read in (("strict-match", benchmark.strict), ("flexible-extract", benchmark.flexible)):
        answer = read(response, doc, scorer.options)
        yield f"{name}: {answer} ({answer.details['found_by']})"
    if explain:
        yield from _explained(benchmark.read(response, doc, scorer.options))


def _samples(scorer: Scorer, name: str, paths: Iterable[Path], explain: bool) -> Iterator[str]:
    """Lines on every response of the task in saved runs, headed by the run, the example and its right answer.

    Raises:
        UsageError: where no run has samples of the task.
    """
    from medtasks_utils.errors import UsageError
    from medtasks_utils.report.summary import problems_of
    from medtasks_utils.results import read_runs

    runs = [run for run in read_runs(list(paths)) if name in run.tasks]
    for run in runs:
        for problem in [*run.problems, *problems_of(run, run.tasks[name])]:
            warn(problem)
        for sample in run.tasks[name].samples:
            for response in sample.responses:
                yield f"{run.name}, {name} {sample.doc_id}, right: {sample.target}"
                yield from (f"  {line}" for line in _read(scorer, response, sample.doc, explain))
    if not any(run.tasks[name].samples for run in runs):
        raise UsageError(f"no samples of {name} there; lm_eval writes them with --log_samples")


def _explained(reading: Reading) -> Iterator[str]:
    """The certainty, and a line for each candidate, the heaviest first: weight, value, cue, evidence, and its place."""
    if reading.value is not None:
        yield f"certainty {reading.certainty:.2f}"
    for one in sorted(reading.candidates, key=lambda one: -one.weight)[:_SHOWN]:
        value = "{} weeks, {} days".format(*one.value) if isinstance(one.value, tuple) else one.value
        evidence = {one.cue: one.support, **one.evidence}
        found = ", ".join(f"{name} {weight:+g}" for name, weight in evidence.items())
        yield f"{one.weight:6g}  {value}  {found}  {_place(one)}"


def _place(candidate: Candidate) -> str:
    """The candidate's text, and what is around it."""
    from medtasks_utils.extraction.plain import BOLD

    text, start, end = candidate.text, candidate.start, candidate.end
    shown = f"…{text[max(0, start - _AROUND) : start]}[{text[start:end][:_AROUND]}]{text[end : end + _AROUND]}…"
    return " ".join(shown.replace(BOLD, "**").split())
