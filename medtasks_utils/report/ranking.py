"""The rank of each run at each benchmark, where there are more than two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from medtasks_utils.compare.pairing import common_examples
from medtasks_utils.report.ranks import Rank, ranking
from medtasks_utils.report.tables import Block, Cell, Table
from medtasks_utils.report.units import Unit
from medtasks_utils.statistics.aggregation import joined

_LEAD = (
    "Ranks of the runs that can be compared, on the examples that all of them have. With 95 % confidence every run's "
    "true rank, at every benchmark and under every filter of this page, is in its range. Runs that share a letter "
    "cannot be told apart."
)


def ranking_blocks(units: Sequence[Unit], filters: Sequence[str]) -> list[Block]:
    """The ranks at each benchmark by its first metric, a table for each filter; nothing for fewer than three runs."""
    ranked = {name: [unit for unit in units if len(_comparable(unit, name)) > 2] for name in filters}
    family = sum(map(len, ranked.values()))
    blocks = []
    for filter_name, own in ranked.items():
        table = Table("Ranks by benchmark", ["Benchmark", "Run", "Group", "Value", "Rank"], texts=3)
        for unit in own:
            metric = unit.headline[0]
            for rank in _ranks(unit, filter_name, family):
                place = f"{rank.best}" if rank.best == rank.worst else f"{rank.best}–{rank.worst}"
                value = unit.facts(metric).shown(rank.value)
                table.rows.append([Cell(unit.name, metric), *map(Cell, (rank.run, rank.groups, value, place))])
        if table.rows:
            blocks.append(Block("Ranks", table, lead=_LEAD, filter=filter_name))
    return blocks


def _comparable(unit: Unit, filter_name: str) -> list[str]:
    """The runs that may stand in one ranking of a benchmark, by a metric that is no sum."""
    if not unit.benchmark or filter_name not in unit.filters or not unit.headline:
        return []
    odd = unit.odd_ones(filter_name, unit.headline[0])
    return [run for run in unit.results if run not in odd and unit.facts(unit.headline[0]).aggregation != "total"]


def _ranks(unit: Unit, filter_name: str, family: int) -> list[Rank]:
    """The runs' ranks by the unit's first metric, the first rank first; empty where they have too little in common.

    ``family`` is how many rankings the page has.
    """
    metric = unit.headline[0]
    facts = unit.facts(metric)
    runs = _comparable(unit, filter_name)
    by_task = []
    for tasks in zip(*(sorted(unit.results[run].tasks, key=lambda task: task.task) for run in runs), strict=True):
        by_task.append(
            [task.scores(filter_name, metric)[own] for task, own in zip(tasks, common_examples(*tasks), strict=True)]
        )
    is_group = len(by_task) > 1
    every = [joined(own, by_part=True) if is_group else own[0] for own in zip(*by_task, strict=True)]
    known = np.array([scores.known for scores in every])
    index = np.flatnonzero(known.any(axis=0) if facts.is_ratio else known.all(axis=0))
    first = every[0][index]
    shared = (replace(s[index], clusters=first.clusters, strata=first.strata, known=index >= 0) for s in every)
    ratios = [scores.ratio("macro" if is_group else facts.aggregation) for scores in shared]
    return ranking(runs, ratios, family=family)
