"""Build the section of a topic: its breakdowns, its answers and all its metrics, for each filter."""

from dataclasses import replace
from statistics import fmean
from typing import Any

import numpy as np

from medtasks_utils.benchmarks.facts import Breakdown
from medtasks_utils.results.budgets import budget_curve
from medtasks_utils.statistics.intervals import Estimate, estimate

from .answer_tables import abstention_figure, found_by_table
from .report_tables import Figure, ReportTable, figure_row, metric_row
from .text import words
from .topics import Topic


def topic_section(topic: Topic) -> dict[str, Any]:
    """Return the section of a topic as ``report.js`` reads it.

    ``blocks`` has its figures and tables for each filter, and ``curves`` the accuracies by token budget, by filter and
    run number.
    """
    blocks: list[Figure | ReportTable] = []
    for filter_name in topic.filters:
        of_filter: list[Figure | ReportTable] = []
        if topic.benchmark:
            for breakdown in topic.benchmark.report.breakdowns:
                of_filter += breakdown_figures(topic, breakdown, filter_name)
            abstention = topic.benchmark.report.abstention
            if abstention:
                of_filter.append(abstention_figure(topic, abstention, filter_name))
        of_filter += [found_by_table(topic, filter_name), _all_metrics(topic, filter_name)]
        blocks += [replace(block, filter=filter_name) for block in of_filter if block.rows]
    lead = f"Numbers of the whole group are unweighted means over its {len(topic.tasks)} tasks."
    return {
        "id": f"unit-{topic.name}",
        "title": topic.label,
        "subtitle": "" if topic.name in topic.label else topic.name,
        "lead": lead * topic.is_group,
        "blocks": blocks,
        "tasks": topic.tasks,
        "curves": {filter_name: _curves(topic, filter_name) for filter_name in topic.filters},
    }


def _curves(topic: Topic, filter_name: str) -> dict[int, dict[str, Any]]:
    """Return each run's accuracy by token budget, by run number; empty for a group, and for a task of no benchmark."""
    curves = {}
    for run, result in topic.results.items() if topic.benchmark and not topic.is_group else ():
        curve = budget_curve(result.tasks[0], filter_name)
        if curve:
            curves[topic.runs.index(run)] = curve
    return curves


def breakdown_figures(topic: Topic, breakdown: Breakdown, filter_name: str) -> list[Figure]:
    """Return a figure for each of the breakdown's metrics that a run has; only the first figure is not collapsed.

    Groups are in their natural order if they have one, else in descending order of their mean over the runs. If all
    examples are in one group, there is no figure.
    """

    def place(item: tuple[str, dict[str, Estimate]]) -> tuple[float, str]:
        group, estimates = item
        if group in breakdown.order:
            return breakdown.order.index(group), group
        return -fmean(result.value or 0.0 for result in estimates.values()), group

    figures: list[Figure] = []
    for metric in breakdown.metrics:
        groups = _groups(topic, breakdown.name, filter_name, metric)
        has_values = any(result.n for by_run in groups.values() for result in by_run.values())
        if len(groups) < 2 or not has_values:  # a single group is the whole task
            continue
        rows = []
        for group, estimates in sorted(groups.items(), key=place):
            row = figure_row(topic, words(group), metric, estimates)
            if topic.only_task:
                row.filters = {"task": topic.only_task, breakdown.name: group}
            rows.append(row)
        title = f"{metric} by {breakdown.name}"
        reasons = topic.incomparable_runs(filter_name, metric)
        figures.append(Figure(title, breakdown.name, rows, folded=bool(figures), reasons=reasons, of_groups=True))
    return figures


def _groups(topic: Topic, division: str, filter_name: str, metric: str) -> dict[str, dict[str, Estimate]]:
    """Return the estimates of a metric by group of a breakdown, and then by run."""
    groups: dict[str, dict[str, Estimate]] = {}
    for run in topic.samples():
        result = topic.results[run]
        names = [group for task in result.tasks for group in task.groups[division]]
        scores = result.scores(filter_name, metric)
        for group in filter(None, dict.fromkeys(names)):
            members = np.array(names, dtype=object) == group
            groups.setdefault(group, {})[run] = estimate(scores[members], topic.metric(metric))
    return groups


def _all_metrics(topic: Topic, filter_name: str) -> Figure:
    """Return a figure of all metrics of all runs, with the best scores without the question if they were measured."""
    rows = [metric_row(topic, name, filter_name, name) for name in topic.metrics(filter_name)]
    reasons = topic.incomparable_runs(filter_name, "acc")
    return Figure("All metrics", "metric", rows, folded=bool(topic.benchmark), reasons=reasons)
