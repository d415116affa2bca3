"""Many runs on the same examples: ranks with simultaneous intervals, and groups that cannot be told apart.

All pairs are compared at once: the critical value is the quantile of the largest ``|t|`` over all pairs, drawn from the
multivariate t distribution with the estimates' own correlations (Hothorn, Bretz & Westfall, *Biometrical J.* 2008).
A run's rank then lies between one more than the number of runs that are surely better and the number of runs that are
not surely worse, for all runs together with the stated confidence (Klein, Wright & Wieczorek, *JRSS C* 2020; Mogstad,
Romano, Shaikh & Wilhelm, *Review of Economic Studies* 2024). Groups are maximal sets of runs without a sure difference,
shown as letters (Piepho, *J. Computational and Graphical Statistics* 2004).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from string import ascii_lowercase
from typing import NamedTuple

import numpy as np
import scipy

from medtasks_utils.statistics.ratio import FEWEST, Mask, Ratio

ALPHA = 0.05
_DRAWS = 20_000


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
    scaled = [ratio.scaled for ratio in ratios if ratio.scaled is not None and ratio.clusters >= FEWEST]
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
    rng, freedom = np.random.default_rng(0), min(ratio.freedom for ratio in ratios)
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
