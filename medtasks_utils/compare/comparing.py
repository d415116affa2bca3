"""Compare two runs on the same examples, by metric, by breakdown and by example."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, product

from medtasks_utils.errors import MedtasksError
from medtasks_utils.filters import DEFAULT_FILTER
from medtasks_utils.results import Run, TaskRun
from medtasks_utils.statistics.score_arrays import concatenate

from .contrast import contrast
from .difference import MetricDifference, corrected
from .task_pair import TaskPair

TaskPairs = dict[tuple[str, str], TaskPair]
"""The compared tasks, by name in the first run and filter."""

Notes = list[tuple[str, str]]
"""Pairs of the name of a run or task and a sentence about it."""


@dataclass(frozen=True)
class Comparison:
    """The result of comparing two runs; differences are the second run's value minus the first's.

    Attributes:
        a: the first run.
        b: the second run.
        differences: groups of tasks first, then tasks, each followed by its breakdowns.
        pairs: the tasks that are compared, by the name in the first run and the filter.
        warnings: sentences that readers of the differences need.
    """

    a: Run
    b: Run
    differences: list[MetricDifference]
    pairs: TaskPairs
    warnings: list[str]


def compare_runs(
    a: Run,
    b: Run,
    *,
    tasks: Sequence[tuple[str, str]] = (),
    groups: Sequence[str] | None = None,
    filters: Sequence[str] = (),
    metrics: Sequence[str] = (),
    common: bool = False,
    force: bool = False,
) -> Comparison:
    """Compare two runs.

    Args:
        a: the first run.
        b: the second run.
        tasks: pairs of the name of a task in the first run and of one in the second; if empty, all tasks of this
            package that both runs have.
        groups: the groups to compare, provided that all of their tasks are compared; None for all groups or, if
            ``tasks`` are named, no groups.
        filters: the filters to compare; if empty, ``strict-match``, or the first filter of a task that lacks it.
        metrics: the metrics to compare; if empty, those that each benchmark names.
        common: True to compare only the common examples if the runs have different examples.
        force: True to compare results even if their signatures say that they are not comparable.

    Raises:
        MedtasksError: if there is nothing to compare, or the results must not be compared.
    """
    notes: Notes = []
    for run in (a, b):
        notes += [(run.name, problem) for problem in run.problems]
    if a.path.exists() and a.path.samefile(b.path):
        notes.append(("A and B", f"both are the run {a.path}, so all differences are 0"))
    pairs: TaskPairs = {}
    differences: list[MetricDifference] = []
    for task_a, task_b in _chosen_tasks(a, b, tasks, notes):
        for run, task in ((a, task_a), (b, task_b)):
            stopped = [f"{task.task} {remark}" for remark in task.remarks if remark.startswith("stopped early")]
            notes += [(run.name, remark) for remark in (*task.problems, *stopped)]
        for filter_name in _chosen_filters(task_a, task_b, filters):
            pair = pairs[task_a.task, filter_name] = TaskPair(task_a, task_b, filter_name)
            names = metrics or pair.default_metrics()
            of_task = pair.differences(names)
            warnings = pair.warnings(names, of_task, common=common, force=force)
            notes += [(task_a.task, warning) for warning in warnings]
            differences += of_task
    if groups is None:
        groups = () if tasks else list(a.groups)
    differences = [*_group_differences(a, b, pairs, groups, metrics), *differences]
    _check_metrics(differences, pairs, metrics)
    return Comparison(a, b, corrected(differences), pairs, _merged(notes))


def _check_metrics(differences: Sequence[MetricDifference], pairs: TaskPairs, metrics: Sequence[str]) -> None:
    """Raise an error if there are no differences, or none of a requested metric."""
    compared = {difference.metric.name for difference in differences}
    missing = [name for name in metrics if name not in compared]
    if missing or not differences:
        of_pairs = (pair.a.samples[0].metrics.get(pair.filter, ()) for pair in pairs.values())
        known = dict.fromkeys(chain.from_iterable(of_pairs))
        raise MedtasksError(
            f"the runs have no common example with a value of {', '.join(missing) or 'any metric'}; "
            f"metrics in A: {', '.join(known)}"
        )


def _merged(notes: Notes) -> list[str]:
    """Merge equal notes into one line each, which begins with the names of the runs or tasks concerned."""
    names: dict[str, dict[str, None]] = {}
    for name, note in notes:
        names.setdefault(note, {})[name] = None
    return [f"{', '.join(about)}: {note}" for note, about in names.items()]


def _chosen_tasks(a: Run, b: Run, names: Sequence[tuple[str, str]], notes: Notes) -> list[tuple[TaskRun, TaskRun]]:
    """Return the pairs of tasks to compare; if none are named, add a note for each task that is left out."""
    if names:
        return [(_named(a, name_a), _named(b, name_b)) for name_a, name_b in names]
    pairs = [(task, b.tasks[name]) for name, task in a.tasks.items() if task.benchmark_name and name in b.tasks]
    others = sorted({*a.tasks, *b.tasks}.difference(task.task for task, _ in pairs))
    if not pairs:
        raise MedtasksError(
            f"{a.path} and {b.path} have no common task of this package; their tasks are {', '.join(others)}"
        )
    if others:
        reason = "left out, since only one run has it or it is not a task of this package (--task compares its acc)"
        notes.append((", ".join(others), reason))
    return pairs


def _named(run: Run, name: str) -> TaskRun:
    """Return a task of a run by name; if there is none, raise an error that lists the run's tasks."""
    if name not in run.tasks:
        raise MedtasksError(f"{run.path} has no task {name}; it has {', '.join(run.tasks) or 'none'}")
    return run.tasks[name]


