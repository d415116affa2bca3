"""Build the section of a topic: its breakdowns, its answers and all its metrics, for each filter."""

from collections import defaultdict
from dataclasses import replace
from itertools import repeat
from statistics import fmean

from medtasks_utils.benchmarks.facts import Abstention, Breakdown
from medtasks_utils.results.budgets import budget_curve
from medtasks_utils.results.samples import number
from medtasks_utils.statistics.intervals import Estimate, estimate
from medtasks_utils.statistics.score_arrays import concatenate
from medtasks_utils.writing import JsonObject

from .report_tables import Cell, Figure, ReportTable, figure_row, metric_row, samples_link
from .text import words
from .topics import Topic


def topic_section(topic: Topic) -> JsonObject:
    """Return the section of a topic as ``report.js`` reads it.

    ``blocks`` has its figures and tables for each filter, and ``curves`` the accuracies by token budget, by filter and
    run number.
    """
    blocks = [replace(block, filter=name) for name in topic.filters for block in _blocks(topic, name) if block.rows]
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


def _blocks(topic: Topic, filter_name: str) -> list[Figure | ReportTable]:
    """Return the figures and tables of a topic under one filter; some may have no rows."""
    blocks: list[Figure | ReportTable] = []
    for breakdown in topic.facts.breakdowns:
        blocks += breakdown_figures(topic, breakdown, filter_name)
    if topic.facts.abstention:
        blocks.append(_abstention_figure(topic, topic.facts.abstention, filter_name))
    return [*blocks, _found_by_table(topic, filter_name), _all_metrics(topic, filter_name)]


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
    for name in breakdown.metrics:
        values = topic.values[filter_name, name]
        groups = values.by_group[breakdown.name]
        has_values = any(result.n for by_run in groups.values() for result in by_run.values())
        if len(groups) < 2 or not has_values:  # a single group is the whole task
            continue
        rows = []
        for group, estimates in sorted(groups.items(), key=place):
            row = figure_row(topic.runs, words(group), values.metric, estimates)
            if topic.only_task:
                row.filters = {"task": topic.only_task, breakdown.name: group}
            rows.append(row)
        title, reasons = f"{name} by {breakdown.name}", values.incomparable
        figures.append(Figure(title, breakdown.name, rows, folded=bool(figures), reasons=reasons, of_groups=True))
    return figures


def _abstention_figure(topic: Topic, abstention: Abstention, filter_name: str) -> Figure:
    """Return a figure of the cost of abstaining, with the rows that the benchmark declares."""
    rows = []
    for row in abstention.rows:
        values = topic.values[filter_name, row.metric]
        estimates = {run: values.estimates[run] for run in topic.sampled}
        if row.rescore:
            for run, result in topic.sampled.items():
                scores = concatenate([task.rescored(filter_name, row.rescore) for task in result.tasks])
                estimates[run] = estimate(scores, values.metric)
        shown = figure_row(topic.runs, row.name, values.metric, estimates)
        rows.append(replace(shown, counted="") if row.rescore else shown)
    reasons = topic.values[filter_name, "acc"].incomparable
    return Figure("The cost of abstaining", "answers", rows, abstention.lead, folded=True, reasons=reasons)


def _found_by_table(topic: Topic, filter_name: str) -> ReportTable:
    """Return a table of how answers were found, such as ``box``, in all generations, with the accuracy of each way."""
    by_run: dict[str, dict[str, list[float]]] = {}
    for run, result in topic.sampled.items():
        by_run[run] = defaultdict(list)
        for sample in result.samples:
            scores = sample.scores_of(filter_name, "acc") or repeat(None)
            for way, score in zip(sample.found_by.get(filter_name, ()), scores, strict=False):
                by_run[run][way].append(number(score) or 0.0)
    ways = sorted(set().union(*by_run.values()), key=lambda way: (way == "none", way))
    table = ReportTable("How answers were found, and acc (%) among them", ["Found by", *by_run], folded=True)
    for way in ways:
        row = [Cell(words(way), href=samples_link(task=topic.only_task, found=way))]
        for scores_by_way in by_run.values():
            right = scores_by_way[way]
            total = sum(map(len, scores_by_way.values()))
            shares = f"{len(right) / total:.1%}, acc {100 * fmean(right):.1f}" if right else ""
            row.append(Cell(f"{len(right):,}", shares))
        table.rows.append(row)
    return table


def _all_metrics(topic: Topic, filter_name: str) -> Figure:
    """Return a figure of all metrics of all runs, with the best scores without the question if they were measured."""
    metrics = {name: topic.values[filter_name, name] for name in topic.metrics(filter_name)}
    rows = [metric_row(topic.runs, name, values) for name, values in metrics.items()]
    reasons = next((values.incomparable for values in metrics.values()), {})
    return Figure("All metrics", "metric", rows, folded=bool(topic.benchmark), reasons=reasons)


def _curves(topic: Topic, filter_name: str) -> dict[int, JsonObject]:
    """Return each run's accuracy by token budget, by run number; empty for a group, and for a task of no benchmark."""
    curves = {}
    for run, result in topic.results.items() if topic.benchmark and not topic.is_group else ():
        curve = budget_curve(result.tasks[0], filter_name)
        if curve:
            curves[topic.runs.index(run)] = curve
    return curves
