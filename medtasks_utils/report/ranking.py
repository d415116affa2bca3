"""The rank of each run at each benchmark, where there are more than two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from medtasks_utils.compare.pairing import common_examples
from medtasks_utils.compare.ranking import Rank, ranking
from medtasks_utils.report.tables import Block, Cell, Table, named_once
from medtasks_utils.report.units import Result, Unit
from medtasks_utils.statistics.aggregation import Scores, joined

_LEAD = (
    "Ranks of the runs that can be compared, on the examples that all of them have. With 95 % confidence every run's "
    "true rank, at every benchmark and under every filter of this page, is in its range. Runs that share a letter "
    "cannot be told apart."
)


def ranking_block(units: Sequence[Unit], filter_name: str, family: int) -> list[Block]:
    """A table of the ranks at each benchmark, by its first metric; nothing for fewer than three runs.

    ``family`` is how many rankings the page has.
    """
    table = Table(
        f"Ranks by benchmark, {filter_name}",
        ["Benchmark", "Run", "Value", "Rank", "Group"],
        text_columns=frozenset({0, 1, 4}),
    )
    for unit in rankable(units, filter_name):
        metric = unit.headline[0]
        odd = unit.odd_ones(filter_name, metric)
        for number, rank in enumerate(ranks_of(unit, filter_name, family)):
            place = f"{rank.best}" if rank.best == rank.worst else f"{rank.best}–{rank.worst}"
            value = unit.facts(metric).shown(rank.value)
            name = named_once(unit.name, number, metric)
            table.rows.append([name, Cell(rank.run), Cell(value), Cell(place), Cell(rank.groups)])
        for run, reason in odd.items():
            table.rows.append([named_once(unit.name, 1), Cell(run), Cell("–"), Cell("not ranked", reason), Cell("")])
    return [Block("Ranks", _LEAD, [], [table], filter_name)] if table.rows else []


def rankable(units: Sequence[Unit], filter_name: str) -> list[Unit]:
    """Units of a benchmark that more than two comparable runs have, with a metric that is no sum."""
    return [
        unit
        for unit in units
        if unit.benchmark
        and filter_name in unit.filters
        and unit.headline
        and len(_comparable(unit, filter_name)) > 2
        and unit.facts(unit.headline[0]).aggregation != "total"
    ]


def ranks_of(unit: Unit, filter_name: str, family: int) -> list[Rank]:
    """The runs' ranks by the unit's first metric, the first rank first; empty where they have too little in common."""
    metric = unit.headline[0]
    facts = unit.facts(metric)
    results = _comparable(unit, filter_name)
    members: list[list[Scores]] = []
    for tasks in zip(*(sorted(result.tasks, key=lambda task: task.task) for result in results.values()), strict=False):
        places = common_examples(tasks)
        members.append([t.scores(filter_name, metric)[own] for t, own in zip(tasks, places, strict=True)])
    is_group = len(members) > 1
    every = [joined(own, by_part=True) if is_group else own[0] for own in zip(*members, strict=True)]
    applies = np.array([scores.known for scores in every])
    there = applies.any(axis=0) if facts.is_ratio else applies.all(axis=0)
    index = np.flatnonzero(there)
    every = [replace(s[index], clusters=every[0].clusters[index], strata=every[0].strata[index]) for s in every]
    ratios = [replace(s, known=index >= 0).ratio("macro" if is_group else facts.aggregation) for s in every]
    return ranking(list(results), ratios, higher_is_better=facts.higher_is_better is not False, family=family)


def _comparable(unit: Unit, filter_name: str) -> dict[str, Result]:
    """The results that may stand in one ranking."""
    odd = unit.odd_ones(filter_name, unit.headline[0])
    return {run: result for run, result in unit.results.items() if run not in odd}
