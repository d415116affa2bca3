"""Decide which of two runs is better as early as the data allow, with any number of looks (group-sequential testing).

Examples are asked in a random order, and after each of K batches an interval is computed for the difference so far.
With 95 % confidence, all K intervals contain the difference that the full run would show: they are repeated confidence
intervals (Jennison & Turnbull, *Group Sequential Methods*, 2000, chapter 9) with error spent in proportion to the share
f of examples asked so far (Lan & DeMets, *Biometrika* 1983). Since the examples are drawn from the benchmark without
replacement, the difference so far has the variance ``(1 − f)`` times that of independent examples (Cochran, *Sampling
Techniques*, chapter 2), which is information ``f / (1 − f)``: estimates at successive looks then have the independent
increments that the boundaries assume (Fuller, *Sampling Statistics*, 2009). At f = 1, the difference is known exactly.
"""

import math
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
import scipy

from .planning import Sensitivity
from .ratio import ALPHA, Array, Codes, Interval

Decision = Literal["better", "worse", "within", "undecided"]

WITHIN = 2.0
"""The default of the largest difference that does not matter, in percentage points."""

_LOOKS = 16
_GROWTH = 1.5  # the k-th look is at (k / K)^1.5 of all examples: early looks are close together
_SMALLEST_LOOK = 24  # clusters
_SMALLEST_STEP = 1.25  # the second look, as a multiple of the first
_SMALLEST_STRATUM = 8  # mean number of clusters per stratum at the first look
_DRAWS, _DRAWS_OF_PLAN = 100_000, 2_000


def look_sizes(clusters: int, strata: int = 1) -> list[int]:
    """Return the number of clusters asked by each look, in ascending order; the last is all of them.

    Args:
        clusters: the number of clusters in the whole benchmark.
        strata: the number of strata that the metric averages.
    """
    smallest = max(_SMALLEST_LOOK, _SMALLEST_STRATUM * strata)
    sizes = [math.ceil(clusters * (look / _LOOKS) ** _GROWTH) for look in range(1, _LOOKS)]
    return sorted(
        {
            min(clusters, max(smallest, sizes[0])),
            *(size for size in sizes if _SMALLEST_STEP * smallest < size < clusters),
            clusters,
        }
    )


@lru_cache(maxsize=8)
def _paths(sizes: tuple[int, ...]) -> Array:
    """Return simulated z-values of two runs without a true difference, at each look but the last, from a fixed seed.

    The array has the shape ``(draws, looks - 1)``.
    """
    shares = np.array(sizes[:-1]) / sizes[-1]
    information = shares / (1 - shares)
    steps = np.random.default_rng(0).standard_normal((_DRAWS, len(shares))) * np.sqrt(np.diff(information, prepend=0.0))
    return np.asarray(steps.cumsum(axis=1) / np.sqrt(information))


@lru_cache(maxsize=64)
def levels(sizes: tuple[int, ...]) -> list[float]:
    """Return the two-sided significance level of each look; the looks before the last spend 5 % together.

    Boundaries come from simulated Brownian paths: at each look, the share of paths that cross a boundary for the first
    time is proportional to the examples asked since the look before. The last level is 1, since with all examples asked
    the difference is known.

    Args:
        sizes: the clusters asked by each look, from :func:`look_sizes`.
    """
    distances = np.abs(_paths(sizes))
    is_inside = np.ones(_DRAWS, dtype=bool)
    result, crossed = [], 0
    for size, distance in zip(sizes, distances.T, strict=False):
        number = round(ALPHA * _DRAWS * size / sizes[-2]) - crossed
        boundary = float(np.sort(distance * is_inside)[-number])
        is_inside &= distance < boundary
        crossed += number
        result.append(2 * float(scipy.special.ndtr(-boundary)))
    return [*result, 1.0]


def repeated_interval(difference: float, sensitivity: Sensitivity, share: float, level: float) -> Interval:
    """Return the repeated confidence interval of the difference that the full run would show.

    Args:
        difference: the difference over the examples asked, in the metric's own unit.
        sensitivity: the standard error of that difference and its degrees of freedom.
        share: the share of all clusters that has been asked, above 0 and at most 1.
        level: the significance level of this look, from :func:`levels`.
    """
    quantile = float(scipy.special.stdtrit(sensitivity.degrees_of_freedom, 1 - level / 2))
    reach = quantile * sensitivity.error * math.sqrt(1 - share)
    return Interval(difference - reach, difference + reach)


def decision(interval: Interval, within: float) -> Decision:
    """Return the decision that an interval allows; ``within`` takes precedence over ``better`` and ``worse``.

    Args:
        interval: the interval of the difference.
        within: the largest difference that does not matter, in the same unit.
    """
    if -within <= interval.low and interval.high <= within:
        return "within"
    return "better" if interval.low > 0 else "worse" if interval.high < 0 else "undecided"


class Clusters(NamedTuple):
    """The clusters of a benchmark in the order in which they are asked.

    Attributes:
        examples: the indices of the examples of each cluster.
        strata: the number of strata.
    """

    examples: list[list[int]]
    strata: int


def random_order(clusters: Codes, strata: Codes, seed: int = 0) -> Clusters:
    """Return the clusters in a random order in which each stratum has its share of any first k clusters.

    Args:
        clusters: the cluster of each example, shape ``(n,)``.
        strata: the stratum of each example, shape ``(n,)``.
        seed: the seed of the order.
    """
    members: dict[int, list[int]] = {}
    for place, cluster in enumerate(clusters.tolist()):
        members.setdefault(cluster, []).append(place)
    stratum_of = np.array([strata[places[0]] for places in members.values()])
    rank = np.empty(len(members))
    rng = np.random.default_rng(seed)
    for stratum in np.unique(stratum_of):
        in_stratum = np.flatnonzero(stratum_of == stratum)
        rank[in_stratum] = (rng.permutation(len(in_stratum)) + rng.random()) / len(in_stratum)
    everything = list(members.values())
    return Clusters([everything[place] for place in np.argsort(rank).tolist()], len(np.unique(stratum_of)))


def expected_clusters(difference: float, deviation: float, clusters: int, within: float) -> float:
    """Return the expected number of clusters asked before a comparison is decided.

    Args:
        difference: the true difference, in any unit.
        deviation: the standard deviation of one cluster's difference, in the same unit.
        clusters: the number of clusters in the whole benchmark.
        within: the largest difference that does not matter, in the same unit.
    """
    sizes = np.array(look_sizes(clusters))
    stderr = deviation * np.sqrt((1 - sizes / clusters) / sizes)  # 0 at the last look
    reach = stderr * scipy.special.ndtri(1 - np.array(levels(tuple(sizes.tolist()))) / 2)
    paths = np.pad(_paths(tuple(sizes.tolist()))[:_DRAWS_OF_PLAN], ((0, 0), (0, 1)))
    seen = np.abs(difference + stderr * paths)
    is_decided = (seen > reach) | (seen + reach <= within)
    return float(sizes[is_decided.argmax(axis=1)].mean())
