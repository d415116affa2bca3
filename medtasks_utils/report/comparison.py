"""Prepare the comparison of runs on the same examples: all pairs as data, from which the page draws the chosen ones."""

from collections.abc import Sequence
from typing import Any

from medtasks_utils.compare import MetricDifference

from .pairs import ComparedPair, Pairs
from .report_tables import counted, shown_value

LEAD = (
    "Each run minus the baseline, in points, on the same examples. The interval and p refer to their row alone. "
    "Corrected p-values are computed by Holm's method over all pairs of runs and all filters; whole tasks are one "
    "family of tests, and parts of tasks another. A star marks corrected p-values below 5 %. Results with other "
    "examples, prompts or scoring are not compared."
)


def comparison_data(pairs: Pairs, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return all pairs in the form that ``assets/comparison.js`` reads; an empty list if no runs share a task."""
    return [
        {"filter": filter_name, "runs": [names.index(a), names.index(b)], **_pair(pair)}
        for (a, b, filter_name), pair in pairs.items()
        if pair.differences or pair.refused
    ]


def _pair(pair: ComparedPair) -> dict[str, Any]:
    """Convert a compared pair to a JSON-compatible dict, with the clearest differences first."""

    def clearest_first(difference: MetricDifference) -> tuple[bool, float, float]:
        """Return a sort key: whole tasks in their order, then parts of tasks by p-value and size of the difference."""
        p = 1.0 if difference.p_adjusted is None else difference.p_adjusted
        return (True, p, -abs(difference.contrast.difference)) if difference.breakdown else (False, 0.0, 0.0)

    return {
        "lines": [_line(difference) for difference in sorted(pair.differences, key=clearest_first)],
        "refused": pair.refused,
        "warnings": pair.warnings,
    }


def _line(difference: MetricDifference) -> dict[str, Any]:
    """Convert a difference, the second run's value minus the first's, to the form of a figure."""
    result, metric = difference.contrast, difference.metric
    tests = _p_value(result.p), _p_value(difference.p_adjusted), difference.is_significant
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
