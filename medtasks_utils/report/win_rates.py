"""Compute the win rates of saved runs over their common tasks."""

from collections import defaultdict
from collections.abc import Sequence

from medtasks_utils.errors import MedtasksError
from medtasks_utils.filters import DEFAULT_FILTER
from medtasks_utils.results import Run
from medtasks_utils.results.run import TaskRun
from medtasks_utils.statistics.win_rate import ByExample, WinRate, win_rates

_SCORES = ("reward", "acc")
"""The metrics that decide which of two runs is better on an example; a task's first one is used."""


def win_rates_of(runs: Sequence[Run]) -> dict[str, WinRate]:
    """Return the win rates of runs by name, under ``strict-match`` or, without it, the alphabetically first filter.

    Raises:
        MedtasksError: if there are fewer than two runs with samples of a common task.
    """
    by_task: dict[str, dict[str, ByExample]] = defaultdict(dict)
    for run in runs:
        for name, task in run.tasks.items():
            if scores := scores_of(task):
                by_task[name][run.name] = scores
    shared = {name: by_run for name, by_run in by_task.items() if len(by_run) == len(runs)}
    if len(runs) < 2 or not shared:
        raise MedtasksError("--win_rate needs two or more runs with samples of a common task (--log_samples)")
    return win_rates(shared)


def scores_of(task: TaskRun) -> dict[str, float | None]:
    """Return each example's score on the task's first metric in :data:`_SCORES`; empty if it has neither.

    Examples are named by their keys (:func:`.run.content_keys`), as text.
    """
    names = set[str]().union(*(sample.metrics for sample in task.samples))
    filter_name = DEFAULT_FILTER if DEFAULT_FILTER in names else min(names, default="")
    metrics = set[str]().union(*(sample.metrics.get(filter_name, ()) for sample in task.samples))
    metric = next((name for name in _SCORES if name in metrics), None)
    if metric is None:
        return {}
    return {
        str(key): task.samples[place].metrics.get(filter_name, {}).get(metric) for key, place in task.examples.items()
    }
