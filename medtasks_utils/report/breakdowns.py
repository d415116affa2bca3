"""A benchmark by subject, specialty, calculator and so on: a plot and a table of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from medtasks_utils.benchmarks.base import Breakdown
from medtasks_utils.report.charts import MAX_RUNS, Point, dot_plot
from medtasks_utils.report.tables import (
    Block,
    Cell,
    Figure,
    Table,
    estimate_cell,
    head_reasons,
    marked_cells,
    named_once,
    run_heads,
    samples_link,
)
from medtasks_utils.report.text import words
from medtasks_utils.report.units import Unit
from medtasks_utils.statistics.intervals import Estimate, estimate
from medtasks_utils.statistics.metrics import Metric

MACRO = "macro average"

_IN_ORDER = ("easy", "medium", "hard")  # groups with an order of their own; all others are ranked
_LONG = 12  # groups from which a table scrolls in a box of its own
_NOTHING = Estimate(0, None)


@dataclass(frozen=True)
class _Division:
    """A unit divided under one filter.

    Attributes:
        metrics: those of the breakdown that some run has, the first being the one plotted.
        runs: that have samples.
        groups: in the order in which they are shown.
        values: by metric, run and group; the macro average too, where the benchmark has one over these groups.
    """

    unit: Unit
    breakdown: Breakdown
    filter: str
    metrics: list[str]
    runs: list[str]
    groups: list[str]
    values: dict[tuple[str, str, str], Estimate]

    def value(self, metric: str, run: str, group: str) -> Estimate:
        return self.values.get((metric, run, group), _NOTHING)

    @property
    def rows(self) -> list[str]:
        """The groups, and the macro average if there is one."""
        return [*self.groups, *([MACRO] if any(group == MACRO for _, _, group in self.values) else [])]

    def link(self, group: str, run: str = "") -> str:
        task = self.unit.only_task
        return samples_link(task=task, **{self.breakdown.name: group}, run=run) if task and group != MACRO else ""


def breakdown_block(unit: Unit, breakdown: Breakdown, filter_name: str) -> list[Block]:
    """The benchmark's metrics by group and run; nothing where no run has them, or no example has a group."""
    division = _divide(unit, breakdown, filter_name)
    if not division.groups:
        return []
    table = _groups_by_runs(division) if len(division.metrics) == 1 else _groups_by_metrics(division)
    lead = (
        f"MDE: the smallest true difference in {division.metrics[0]} of two such runs with independent errors that "
        "is found four times of five. On the same examples errors mostly agree, and smaller ones are found, as the "
        "comparison says."
    )
    return [Block(f"By {breakdown.name}", lead, [_dots(division)], [table], filter_name)]


def _divide(unit: Unit, breakdown: Breakdown, filter_name: str) -> _Division:
    runs = list(unit.samples())
    there = [metric for metric in breakdown.metrics if metric in unit.metrics(filter_name)]
    values = {}
    for run in runs:
        groups = unit.results[run].divided(lambda sample: breakdown.key(sample.doc))
        for metric in there:
            scores = unit.results[run].scores(filter_name, metric)
            for group, places in groups.items():
                values[metric, run, group] = estimate(scores[places], unit.facts(metric))
    metrics = [name for name in breakdown.metrics if any(key[0] == name and values[key].n for key in values)]
    ranked = _ranked((group, found) for (metric, _, group), found in values.items() if metric in metrics[:1])
    if unit.card and unit.card.stratum == breakdown.name:
        values |= {(m, run, MACRO): _macro(unit, run, filter_name, m) for m in metrics for run in runs}
    return _Division(unit, breakdown, filter_name, metrics, runs, ranked, values)


def _macro(unit: Unit, run: str, filter_name: str, metric: str) -> Estimate:
    """The macro average of a metric: a group's own value; for a task, over the strata of its samples."""
    result = unit.results[run]
    if result.is_group:
        return unit.estimate(run, filter_name, metric)
    return estimate(result.scores(filter_name, metric), replace(unit.facts(metric), aggregation="macro"))


def _ranked(values: Iterable[tuple[str, Estimate]]) -> list[str]:
    """Groups from the best to the worst on average over the runs, unless they have an order of their own."""
    found: dict[str, list[float]] = {}
    for name, own in values:
        found.setdefault(name, []).append(own.value or 0.0)
    if set(found) <= set(_IN_ORDER):
        return [name for name in _IN_ORDER if name in found]
    return sorted(found, key=lambda name: (-sum(found[name]) / len(found[name]), name))


def _dots(division: _Division) -> Figure:
    metric = division.metrics[0]
    scale = division.unit.facts(metric).scale
    runs = division.runs[:MAX_RUNS]
    points = [
        Point.of(words(group), run, found.value, found.low, found.high, scale)
        for group in division.groups
        for run in runs
        if (found := division.value(metric, run, group)).value is not None
    ]
    title = f"{metric} by {division.breakdown.name}"
    label = f"{division.unit.title}: {title}, {' and '.join(runs)}"
    return Figure(dot_plot(points, runs, label, f"{metric}, %"), title, "runs", runs)


def _groups_by_runs(division: _Division) -> Table:
    """One metric: a row per group, a column per run."""
    (metric,) = division.metrics
    facts = division.unit.facts(metric)
    name = division.breakdown.name
    odd = division.unit.odd_ones(division.filter, metric)
    table = Table(
        f"{division.unit.title}, {metric} (%) by {name}, {division.filter}",
        [name.capitalize(), "n", "MDE", *run_heads(division.runs, odd)],
        total=int(MACRO in division.rows),
        tall=len(division.groups) > _LONG,
    )
    for group in division.rows:
        estimates = [division.value(metric, run, group) for run in division.runs]
        links = [division.link(group, run) for run in division.runs]
        counts = "–".join(f"{n:,}" for n in sorted({own.n for own in estimates}))
        best = marked_cells(estimates, facts, head_reasons(division.runs, odd), links)
        first = Cell(words(group), href=division.link(group))
        table.rows.append([first, Cell(counts), _detectable(estimates, facts), *best])
    return table


def _groups_by_metrics(division: _Division) -> Table:
    """Several metrics: a row per group and run, a column per metric."""
    name = division.breakdown.name
    table = Table(
        f"{division.unit.title} by {name} (%), {division.filter}",
        [name.capitalize(), "Run", "n", "MDE", *division.metrics],
        text_columns=frozenset({0, 1}),
        total=len(division.runs) * (MACRO in division.rows),
        tall=len(division.groups) * len(division.runs) > 2 * _LONG,
    )
    for group in division.rows:
        for number, run in enumerate(division.runs):
            estimates = {metric: division.value(metric, run, group) for metric in division.metrics}
            cells = [estimate_cell(found, division.unit.facts(metric)) for metric, found in estimates.items()]
            count = Cell(f"{max(own.n for own in estimates.values()):,}")
            first = named_once(words(group), number, href=division.link(group))
            seen = _detectable([estimates[division.metrics[0]]], division.unit.facts(division.metrics[0]))
            table.rows.append([first, Cell(run, href=division.link(group, run)), count, seen, *cells])
    return table


def _detectable(estimates: Sequence[Estimate], facts: Metric) -> Cell:
    """The smallest difference that would be seen, by the estimate that is the least sure."""
    found = [own.detectable for own in estimates if own.detectable]
    return Cell(facts.detectable(max(found, default=None)))
