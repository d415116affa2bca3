"""Compare two runs on the same examples, by metric, by breakdown and by example."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from medtasks_utils.errors import MedtasksError
from medtasks_utils.filters import DEFAULT_FILTER
from medtasks_utils.results import Run, TaskRun, is_copy

from .contrast import MetricDifference
from .families import TaskPairs, common_groups, corrected, group_difference, group_metrics, shared_filter
from .task_pair import TaskPair

Notes = dict[str, list[str]]
"""Sentences, each with the names of the runs or tasks concerned."""


@dataclass(frozen=True)
class Comparison:
    """The result of comparing two runs; differences are the second run's value minus the first's.

    Attributes:
        a: the first run.
        b: the second run.
        differences: groups of tasks first, then tasks, each followed by its breakdowns.
        pairs: the tasks that are compared, by the name in the first run.
        warnings: caveats for readers of the differences.
    """

    a: Run
    b: Run
    differences: list[MetricDifference]
    pairs: TaskPairs
    warnings: list[str]


class NothingToCompare(MedtasksError):
    """The error raised if a compared metric is unknown, or no common example has a value of it."""


def compare_runs(
    a: Run,
    b: Run,
    *,
    tasks: Sequence[tuple[str, str]] = (),
    filter_name: str | None = None,
    metrics: Sequence[str] = (),
    common: bool = False,
    force: bool = False,
) -> Comparison:
    """Compare two runs on the given metrics or, if there are none, on each task's default metrics.

    Args:
        a: the first run.
        b: the second run.
        tasks: pairs of task or group names, one from each run; if empty, all tasks of this package that both runs have.
        filter_name: the filter to compare; None for the default of each task, usually ``strict-match``
            (:attr:`.TaskRun.default_filter`), and, if a run lacks it, the first filter that both runs have.
        metrics: the metrics to compare; if empty, those of :meth:`.TaskPair.default_metrics`.
        common: True to compare only the common examples if the runs have different examples.
        force: True to compare results even if their signatures are not comparable, or too many examples lack a value.

    Raises:
        NothingToCompare: if one of the metrics is unknown, or no common example has a value of it.
        MedtasksError: if the runs have no task, example or filter in common, if their results are not comparable, or if
            their examples differ and ``common`` is False.
    """
    notes: Notes = defaultdict(list)
    for run in (a, b):
        for problem in run.problems:
            notes[problem].append(run.name)
    if (is_copy(a, b) or is_copy(b, a)) and all(task_a == task_b for task_a, task_b in tasks):
        notes[f"both are the run {a.path}, or copies of it, so all differences are 0"] = ["A and B"]
    pairs: dict[str, TaskPair] = {}
    differences: list[MetricDifference] = []
    for task_a, task_b in _chosen_tasks(a, b, tasks, notes):
        for run, task in ((a, task_a), (b, task_b)):
            for note in (*task.problems, *(task.note_on_filter if filter_name is None else ())):
                notes[note].append(run.name)
            for remark in task.remarks:
                if remark.startswith("stopped early"):
                    notes[remark].append(f"{task.task} in {run.name}")
        pair = pairs[task_a.task] = TaskPair(task_a, task_b, _chosen_filter(task_a, task_b, filter_name))
        of_task = pair.differences(metrics or pair.default_metrics())
        for warning in pair.warnings(of_task, common=common, force=force):
            notes[warning].append(task_a.task)
        differences += of_task
    differences = [*_group_differences(a, b, pairs, metrics), *differences]
    missing = set(metrics).difference(difference.metric.name for difference in differences)
    if missing or not differences:
        sides = chain.from_iterable((pair.a, pair.b) for pair in pairs.values())
        known = dict.fromkeys(metric for metric, _ in chain.from_iterable(task.metrics for task in sides))
        reason = f"no common example of the runs has a value of {' or of '.join(sorted(missing)) or 'any metric'}"
        if unknown := missing.difference(known):
            reason = f"the runs have no metric {', '.join(sorted(unknown))}"
        raise NothingToCompare(f"{reason}; their metrics are {', '.join(known)}")
    warnings = [f"{', '.join(dict.fromkeys(names))}: {note}" for note, names in notes.items()]
    return Comparison(a, b, corrected(a, b, differences, pairs, filter_name), pairs, warnings)


def _chosen_tasks(a: Run, b: Run, names: Sequence[tuple[str, str]], notes: Notes) -> list[tuple[TaskRun, TaskRun]]:
    """Return the pairs of tasks to compare; if ``names`` is empty, add a note for each task that is left out.

    Raises:
        MedtasksError: if the runs have no common task of this package, a run lacks a named task or group, or the groups
            of a pair have different sizes.
    """
    if names:
        return [*chain.from_iterable(_named_pairs(a, b, *pair) for pair in names)]
    pairs = [(task, b.tasks[name]) for name, task in a.tasks.items() if task.benchmark_name and name in b.tasks]
    others = sorted({*a.tasks, *b.tasks}.difference(task.task for task, _ in pairs))
    if not pairs:
        raise MedtasksError(
            f"{a.path} and {b.path} have no common task of this package; their tasks are {', '.join(others)}"
        )
    for name in others:
        is_in_both = name in a.tasks and name in b.tasks
        reason = "it is not a task of this package (--task compares its acc)" if is_in_both else "only one run has it"
        notes[f"left out, since {reason}"].append(name)
    return pairs


def _named_pairs(a: Run, b: Run, *names: str) -> list[tuple[TaskRun, TaskRun]]:
    """Return the pairs of tasks for a pair of task or group names, the first from ``a`` and the second from ``b``.

    Raises:
        MedtasksError: if a run lacks the task or group, or the two names have different numbers of tasks.
    """
    sides = [run.tasks_of(name) for run, name in zip((a, b), names, strict=True)]
    for run, name, tasks in zip((a, b), names, sides, strict=True):
        if not tasks:
            known = ", ".join([*run.groups, *run.tasks]) or "none"
            raise MedtasksError(f"{run.path} has no task {name}; it has {known}")
    if len(sides[0]) != len(sides[1]):
        raise MedtasksError(
            f"{names[0]} in A and {names[1]} in B have different numbers of tasks ({len(sides[0])} and "
            f"{len(sides[1])}); name a task, or a group of equal size, in each run"
        )
    return list(zip(*sides, strict=True))


def _chosen_filter(a: TaskRun, b: TaskRun, wanted: str | None) -> str:
    """Return the filter to compare; raise an error if a run lacks the requested one, or no filter is in both."""
    name = shared_filter(a, b, wanted)
    if name is None or wanted not in (None, name):
        listed = ", ".join(filter(b.filters.__contains__, a.filters)) or "none"
        raise MedtasksError(
            f"{a.task}: {wanted or DEFAULT_FILTER} is missing from one or both runs; filters in both: {listed}"
        )
    return name


def _group_differences(a: Run, b: Run, pairs: TaskPairs, metrics: Sequence[str]) -> Iterator[MetricDifference]:
    """Yield the difference of each group whose tasks are all compared: an unweighted mean over tasks.

    Without ``metrics``, the default metrics of the tasks' benchmarks are used.
    """
    for name, members in common_groups(a, b, pairs).items():
        for metric in group_metrics(a, b, name, members, metrics):
            difference = group_difference(name, members, metric)
            if difference:
                yield difference
