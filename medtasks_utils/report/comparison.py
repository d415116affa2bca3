"""Compare each pair of runs once, as ``medtasks compare`` does; the page draws the pairs that a reader chooses."""

from collections.abc import Sequence
from itertools import chain, combinations, product

from medtasks_utils.compare import MetricDifference, compare_runs
from medtasks_utils.results import Run
from medtasks_utils.writing import JsonObject

from .report_tables import counted, shown_value
from .topics import incompatibility

LEAD = (
    "Each run minus the baseline, in points, on the same examples. The interval and p refer to their row alone. "
    "Corrected p-values are those of medtasks compare, by Holm's method for each pair of runs: over its benchmarks by "
    "their main metric, over the tasks of a group, and over the parts of each breakdown; other metrics have only their "
    "own p. A star marks corrected p-values below 5 %. For right or wrong answers, p (McNemar's exact test) and "
    "interval (Bonett and Price's) may disagree about 0. Results with other examples, prompts or scoring are not "
    "compared."
)


def comparison_data(runs: Sequence[Run], filters: Sequence[str]) -> list[JsonObject]:
    """Return all pairs of runs, compared on the examples of the tasks that both have, as ``comparison.js`` reads them.

    P-values are those of each pair by itself. Pairs of runs without a common task are left out.
    """
    pairs = []
    for (a, b), filter_name in product(combinations(range(len(runs)), 2), filters):
        differences, refused, warnings = _compared(runs[a], runs[b], filter_name)
        about = {"filter": filter_name, "runs": [a, b], "refused": refused, "warnings": warnings}
        if differences or refused:
            pairs.append({**about, "lines": [*map(_line, differences)]})
    return pairs


def _compared(a: Run, b: Run, filter_name: str) -> tuple[list[MetricDifference], dict[str, str], list[str]]:
    """Compare two runs under one filter, on the tasks and groups that both have.

    Returns:
        The differences, as the second run's value minus the first's: groups of tasks first, then tasks, each followed
        by its breakdowns; by task or group that is not compared, the reason; and sentences that readers need.
    """

    def reason(name: str, of_explanations: bool = False) -> str:
        """Return the reason why a group or task must not be compared; an empty string if it may be."""
        members = a.tasks_of(name), b.tasks_of(name)
        for task in chain(*members):
            if not any(filter_name in sample.answers for sample in task.samples):
                return "no samples in one of the runs"
        text = incompatibility(*members, filter_name, of_explanations)
        return text.replace("only in A", f"only in {a.name}").replace("only in B", f"only in {b.name}")

    tasks = [
        name
        for name, task in a.tasks.items()
        if task.benchmark_name and name in b.tasks and {filter_name} <= {*task.filters} & {*b.tasks[name].filters}
    ]
    groups = [name for name in a.groups if name in b.groups and {*a.groups[name].tasks} & {*tasks}]
    reasons = {name: reason(name) for name in (*groups, *tasks)}
    refused = {name: text for name, text in reasons.items() if text}
    compared = [(name, name) for name in tasks if name not in refused]
    if not compared:
        return [], refused, []
    result = compare_runs(a, b, tasks=compared, filter_name=filter_name, force=True)
    differences = [
        difference
        for difference in result.differences
        if not (difference.metric.is_of_explanations and reason(difference.task, of_explanations=True))
    ]
    return differences, refused, result.warnings


def _line(difference: MetricDifference) -> JsonObject:
    """Convert a difference, the second run's value minus the first's, to the form of a figure."""
    result, metric = difference.contrast, difference.metric
    p_adjusted = None if difference.p_adjusted is None else _p_value(difference.p_adjusted)
    tests = _p_value(result.p), p_adjusted, difference.is_significant
    return {
        "task": difference.task,
        "metric": metric.name,
        "breakdown": difference.breakdown,
        "group": difference.group,
        "counted": counted(metric),
        "cells": [*(shown_value(result, metric) or ()), *tests],
    }


def _p_value(p: float | None) -> str:
    return "not tested" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"
