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
from collections.abc import Sequence
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
_DRAWS = 100_000


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


@lru_cache(maxsize=64)
def levels(sizes: tuple[int, ...]) -> list[float]:
    """Return the significance level of each look but the last, such that all together have 5 %.

    They are found from simulated paths of Brownian motion, of which a share that is proportional to the examples asked
    since the last look crosses the boundary for the first time. The seed is fixed.

    Args:
        sizes: see :func:`look_sizes`.
    """
    shares = np.array(sizes[:-1]) / sizes[-1]
    information = shares / (1 - shares)
    rng = np.random.default_rng(0)
    position, is_inside = np.zeros(_DRAWS), np.ones(_DRAWS, dtype=bool)
    result, crossed, reached = [], 0, 0.0
    for share, total in zip(shares, information, strict=True):
        position += rng.standard_normal(_DRAWS) * math.sqrt(total - reached)
        reached = total
        distance = np.where(is_inside, np.abs(position) / math.sqrt(total), 0.0)
        number = round(ALPHA * _DRAWS * share / shares[-1]) - crossed
        boundary = float(np.partition(distance, _DRAWS - number)[_DRAWS - number])
        is_inside &= distance < boundary
        crossed += number
        result.append(2 * float(scipy.special.ndtr(-boundary)))
    return result


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
    sizes = look_sizes(clusters)
    shares = np.array(sizes[:-1]) / clusters
    stderr = deviation * np.sqrt((1 - shares) / np.array(sizes[:-1]))
    reach = stderr * scipy.special.ndtri(1 - np.array(levels(tuple(sizes))) / 2)
    seen = difference + stderr * _standard_paths(tuple(sizes))
    is_decided = (np.abs(seen) > reach) | (np.abs(seen) + reach <= within)
    at_the_end = np.ones((len(is_decided), 1), dtype=bool)
    first = np.hstack([is_decided, at_the_end]).argmax(axis=1)
    return float(np.array(sizes)[first].mean())


@lru_cache(maxsize=16)
def _standard_paths(sizes: Sequence[int]) -> Array:
    """Return standardised differences at the looks but the last, shape ``(2000, looks)``."""
    shares = np.array(sizes[:-1]) / sizes[-1]
    information = shares / (1 - shares)
    steps = np.random.default_rng(0).standard_normal((2000, len(shares))) * np.sqrt(np.diff(information, prepend=0.0))
    return np.asarray(steps.cumsum(axis=1) / np.sqrt(information))
