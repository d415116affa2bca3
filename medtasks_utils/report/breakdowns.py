"""A benchmark by subject, specialty, calculator and so on: a plot and a table for each metric."""

from collections.abc import Sequence

from medtasks_utils.benchmarks.base import Breakdown
from medtasks_utils.statistics.intervals import Estimate, estimate

from .charts import dot_plot
from .report_tables import Block, Cell, ReportTable, estimate_cells, samples_link
from .text import words
from .topics import Topic, places_by_group

MACRO_LABEL = "macro average"

_LEAD = (
    "MDE: the smallest true difference in {} between two such runs with independent errors that has 80 % power. On the "
    "same examples, the errors of two runs mostly agree, and the comparison detects smaller differences."
)

Groups = dict[str, dict[str, Estimate]]
"""Estimates by group and run."""


def breakdown_blocks(topic: Topic, breakdown: Breakdown, filter_name: str, runs: Sequence[str]) -> list[Block]:
    """Return a block for each of the breakdown's metrics that a run has, the first one open.

    Each has a table with a row for each group and a column for each run of the topic.

    Args:
        topic: whose examples are broken down.
        breakdown: the division.
        filter_name: the filter whose answers are scored.
        runs: all runs of the page, which number their colours in plots.
    """
    blocks: list[Block] = []
    for metric in breakdown.metrics:
        groups = _groups(topic, breakdown, filter_name, metric)
        if len(groups) > 1:  # one group is the whole
            blocks.append(_block(topic, breakdown.name, metric, filter_name, groups, runs))
            blocks[-1].folded = len(blocks) > 1
    return blocks


def _groups(topic: Topic, breakdown: Breakdown, filter_name: str, metric_name: str) -> Groups:
    """Return a metric by group and run; empty if it applies to no example.

    Groups come in their natural order, else from the best to the worst on average over the runs.
    """
    metric, groups = topic.metric(metric_name), Groups()
    for run in topic.samples():
        result = topic.results[run]
        names = [group for task in result.tasks for group in task.groups[breakdown.name]]
        scores = result.scores(filter_name, metric_name)
        for group, places in places_by_group(names).items():
            groups.setdefault(group, {})[run] = estimate(scores[places], metric)

    def place(group: str) -> tuple[float, str]:
        if group in breakdown.order:
            return breakdown.order.index(group), group
        values = [result.value or 0.0 for result in groups[group].values()]
        return -sum(values) / len(values), group

    has_values = any(result.n for by_run in groups.values() for result in by_run.values())
    return {group: groups[group] for group in sorted(groups, key=place)} if has_values else {}


def _block(
    topic: Topic, division: str, metric_name: str, filter_name: str, groups: Groups, page_runs: Sequence[str]
) -> Block:
    """Return the plot and the table of one metric."""
    metric, runs, title = topic.metric(metric_name), list(topic.samples()), f"{metric_name} by {division}"
    points = [(words(group), run, result, metric) for group, by_run in groups.items() for run, result in by_run.items()]
    plot = dot_plot(points, page_runs, f"{topic.title}: {title}", f"{metric_name}, %")
    has_macro = topic.benchmark is not None and topic.benchmark.stratum == division
    heads = [division.capitalize(), "n", "MDE", *topic.column_heads(runs, filter_name, metric_name)]
    caption = f"{topic.title}, {metric_name} (%) by {division}"
    table = ReportTable(caption, heads, total=int(has_macro))
    if has_macro:
        groups = {**groups, MACRO_LABEL: {run: _macro(topic, run, filter_name, metric_name) for run in runs}}
    comparable = not topic.incomparable_runs(filter_name, metric_name)
    for group, by_run in groups.items():
        task = topic.only_task if group != MACRO_LABEL else ""
        link, *links = (samples_link(task=task, run=run, **{division: group}) if task else "" for run in ("", *runs))
        estimates = [by_run.get(run, Estimate(0, None)) for run in runs]
        ns = [result.n for result in estimates]
        counts = " to ".join(f"{n:,}" for n in sorted({min(ns), max(ns)}))
        largest_mde = max((result.detectable for result in estimates if result.detectable), default=None)
        cells = estimate_cells(estimates, metric, comparable, links)
        table.rows.append([Cell(words(group), href=link), Cell(counts), Cell(metric.detectable(largest_mde)), *cells])
    return Block(title, table, plot, _LEAD.format(metric_name))


def _macro(topic: Topic, run: str, filter_name: str, metric_name: str) -> Estimate:
    """Return the macro average of a metric: a group's own value; for a task, the mean over the strata."""
    result = topic.results[run]
    if result.is_group:
        return topic.estimate(run, filter_name, metric_name)
    return estimate(result.scores(filter_name, metric_name), topic.metric(metric_name).over_strata())
