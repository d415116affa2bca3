"""``medtasks extract``: what both filters read in a response, and the evidence that the flexible one weighed."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from medtasks_utils.benchmarks.base import Example
from medtasks_utils.errors import UsageError, meant
from medtasks_utils.extraction.plain import BOLD
from medtasks_utils.extraction.weighing import Candidate, Reading
from medtasks_utils.harness.catalog import our_manager
from medtasks_utils.harness.options import DATA_KEY
from medtasks_utils.harness.task import MedTask
from medtasks_utils.report.summary import problems_of
from medtasks_utils.results import read_runs
from medtasks_utils.scoring import FILTERS

_SHOWN = 20  # candidates
_AROUND = 40  # characters on either side of a candidate


def task_named(name: str, data: str) -> MedTask:
    """The task, with its rows from ``data`` (``sample``, ``hub`` or a directory).

    Raises:
        UsageError: for a name that is no task with text to read.
    """
    manager = our_manager({DATA_KEY: data, "medexqa": {"use_explanations": False}})
    tasks = manager.load([name])["tasks"] if name in manager.all_tasks else {}
    if name not in tasks or tasks[name].OUTPUT_TYPE != "generate_until":
        known = [key for key in manager.all_subtasks if not key.endswith("_logits")]
        raise UsageError(
            f"--task {name}: no single task whose model writes text{meant(name, known)}; there are {', '.join(known)}"
        )
    task: MedTask = tasks[name]
    return task


def document(task: MedTask, row: int | None, kind: str) -> Example:
    """The task's document of that number, or one that has only what reading needs: no options' texts, and ``kind``."""
    if row is None:
        return {"options": [""] * 4, "judgement": kind, "calculator_id": -1, "note": "", "question": ""}
    if not 0 <= row < len(task.eval_docs):
        raise UsageError(f"--row {row}: {task.config.task} has rows 0 to {len(task.eval_docs) - 1}")
    return dict(task.eval_docs[row])


def read_text(task: MedTask, response: str, doc: Example, explain: bool) -> Iterator[str]:
    """Lines on one response: what each filter reads and how it was found; with ``explain`` the candidates too."""
    for name, read in zip(FILTERS, (task.benchmark.strict, task.benchmark.flexible), strict=True):
        answer = read(response, doc, task.options)
        yield f"{name}: {answer} ({answer.details['found_by']})"
    if explain:
        yield from explained(task.benchmark.read(response, doc, task.options))


def read_samples(task: MedTask, paths: Iterable[Path], explain: bool) -> Iterator[str]:
    """Lines on every response of the task in saved runs, headed by the run, the example and its right answer.

    What is wrong with the runs' files is said on standard error.

    Raises:
        UsageError: where no run has samples of the task.
    """
    name = task.config.task
    found = False
    for run in read_runs(list(paths)):
        of_task = run.tasks.get(name)
        for problem in [*run.problems, *(problems_of(run, of_task) if of_task else ())]:
            print(f"warning: {problem}", file=sys.stderr)
        for sample in of_task.samples if of_task else ():
            found = True
            for response in sample.responses:
                yield f"{run.name}, {name} {sample.doc_id}, right: {sample.target}"
                yield from (f"  {line}" for line in read_text(task, response, sample.doc, explain))
    if not found:
        raise UsageError(f"no samples of {name} there; lm_eval writes them with --log_samples")


def explained(reading: Reading) -> Iterator[str]:
    """The certainty, and a line for each candidate, the heaviest first: weight, value, cue, evidence, and its place."""
    if not reading.candidates:
        yield "no candidates"
    if reading.value is not None:
        yield f"certainty {reading.certainty:.2f}"
    for one in sorted(reading.candidates, key=lambda one: -one.weight)[:_SHOWN]:
        evidence = ", ".join(f"{name} {weight:+g}" for name, weight in one.evidence.items())
        found = ", ".join([f"{one.cue} {one.support:+g}", *([evidence] if evidence else [])])
        yield f"{one.weight:6g}  {_shown(one.value)}  {found}  {_place(one)}"
    if len(reading.candidates) > _SHOWN:
        yield f"… and {len(reading.candidates) - _SHOWN} more"


def _place(candidate: Candidate) -> str:
    text = candidate.text
    before, inside = text[max(0, candidate.start - _AROUND) : candidate.start], text[candidate.start : candidate.end]
    after = text[candidate.end : candidate.end + _AROUND]
    return " ".join(f"…{before}[{inside[:_AROUND]}]{after}…".replace(BOLD, "**").split())


def _shown(value: Any) -> str:
    return f"{value[0]} weeks, {value[1]} days" if isinstance(value, tuple) else str(value)
