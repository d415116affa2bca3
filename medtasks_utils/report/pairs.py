"""Pairs of runs compared as ``medtasks compare`` does, each pair once, tasks that are not comparable left out."""

from collections.abc import Sequence
from itertools import chain, combinations, islice
from typing import NamedTuple

from medtasks_utils.compare import Agreement, MetricDifference, compare_runs, corrected
from medtasks_utils.results import Run, TaskRun

from .units import incompatibility


class Paired(NamedTuple):
    """What comparing two runs under one filter gave; differences are the second minus the first.

    Attributes:
        differences: those of groups of tasks first, then those of each task, each followed by its breakdowns.
        sides: by task, how many examples both have right, and so on.
        refused: tasks and groups that are not compared, and why.
        warnings: what to keep in mind, in words.
    """

    differences: list[MetricDifference]
    sides: dict[str, Agreement]
    refused: dict[str, str]
    warnings: list[str]


Pairs = dict[tuple[str, str, str], Paired]
"""By two runs' names, in the runs' order, and the filter."""


def all_pairs(runs: Sequence[Run], filters: Sequence[str]) -> Pairs:
    """All pairs of runs on the examples of the tasks that both have.

    All comparisons of a page are one family, since any of them may be the one that is looked at: p-values are corrected
    by Holm's method over all pairs of runs, metrics and filters, those of whole tasks and those of parts.
    """
    pairs = {(a.name, b.name, name): _compared(a, b, name) for a, b in combinations(runs, 2) for name in filters}
    differences = iter(corrected(list(chain.from_iterable(pair.differences for pair in pairs.values()))))
    return {
        key: pair._replace(differences=list(islice(differences, len(pair.differences)))) for key, pair in pairs.items()
    }


def _compared(a: Run, b: Run, filter_name: str) -> Paired:
    def tasks_of(run: Run, name: str) -> list[TaskRun]:
        names = run.groups[name].tasks if name in run.groups else [name]
        return [run.tasks[task] for task in names if task in run.tasks]

    ours = [name for name, task in a.tasks.items() if task.benchmark and name in b.tasks]
    shared = [name for name in ours if all(filter_name in run.tasks[name].filters for run in (a, b))]
    groups = [name for name in a.groups if name in b.groups]
    sides = {name: (tasks_of(a, name), tasks_of(b, name)) for name in (*groups, *shared)}

    def reason(name: str, of_explanations: bool) -> str:
        """Why a group or task may not be compared; empty if it may."""
        if not all(any(filter_name in s.answers for s in task.samples) for task in chain(*sides[name])):
            return "no samples in one of the runs"
        said = incompatibility(*sides[name], filter_name, of_explanations)
        return said.replace("only in A", f"only in {a.name}").replace("only in B", f"only in {b.name}")

    refused = {name: said for name in sides if (said := reason(name, of_explanations=False))}
    tasks = [(name, name) for name in shared if name not in refused]
    if not tasks:
        return Paired([], {}, refused, [])
    groups = [name for name in groups if name not in refused]  # compared where all of their tasks are
    made = compare_runs(a, b, tasks=tasks, groups=groups, filters=[filter_name], common=True, force=True)
    differences = [
        difference
        for difference in made.differences
        if not (difference.metric.is_of_explanations and reason(difference.task, True))
    ]
    counts = {task: made.agreements[task, filter_name] for task, _ in tasks}
    return Paired(differences, counts, refused, made.warnings)


def signed(points: float) -> str:
    """``+1.5`` or ``−1.5``."""
    return f"{points:+.1f}".replace("-", "−").replace("−0.0", "+0.0")