def _chosen_filters(a: TaskRun, b: TaskRun, names: Sequence[str]) -> Sequence[str]:
    """Return the filters to compare; raise an error if one of the runs lacks any of them."""
    in_both = [name for name in a.filters if name in b.filters]
    unknown = [name for name in names if name not in in_both]
    if unknown or not in_both:
        shared = f"common filters: {', '.join(in_both)}" if in_both else "the runs have no filter in common"
        raise MedtasksError(
            f"{a.task}: each filter must be in both runs (named: {', '.join(names) or 'none'}); {shared}"
        )
    return names or ([DEFAULT_FILTER] if DEFAULT_FILTER in in_both else in_both[:1])


def _group_differences(
    a: Run, b: Run, pairs: TaskPairs, groups: Sequence[str], metrics: Sequence[str]
) -> Iterator[MetricDifference]:
    """Yield the differences of groups, which are unweighted means over tasks, if all tasks of the group are compared.

    Args:
        a: the first run.
        b: the second run.
        pairs: the tasks that are compared.
        groups: the names of groups in the first run.
        metrics: the metrics to compare; if empty, those that the benchmarks of the tasks name.
    """
    filters = dict.fromkeys(filter_name for _, filter_name in pairs)
    for name, filter_name in product(groups, filters):
        keys = [(task, filter_name) for task in a.groups[name].tasks]
        if name not in b.groups or not keys or not pairs.keys() >= {*keys}:
            continue
        members = [pairs[key] for key in keys]
        of_benchmarks = chain.from_iterable(member.benchmark_metrics for member in members)
        for metric_name in metrics or dict.fromkeys(of_benchmarks):
            if not all((metric_name, filter_name) in run.groups[name].metrics for run in (a, b)):
                continue
            sides = zip(*(member.scores(metric_name) for member in members), strict=True)
            scores_a, scores_b = (concatenate(side, tasks_are_strata=True) for side in sides)
            metric = members[0].a.metric(metric_name).over_strata()
            result = contrast(scores_a, scores_b, metric)
            if result:
                yield MetricDifference(name, filter_name, metric, None, None, result)
