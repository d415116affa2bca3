"""A benchmark by subject, specialty, calculator and so on: a plot and a table of each."""

from __future__ import annotations

from dataclasses import replace

from medtasks_utils.benchmarks.base import Breakdown
from medtasks_utils.report.charts import Point, dot_plot
from medtasks_utils.report.tables import Block, Cell, Table, estimate_cell, estimate_cells, named_once, samples_link
from medtasks_utils.report.text import words
from medtasks_utils.report.units import Unit
from medtasks_utils.statistics.intervals import Estimate, estimate

MACRO = "macro average"

_IN_ORDER = ("easy", "medium", "hard")  # groups with an order of their own; all others are ranked
_NOTHING = Estimate(0, None)

Values = dict[str, dict[str, dict[str, Estimate]]]
"""By metric, group and run."""


def breakdown_block(unit: Unit, breakdown: Breakdown, filter_name: str, runs: list[str]) -> list[Block]:
    """The benchmark's metrics by group and run; nothing where no run has them, or no example has a group.

    ``runs`` are all of the page.
    """
    values = _values(unit, breakdown, filter_name)
    if not values:
        return []
    metric = next(iter(values))
    of_groups = _ranked(values[metric])
    scale = unit.facts(metric).scale
    points = [
        Point(words(group), run, found.value, found.low, found.high, scale)
        for group, by_run in of_groups.items()
        for run, found in by_run.items()
        if found.value is not None
    ]
    title = f"{metric} by {breakdown.name}"
    plot = dot_plot(points, runs, title, f"{unit.title}: {title}", f"{metric}, %")
    order = list(of_groups)
    if unit.card and unit.card.stratum == breakdown.name:
        order.append(MACRO)
        for name, by_group in values.items():
            by_group[MACRO] = {run: _macro(unit, run, filter_name, name) for run in unit.samples()}
    table = (_by_runs if len(values) == 1 else _by_metrics)(unit, breakdown.name, filter_name, values, order)
    lead = (
        f"MDE: the smallest true difference in {metric} of two such runs with independent errors that is found four "
        "times of five. On the same examples errors mostly agree, and smaller ones are found, as the comparison says."
    )
    return [Block(f"By {breakdown.name}", table, plot, lead, filter_name)]


def _values(unit: Unit, breakdown: Breakdown, filter_name: str) -> Values:
    """The metrics of the breakdown that some run has."""
    there = unit.metrics(filter_name)
    found: Values = {metric: {} for metric in breakdown.metrics if metric in there}
    for run in unit.samples():
        result = unit.results[run]
        groups = result.divided(lambda sample: breakdown.key(sample.doc))
        for metric, by_group in found.items():
            scores = result.scores(filter_name, metric)
            for group, places in groups.items():
                by_group.setdefault(group, {})[run] = estimate(scores[places], unit.facts(metric))
    return {
        metric: by_group
        for metric, by_group in found.items()
        if any(e.n for own in by_group.values() for e in own.values())
    }


def _macro(unit: Unit, run: str, filter_name: str, metric: str) -> Estimate:
    """The macro average of a metric: a group's own value; for a task, over the strata of its samples."""
    result = unit.results[run]
    if result.is_group:
        return unit.estimate(run, filter_name, metric)
    return estimate(result.scores(filter_name, metric), replace(unit.facts(metric), aggregation="macro"))


def _ranked(by_group: dict[str, dict[str, Estimate]]) -> dict[str, dict[str, Estimate]]:
    """Groups from the best to the worst on average over the runs, unless they have an order of their own."""

    def place(group: str) -> tuple[float, str]:
        if group in _IN_ORDER:
            return _IN_ORDER.index(group), group
        values = [found.value or 0.0 for found in by_group[group].values()]
        return -sum(values) / len(values), group

    return {group: by_group[group] for group in sorted(by_group, key=place)}


def _by_runs(unit: Unit, name: str, filter_name: str, values: Values, order: list[str]) -> Table:
    """One metric: a row per group, a column per run."""
    ((metric, by_group),) = values.items()
    runs = list(unit.samples())
    facts = unit.facts(metric)
    table = Table(
        f"{unit.title}, {metric} (%) by {name}, {filter_name}",
        [name.capitalize(), "n", "MDE", *unit.heads(runs, filter_name, metric)],
        total=int(MACRO in order),
    )
    comparable = not unit.odd_ones(filter_name, metric)
    for group in order:
        estimates = [by_group[group].get(run, _NOTHING) for run in runs]
        counts = "–".join(f"{n:,}" for n in sorted({own.n for own in estimates}))
        largest = max((own.detectable for own in estimates if own.detectable), default=None)  # of the least sure
        links = [_link(unit, name, group, run) for run in runs]
        first = Cell(words(group), href=_link(unit, name, group))
        cells = estimate_cells(estimates, facts, comparable, links)
        table.rows.append([first, Cell(counts), Cell(facts.detectable(largest)), *cells])
    return table


def _by_metrics(unit: Unit, name: str, filter_name: str, values: Values, order: list[str]) -> Table:
    """Several metrics: a row per group and run, a column per metric."""
    runs = list(unit.samples())
    table = Table(
        f"{unit.title} by {name} (%), {filter_name}",
        [name.capitalize(), "Run", "n", "MDE", *values],
        texts=2,
        total=len(runs) * (MACRO in order),
    )
    for group in order:
        for number, run in enumerate(runs):
            own = {metric: by_group.get(group, {}).get(run, _NOTHING) for metric, by_group in values.items()}
            cells = [estimate_cell(found, unit.facts(metric)) for metric, found in own.items()]
            metric, first = next(iter(own.items()))
            row = [
                named_once(words(group), number, href=_link(unit, name, group)),
                Cell(run, href=_link(unit, name, group, run)),
                Cell(f"{max(found.n for found in own.values()):,}"),
                Cell(unit.facts(metric).detectable(first.detectable)),
            ]
            table.rows.append([*row, *cells])
    return table


def _link(unit: Unit, name: str, group: str, run: str = "") -> str:
    task = unit.only_task
    return samples_link(task=task, **{name: group}, run=run) if task and group != MACRO else ""
