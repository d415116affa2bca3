"""A section for each unit: its breakdowns, its answers, all its metrics, for each filter."""

from collections.abc import Sequence
from dataclasses import replace

from medtasks_utils.results import Run
from medtasks_utils.statistics.planning import variance_components

from .answers import abstention_block, answers_block, found_block
from .breakdowns import breakdown_blocks
from .tables import WITHOUT_QUESTION, Block, Cell, Section, Table, estimate_cells, reached_cell
from .units import Unit


def unit_section(unit: Unit, runs: Sequence[Run]) -> Section:
    """All blocks of a unit, for each filter."""
    blocks: list[Block] = []
    known = unit.card
    for filter_name in unit.filters:
        own: list[Block] = []
        if known:
            for breakdown in known.breakdowns:
                own += breakdown_blocks(unit, breakdown, filter_name, [run.name for run in runs])
            if known.abstention:
                own.append(abstention_block(unit, known.abstention, filter_name))
            own.append(answers_block(unit, known.answers, filter_name))
        own += [found_block(unit, filter_name), _metrics_block(unit, filter_name)]
        blocks += [replace(block, filter=filter_name) for block in own]
    subtitle = unit.name if unit.name != unit.title else ""
    members = max(len(result.tasks) if result.is_group else 0 for result in unit.results.values())
    lead = f"The numbers of the whole are the unweighted means over {members} tasks." if members else ""
    return Section(f"unit-{unit.name}", unit.title, subtitle, lead, blocks, variant=not unit.is_default)


def _metrics_block(unit: Unit, filter_name: str) -> Block:
    """Every metric of every run."""
    runs = list(unit.results)
    table = Table(f"{unit.title}: all metrics", ["Metric", *unit.heads(runs, filter_name, "acc")])
    reached = {metric: unit.without_question(metric) for metric in unit.metrics(filter_name)}
    is_measured = any(reached.values())
    if is_measured:
        table.head.append(WITHOUT_QUESTION)
    for metric in reached:
        estimates = [unit.estimate(run, filter_name, metric) for run in runs]
        comparable = not unit.odd_ones(filter_name, metric)
        last = [reached_cell(reached[metric], unit.facts(metric))] if is_measured else []
        table.rows.append([Cell(metric), *estimate_cells(estimates, unit.facts(metric), comparable), *last])
    found = {
        run: variance_components(unit.results[run].scores(filter_name, "acc"))
        for run in unit.samples()
        if unit.benchmark
    }
    lead = " ".join(f"{run}: {own}." for run, own in found.items() if own)
    return Block("All metrics", table, lead=lead)
