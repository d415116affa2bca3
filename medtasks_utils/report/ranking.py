"""The rank of each run at each benchmark, where there are more than two: ranks with simultaneous intervals.

All pairs are compared at once: the critical value is the quantile of the largest ``|t|`` over all pairs, drawn from the
multivariate t distribution with the estimates' own correlations (Hothorn, Bretz & Westfall, *Biometrical J.* 2008).
A run's rank then lies between one more than the number of runs that are surely better and the number of runs that are
not surely worse, for all runs together with the stated confidence (Klein, Wright & Wieczorek, *JRSS C* 2020; Mogstad,
Romano, Shaikh & Wilhelm, *Review of Economic Studies* 2024). Groups are maximal sets of runs without a sure difference,
shown as letters (Piepho, *J. Computational and Graphical Statistics* 2004).
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from string import ascii_lowercase
from typing import NamedTuple

import numpy as np
import scipy

from medtasks_utils.compare.pairing import common_examples
from medtasks_utils.statistics.metrics import Metric
from medtasks_utils.statistics.ratio import ALPHA, MIN_CLUSTERS, Mask, Ratio
from medtasks_utils.statistics.scores import concatenate

from .tables import Block, Cell, Table
from .units import Unit

_DRAWS = 20_000
_LEAD = (
    "Ranks of those of the first eight runs that can be compared, on the examples that all of them have. With 95 % "
    "confidence every run's true rank, at every benchmark and under every filter of this page, is in its range. Runs "
    "that share a letter cannot be told apart."
)


def ranking_blocks(units: Sequence[Unit], filters: Sequence[str]) -> list[Block]:
    """The ranks at each benchmark by its first metric, a table for each filter; nothing for fewer than three runs."""
    ranked = {name: [(unit, runs) for unit in units if len(runs := _comparable(unit, name)) > 2] for name in filters}
    family = sum(map(len, ranked.values()))
    blocks = []
    for filter_name, own in ranked.items():
        table = Table("Ranks by benchmark", ["Benchmark", "Run", "Group", "Value", "Rank"], texts=3)
        for unit, runs in own:
            facts = unit.facts(unit.headline[0])
            for rank in ranking(runs, _ratios(unit, runs, filter_name, facts), family=family):
                place = f"{rank.best}" if rank.best == rank.worst else f"{rank.best}–{rank.worst}"
                texts = rank.run, rank.groups, facts.shown(rank.value), place
                table.rows.append([Cell(unit.name, facts.name), *map(Cell, texts)])
        blocks.append(Block("Ranks", table, lead=_LEAD, filter=filter_name))
    return blocks


def _comparable(unit: Unit, filter_name: str) -> list[str]:
    """The runs that may stand in one ranking of a benchmark."""
    if not unit.benchmark or filter_name not in unit.filters or not unit.headline:
        return []
    odd = unit.odd_ones(filter_name, unit.headline[0])
    return [run for run in unit.results if run not in odd]


def _ratios(unit: Unit, runs: Sequence[str], filter_name: str, facts: Metric) -> list[Ratio]:
    """The runs' values of a metric, over the examples that all of them have."""
    by_task = []
    for tasks in zip(*(sorted(unit.results[run].tasks, key=lambda task: task.task) for run in runs), strict=True):
        common = zip(tasks, common_examples(*tasks), strict=True)
        by_task.append([task.scores(filter_name, facts.name)[own] for task, own in common])
    is_group = len(by_task) > 1
    every = [concatenate(own, tasks_are_strata=True) if is_group else own[0] for own in zip(*by_task, strict=True)]
    known = np.array([scores.applies for scores in every])
    index = np.flatnonzero(known.any(axis=0) if facts.aggregation.over_decided else known.all(axis=0))
    first = every[0][index]
    shared = (replace(s[index], clusters=first.clusters, strata=first.strata, applies=index >= 0) for s in every)
    return [facts.aggregation.ratio(scores, over_strata=is_group) for scores in shared]


# ---- by one statistic


class Rank(NamedTuple):
    """Where a run stands.

    Attributes:
        value: in the metric's own unit.
        best: the best rank it may have, 1 being the first.
        worst: the worst.
        groups: letters; runs that share one cannot be told apart.
    """

    run: str
    value: float
    best: int
    worst: int
    groups: str


def ranking(runs: Sequence[str], ratios: Sequence[Ratio], *, family: int = 1) -> list[Rank]:
    """Rank runs by a metric of which more is better.

    Args:
        ratios: of each run, over the same examples.
        family: how many rankings are read together; each has as many times less room for error.

    Returns:
        The first rank first; empty where a run has fewer than ten clusters that count.
    """
    scaled = [
        ratio.scaled_influence
        for ratio in ratios
        if ratio.scaled_influence is not None and ratio.clusters >= MIN_CLUSTERS
    ]
    known = [ratio.value for ratio in ratios if ratio.value is not None]
    if not len(scaled) == len(known) == len(runs):
        return []
    values, influence = np.array(known), np.column_stack(scaled)
    first, second = np.triu_indices(len(runs), 1)
    gaps = influence[:, first] - influence[:, second]
    variance = np.square(gaps).sum(axis=0)
    covariance = influence.T @ influence
    errors = np.sqrt(variance + 2 * np.square(np.abs(gaps).max(axis=0)))  # as Bonett and Price's
    errors[variance <= 1e-12 * covariance.max()] = 0.0
    rng, freedom = np.random.default_rng(0), min(ratio.degrees_of_freedom for ratio in ratios)
    normal = rng.multivariate_normal(np.zeros(len(runs)), covariance, _DRAWS, method="eigh")  # of equal runs
    distance = np.abs(normal[:, first] - normal[:, second]) / np.where(errors > 0, errors, np.inf)
    largest = distance.max(axis=1, initial=0.0) / np.sqrt(rng.chisquare(freedom, _DRAWS) / freedom)
    reach = np.maximum(np.quantile(largest, 1 - ALPHA / family) * errors, 1e-12)
    better = values[:, None] - values > scipy.spatial.distance.squareform(reach)  # rows than columns
    best, worst = 1 + better.sum(axis=0), len(runs) - better.sum(axis=1)
    order = np.argsort(-values, kind="stable").tolist()
    letters = groups_of(better | better.T, order)
    return [Rank(runs[i], known[i], int(best[i]), int(worst[i]), letters[i]) for i in order]


def groups_of(differ: Mask, order: Sequence[int]) -> list[str]:
    """For each run the letters of its groups: the largest sets of runs of which no two surely differ.

    Args:
        differ: runs × runs, symmetric; of at most eight runs, which have no more groups than there are letters.
        order: the runs from the first on; the first has the letter a.
    """
    sets = [own for size in range(1, len(order) + 1) for own in combinations(order, size)]
    alike = [own for own in sets if not differ[np.ix_(own, own)].any()]
    largest = [own for own in alike if not any(set(own) < set(other) for other in alike)]
    ordered = sorted(largest, key=lambda own: [order.index(run) for run in own])
    letters = dict(zip(ordered, ascii_lowercase, strict=False))
    return ["".join(letter for own, letter in letters.items() if run in own) for run in range(len(order))]
