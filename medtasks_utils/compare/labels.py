"""Comparing by one of two sets of labels (``medtasks compare --labels``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from medtasks_utils.benchmarks import cards
from medtasks_utils.compare.pairing import CompareError
from medtasks_utils.results import TaskRun
from medtasks_utils.results.labels import LabelSet, scored_by
from medtasks_utils.results.samples import SampleLog

TaskPair = tuple[TaskRun, TaskRun]


def by_labels(chosen: Sequence[TaskPair], labels: LabelSet) -> list[TaskPair]:
    """The pairs of tasks whose examples may have two labels, scored by one of them.

    Raises:
        CompareError: where no task has such examples, or a run of one logged nothing of the other label.
    """
    found = [pair for pair in chosen if all(task.benchmark and cards()[task.benchmark].example_fields for task in pair)]
    if not found:
        names = ", ".join(card.title for card in cards().values() if card.example_fields)
        raise CompareError(f"--labels applies to {names} alone, and the runs have no such task in common")
    return [(_scored_by(a, labels), _scored_by(b, labels)) for a, b in found]


def _scored_by(task: TaskRun, labels: LabelSet) -> TaskRun:
    assert task.benchmark is not None
    samples = scored_by(task.samples, labels, task.benchmark)
    if not samples:
        raise CompareError(
            f"{task.task}: no sample has two labels: the other labels were not at hand in that run, or it was run "
            "without --log_samples. medtasks fetch gets them, and the next run logs both"
        )
    return replace(task, reader=lambda path: SampleLog(samples, task.problems))
