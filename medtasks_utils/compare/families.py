"""Correct the p-values of a comparison for the number of tests in their families. No other module corrects p-values.

Each difference has its own p-value. A corrected p-value (Holm's method) also depends on the *family* of tests. The two
runs alone determine the families, whatever is selected or printed:

- the benchmarks that both runs have, each by its first compared metric, such as ``acc``; a group of tasks of one
  benchmark replaces its tasks
- the tasks of such a group, such as the specialties of ``medexqa``, by the same metric
- the parts of a breakdown of a task
- pairs of tasks with different names in the two runs, by the same metric
- each mean over several benchmarks by itself, by its first compared metric: a single test, whose p-value stays as it is

Other metrics have only their own p-value.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain

from medtasks_utils.filters import DEFAULT_FILTER
from medtasks_utils.results import Run, TaskRun
from medtasks_utils.statistics.ratio import holm
from medtasks_utils.statistics.score_arrays import concatenate

from .contrast import MetricDifference, contrast
from .pairing import common_examples
from .task_pair import TaskPair

TaskPairs = Mapping[str, TaskPair]
"""Tasks in two runs, by name in the first run."""


def corrected(
    a: Run, b: Run, differences: Sequence[MetricDifference], pairs: TaskPairs, filter_name: str | None
) -> list[MetricDifference]:
    """Return the differences with ``p_adjusted`` by Holm's method in their family; None for those in no family.

    Args:
        a: the first run.
        b: the second run.
        differences: the differences of the compared tasks, with their p-values.
        pairs: the compared tasks.
        filter_name: the requested filter; None for each task's default. Tasks that lack it in a run are tested under
            another (:func:`shared_filter`).
    """
    families: dict[object, list[MetricDifference]] = defaultdict(list)
    for difference in differences:
        if difference.breakdown:
            families[difference.task, difference.breakdown, difference.metric.name].append(difference)
    common = common_pairs(a, b, filter_name)
    grouped: set[str] = set()
    for name, members in common_groups(a, b, common).items():
        of_group = (group_difference(name, members, metric) for metric in group_metrics(a, b, name, members))
        main = [*filter(None, of_group)][:1]
        if len({member.a.benchmark_name for member in members}) == 1:
            grouped.update(member.a.task for member in members)
            families[name] = [*filter(None, map(TaskPair.headline, members))]
            families["benchmarks"] += main
        else:
            families["mean", name] = main
    alone = (pair.headline() for name, pair in common.items() if name not in grouped)
    families["benchmarks"] += filter(None, alone)
    others = (pair for name, pair in pairs.items() if pair != common.get(name))
    families["others"] = [*filter(None, map(TaskPair.headline, others))]
    p_values: dict[tuple[str | None, ...], float] = {}
    for family in families.values():
        tested = {_key(member): member.contrast.p for member in family if member.contrast.p is not None}
        p_values.update(zip(tested, holm([*tested.values()]), strict=True))
    return [replace(difference, p_adjusted=p_values.get(_key(difference))) for difference in differences]


def _key(difference: MetricDifference) -> tuple[str | None, ...]:
    return difference.task, difference.filter, difference.metric.name, difference.breakdown, difference.group


def shared_filter(a: TaskRun, b: TaskRun, wanted: str | None) -> str | None:
    """Return the first filter that both runs have: the requested one, a run's default, or any other; else None.

    >>> from types import SimpleNamespace as Task
    >>> a, b = (Task(filters=names, default_filter=DEFAULT_FILTER) for names in (["none", "strict-match"], ["none"]))
    >>> shared_filter(a, a, None), shared_filter(a, b, None), shared_filter(a, a, "none"), shared_filter(a, a, "x")
    ('strict-match', 'none', 'none', 'strict-match')
    """
    in_both = [name for name in a.filters if name in b.filters]
    usual = sorted((a.default_filter, b.default_filter), key=lambda name: name == DEFAULT_FILTER)
    return next(filter(in_both.__contains__, (wanted, *usual, *in_both)), None)


def common_pairs(a: Run, b: Run, filter_name: str | None) -> dict[str, TaskPair]:
    """Return, by name, the pairs of benchmark tasks that are in both runs and share a filter and examples."""
    pairs = {}
    for name, task in a.tasks.items():
        other = b.tasks.get(name)
        shared = shared_filter(task, other, filter_name) if other and task.benchmark_name else None
        if other and shared and len(common_examples(task, other)[0]):
            pairs[name] = TaskPair(task, other, shared)
    return pairs


def common_groups(a: Run, b: Run, pairs: TaskPairs) -> dict[str, tuple[TaskPair, ...]]:
    """Return, by name, the groups that have the same tasks in both runs, with the pairs of these tasks."""
    return {
        name: tuple(map(pairs.__getitem__, group.tasks))
        for name, group in a.groups.items()
        if group.tasks and name in b.groups and b.groups[name].tasks == group.tasks and pairs.keys() >= {*group.tasks}
    }


def group_metrics(a: Run, b: Run, name: str, members: Sequence[TaskPair], wanted: Sequence[str] = ()) -> list[str]:
    """Return the wanted metrics that both runs report for a group; by default those that its benchmarks compare."""
    reported = a.groups[name].metrics.keys() & b.groups[name].metrics.keys()
    metrics = wanted or dict.fromkeys(chain.from_iterable(pair.a.facts.compared for pair in members))
    return [metric for metric in metrics if (metric, members[0].filter) in reported]


@lru_cache(maxsize=1024)
def group_difference(name: str, members: tuple[TaskPair, ...], metric_name: str) -> MetricDifference | None:
    """Return the difference between two runs' unweighted means over a group's tasks; None if a task has no value."""
    sides = zip(*(member.metric_scores(metric_name) for member in members), strict=True)
    scores_a, scores_b = (concatenate(side, tasks_are_strata=True) for side in sides)
    metric = members[0].a.metric(metric_name).over_strata()
    result = contrast(scores_a, scores_b, metric)
    return MetricDifference(name, members[0].filter, metric, None, None, result) if result else None
