"""A benchmark by subject, specialty, calculator and so on: a plot and a table of each of its metrics there."""

from collections.abc import Sequence
from functools import partial

from medtasks_utils.benchmarks.base import Breakdown
from medtasks_utils.statistics.intervals import Estimate, estimate

from .charts import dot_plot
from .tables import Block, Cell, Table, estimate_cells, samples_link
from .text import words
from .units import Unit, divided

MACRO_LABEL = "macro average"

_LEAD = (
    "MDE: the smallest true difference in {} of two such runs with independent errors that is found four times of "
    "five. On the same examples errors mostly agree, and smaller ones are found, as the comparison says."
)


def breakdown_blocks(unit: Unit, breakdown: Breakdown, filter_name: str, runs: list[str]) -> list[Block]:
    """A block for each of the breakdown's metrics that a run has, the first one open; ``runs`` are all of the page.

    The table has a row per group and a column per run.
    """
    name, own = breakdown.name, list(unit.samples())
    places = {run: divided(each for task in unit.results[run].tasks for each in task.groups[name]) for run in own}
    has_macro = unit.card is not None and unit.card.stratum == name
    blocks: list[Block] = []
    for metric in breakdown.metrics:
        facts = unit.facts(metric)
        found: dict[str, dict[str, Estimate]] = {}
        for run, groups in places.items():
            scores = unit.results[run].scores(filter_name, metric)
            for group, index in groups.items():
                found.setdefault(group, {})[run] = estimate(scores[index], facts)
        if not any(one.n for by_run in found.values() for one in by_run.values()):
            continue
        found = dict(sorted(found.items(), key=partial(_place, breakdown.order)))
        points = [(words(group), run, one, facts) for group, by_run in found.items() for run, one in by_run.items()]
        title = f"{metric} by {name}"
        plot = dot_plot(points, runs, f"{unit.title}: {title}", f"{metric}, %")
        if has_macro:
            found[MACRO_LABEL] = {run: _macro(unit, run, filter_name, metric) for run in own}
        head = [name.capitalize(), "n", "MDE", *unit.heads(own, filter_name, metric)]
        table = Table(f"{unit.title}, {metric} (%) by {name}", head, total=int(has_macro))
        comparable = not unit.odd_ones(filter_name, metric)
        for group, by_run in found.items():
            task = unit.only_task if group != MACRO_LABEL else ""
            of_all, *links = (samples_link(task=task, run=run, **{name: group}) if task else "" for run in ("", *own))
            estimates = [by_run.get(run, Estimate(0, None)) for run in own]
            counts = "–".join(f"{n:,}" for n in sorted({one.n for one in estimates}))
            least_sure = max((one.detectable for one in estimates if one.detectable), default=None)
            cells = estimate_cells(estimates, facts, comparable, links)
            row = [Cell(words(group), href=of_all), Cell(counts), Cell(facts.detectable(least_sure)), *cells]
            table.rows.append(row)
        blocks.append(Block(title, table, plot, _LEAD.format(metric), folded=bool(blocks)))
    return blocks


def _place(order: Sequence[str], item: tuple[str, dict[str, Estimate]]) -> tuple[float, str]:
    """Groups stand from the best to the worst on average over the runs, unless they have an order of their own."""
    group, by_run = item
    if group in order:
        return order.index(group), group
    return -sum(found.value or 0.0 for found in by_run.values()) / len(by_run), group


def _macro(unit: Unit, run: str, filter_name: str, metric: str) -> Estimate:
    """The macro average of a metric: a group's own value; for a task, over the strata of its samples."""
    result = unit.results[run]
    if result.is_group:
        return unit.estimate(run, filter_name, metric)
    return estimate(result.scores(filter_name, metric), unit.facts(metric).over_strata())
