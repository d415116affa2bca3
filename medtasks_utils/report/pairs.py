"""Compare each pair of runs once, as ``medtasks compare`` does, on the tasks that are comparable."""

from collections.abc import Sequence
from itertools import chain, combinations, islice
from typing import NamedTuple

from medtasks_utils.compare import MetricDifference, compare_runs, corrected
from medtasks_utils.results import Run, TaskRun

from .topics import incompatibility


class ComparedPair(NamedTuple):
    """Two runs compared under one filter; differences are the second run's value minus the first's.

    Attributes:
        differences: groups of tasks first, then tasks, each followed by its breakdowns.
        refused: by task or group that is not compared, the reason.
        warnings: sentences that readers of the differences need.
    """

    differences: list[MetricDifference]
    refused: dict[str, str]
    warnings: list[str]


Pairs = dict[tuple[str, str, str], ComparedPair]
"""The compared pairs, by the names of the two runs, in the order of the runs, and the filter."""


def all_pairs(runs: Sequence[Run], filters: Sequence[str]) -> Pairs:
    """Compare all pairs of runs on the examples of the tasks that both have.

    Since readers may look at any comparison on the page, p-values are corrected by Holm's method over all pairs of
    runs, metrics and filters; whole tasks are one family of tests, and parts of tasks another.
    """
    pairs = {(a.name, b.name, name): _compared(a, b, name) for a, b in combinations(runs, 2) for name in filters}
    differences = iter(corrected(list(chain.from_iterable(pair.differences for pair in pairs.values()))))
    return {
        key: pair._replace(differences=list(islice(differences, len(pair.differences)))) for key, pair in pairs.items()
    }


def _compared(a: Run, b: Run, filter_name: str) -> ComparedPair:
    """Compare two runs under one filter, on the tasks and groups that both have."""

    def tasks_of(run: Run, name: str) -> list[TaskRun]:
        names = run.groups[name].tasks if name in run.groups else [name]
        return [run.tasks[task] for task in names if task in run.tasks]

    shared = [name for name, task in a.tasks.items() if task.benchmark_name and name in b.tasks]
    tasks = [name for name in shared if all(filter_name in run.tasks[name].filters for run in (a, b))]
    groups = [name for name in a.groups if name in b.groups]
    members = {name: (tasks_of(a, name), tasks_of(b, name)) for name in (*groups, *tasks)}

    def reason(name: str, of_explanations: bool) -> str:
        """Return the reason why a group or task must not be compared; an empty string if it may be."""
        for task in chain(*members[name]):
            if not any(filter_name in sample.answers for sample in task.samples):
                return "no samples in one of the runs"
        text = incompatibility(*members[name], filter_name, of_explanations)
        return text.replace("only in A", f"only in {a.name}").replace("only in B", f"only in {b.name}")

    reasons = {name: reason(name, of_explanations=False) for name in members}
    refused = {name: text for name, text in reasons.items() if text}
    compared = [(name, name) for name in tasks if name not in refused]
    if not compared:
        return ComparedPair([], refused, [])
    groups = [name for name in groups if name not in refused]  # compared only if all of their tasks are compared
    result = compare_runs(a, b, tasks=compared, groups=groups, filters=[filter_name], common=True, force=True)
    differences = [
        difference
        for difference in result.differences
        if not (difference.metric.is_of_explanations and reason(difference.task, True))
    ]
    return ComparedPair(differences, refused, result.warnings)
