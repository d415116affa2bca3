"""The rank of each run at each benchmark, where there are more than two."""

from __future__ import annotations

from collections.abc import Sequence

from medtasks_utils.compare.pairing import common_examples
from medtasks_utils.compare.ranking import Rank, ranking
from medtasks_utils.report.comparable import Result
from medtasks_utils.report.tables import Block, Cell, Table, named_once
from medtasks_utils.report.units import Unit
from medtasks_utils.results.breakdowns import items_of
from medtasks_utils.statistics import ExampleValue, Total, macro_mean

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
        and not isinstance(unit.facts(unit.headline[0]).aggregation, Total)
    ]


def ranks_of(unit: Unit, filter_name: str, family: int) -> list[Rank]:
    """The runs' ranks by the unit's first metric, the first rank first; empty where they have too little in common."""
    metric = unit.headline[0]
    facts = unit.facts(metric)
    results = _comparable(unit, filter_name)
    names = list(results)
    members = list(dict.fromkeys(task.task for result in results.values() for task in result.tasks))
    is_group = len(members) > 1
    rows: list[list[ExampleValue | None]] = []
    for member in members:
        tasks = [next((t for t in result.tasks if t.task == member), None) for result in results.values()]
        present = [task for task in tasks if task is not None]
        if len(present) < len(names):
            return []
        for samples in common_examples(present):
            rows.append(items_of(samples, filter_name, metric, unit.benchmark, member if is_group else None))
    return ranking(
        names,
        rows,
        macro_mean if is_group else facts.aggregation,  # type: ignore[arg-type]  # no Total: rankable
        higher_is_better=facts.higher_is_better is not False,
        family=family,
    )


def _comparable(unit: Unit, filter_name: str) -> dict[str, Result]:
    """The results that may stand in one ranking."""
    odd = unit.odd_ones(filter_name, unit.headline[0])
    return {run: result for run, result in unit.results.items() if run not in odd}
