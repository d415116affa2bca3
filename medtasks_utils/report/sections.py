"""A section for each unit: its breakdowns, its answers, all its metrics, for each filter."""

from __future__ import annotations

from collections.abc import Sequence

from medtasks_utils.report.answers import abstention_block, answers_block, found_block
from medtasks_utils.report.breakdowns import breakdown_block
from medtasks_utils.report.tables import Block, Cell, Section, Table, head_reasons, marked_cells, run_heads
from medtasks_utils.report.units import Unit
from medtasks_utils.statistics.planning import spread


def unit_sections(units: Sequence[Unit]) -> list[Section]:
    """A section for each unit that has samples or more than the summary's metrics."""
    return [unit_section(unit) for unit in units if any(result.tasks for result in unit.results.values())]


def unit_section(unit: Unit) -> Section:
    """All blocks of a unit, for each filter."""
    blocks: list[Block] = []
    known = unit.card
    for filter_name in unit.filters:
        for breakdown in known.breakdowns if known else ():
            blocks += breakdown_block(unit, breakdown, filter_name)
        if known and known.unsure is not None:
            blocks += abstention_block(unit, filter_name)
        if known and known.answers:
            blocks += answers_block(unit, known.answers, filter_name)
        blocks += found_block(unit, filter_name)
        blocks.append(_metrics_block(unit, filter_name))
    subtitle = unit.name if unit.name != unit.title else ""
    return Section(
        f"unit-{unit.name}",
        unit.title,
        subtitle,
        unit.note and f"The numbers of the whole are {unit.note}.",
        blocks,
        variant=not unit.is_default,
    )


def _metrics_block(unit: Unit, filter_name: str) -> Block:
    """Every metric of every run."""
    runs = list(unit.results)
    odd = unit.odd_ones(filter_name, "acc")
    table = Table(f"{unit.title}: all metrics, {filter_name}", ["Metric", *run_heads(runs, odd)])
    for metric in unit.metrics(filter_name):
        estimates = [unit.estimate(run, filter_name, metric) for run in runs]
        own = unit.odd_ones(filter_name, metric)
        reasons = [said or own.get(run, "") for run, said in zip(runs, head_reasons(runs, odd), strict=True)]
        table.rows.append([Cell(metric), *marked_cells(estimates, unit.facts(metric), reasons)])
    known = [
        (run, spread(unit.results[run].scores(filter_name, "acc")) if unit.benchmark else None)
        for run in unit.samples()
    ]
    lead = " ".join(f"{run}: {found}." for run, found in known if found)
    return Block("All metrics", lead, [], [table], filter_name)
