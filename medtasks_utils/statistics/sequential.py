"""Decide between two runs on the same examples as early as the data allow, however often one looks.

Examples are asked in a random order, and after each of K batches the difference so far has an interval. All K intervals
together hold, with 95 % confidence, the difference that the full run would show: they are repeated confidence intervals
(Jennison & Turnbull, *Group Sequential Methods*, 2000, chapter 9) with error spent in proportion to the share f of
examples that has been asked (Lan & DeMets, *Biometrika* 1983). Since the examples are drawn from the benchmark without
replacement, the difference so far has the variance ``(1 − f)`` times that of independent examples (Cochran, *Sampling
Techniques*, chapter 2), which is information ``f / (1 − f)``: estimates at several looks then have the independent
increments that the boundaries are for (Fuller, *Sampling Statistics*, 2009). At f = 1, nothing is left to chance.
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
"""The largest difference that does not matter, in percentage points, unless another is named."""

_LOOKS = 16
_GROWTH = 1.5  # the k-th look is at (k / K)^1.5 of all examples: early looks are close together
_SMALLEST_LOOK = 24  # clusters
_SMALLEST_STEP = 1.25  # the second look, as a multiple of the first
_SMALLEST_STRATUM = 8  # clusters of each stratum at the first look, on average
_DRAWS, _DRAWS_OF_PLAN = 100_000, 2_000


def look_sizes(clusters: int, strata: int = 1) -> list[int]:
    """Return how many clusters have been asked at each look, in ascending order; the last one is all of them.

    Args:
        clusters: of the whole benchmark.
        strata: the number of strata whose mean the metric is.
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
    """Return standardised differences of equal runs at each look but the last, from a fixed seed.

    Shape ``(draws, looks)``.
    """
    shares = np.array(sizes[:-1]) / sizes[-1]
    information = shares / (1 - shares)
    steps = np.random.default_rng(0).standard_normal((_DRAWS, len(shares))) * np.sqrt(np.diff(information, prepend=0.0))
    return np.asarray(steps.cumsum(axis=1) / np.sqrt(information))


@lru_cache(maxsize=64)
def levels(sizes: tuple[int, ...]) -> list[float]:
    """Return the significance level of each look; those of all but the last have 5 % together, and the last has 1.

    They are found from simulated paths of Brownian motion, of which a share that is proportional to the examples asked
    since the last look crosses the boundary for the first time. With all of them asked, nothing is uncertain.

    Args:
        sizes: see :func:`look_sizes`.
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
        difference: over the examples asked.
        sensitivity: of the comparison of these, which has the standard error.
        share: of all clusters that was asked, more than 0 to 1.
        level: of this look, from :func:`levels`.
    """
    quantile = float(scipy.special.stdtrit(sensitivity.degrees_of_freedom, 1 - level / 2))
    reach = quantile * sensitivity.error * math.sqrt(1 - share)
    return Interval(difference - reach, difference + reach)


def decision(interval: Interval, within: float) -> Decision:
    """Return what an interval decides. Two that lie within so much of each other are not called better or worse.

    Args:
        interval: of the difference.
        within: the largest difference that does not matter, in the same unit.
    """
    if -within <= interval.low and interval.high <= within:
        return "within"
    return "better" if interval.low > 0 else "worse" if interval.high < 0 else "undecided"


class Clusters(NamedTuple):
    """The clusters of a benchmark in the order in which they are asked.

    Attributes:
        examples: the places of the examples of each cluster.
        strata: the number of strata among them.
    """

    examples: list[list[int]]
    strata: int


def random_order(clusters: Codes, strata: Codes, seed: int = 0) -> Clusters:
    """Return the clusters in a random order in which every beginning has the strata in proportion.

    Args:
        clusters: of each example, shape ``(n,)``.
        strata: of each example, shape ``(n,)``.
        seed: of the order.
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
    """Return how many clusters are asked on average until it is decided.

    Args:
        difference: the true one, in any unit.
        deviation: standard deviation of one cluster's difference, in the same unit.
        clusters: of the whole benchmark.
        within: see :func:`decision`.
    """
    sizes = np.array(look_sizes(clusters))
    stderr = deviation * np.sqrt((1 - sizes / clusters) / sizes)  # 0 at the last look
    reach = stderr * scipy.special.ndtri(1 - np.array(levels(tuple(sizes.tolist()))) / 2)
    paths = np.pad(_paths(tuple(sizes.tolist()))[:_DRAWS_OF_PLAN], ((0, 0), (0, 1)))
    seen = np.abs(difference + stderr * paths)
    is_decided = (seen > reach) | (seen + reach <= within)
    return float(sizes[is_decided.argmax(axis=1)].mean())
