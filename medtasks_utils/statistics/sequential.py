"""Decide which of two runs is better as early as the data allow, by group-sequential testing.

Examples are evaluated in random order. After each of K batches, at a *look*, an interval for the difference is
computed. With 95 % confidence, all K intervals contain the difference of the full run. They are repeated confidence
intervals (Jennison & Turnbull, *Group Sequential Methods*, 2000, chapter 9), whose error rate is spent in proportion to
the share f of examples evaluated so far (Lan & DeMets, *Biometrika* 1983). Since examples are drawn from the benchmark
without replacement, the variance of the difference is ``(1 − f)`` times that for independent examples (Cochran,
*Sampling Techniques*, chapter 2), so the information is proportional to ``f / (1 − f)``. Estimates at successive looks
then have the independent increments that the boundaries assume (Fuller, *Sampling Statistics*, 2009). At f = 1, the
difference is known exactly.
"""

import math
from functools import cache, lru_cache

import numpy as np
import scipy

from .planning import Sensitivity
from .ratio import ALPHA, Interval, student
from .score_arrays import Array, Codes

WITHIN = 2.0
"""The default for the largest difference that counts as equal, in percentage points."""

_LOOKS = 16
_GROWTH = 1.5  # the k-th look is at (k / K)^1.5 of all examples, so early looks are close together
_SMALLEST_LOOK = 24  # minimum number of clusters at the first look
_SMALLEST_STEP = 1.25  # minimum number of clusters at the second look, as a multiple of that at the first
_SMALLEST_STRATUM = 8  # mean number of clusters per stratum at the first look
_DRAWS = 100_000


def look_sizes(clusters: int, strata: int = 1) -> tuple[int, ...]:
    """Return the cumulative number of clusters evaluated at each look, in ascending order; the last look covers all.

    ``clusters`` is their number in the whole benchmark, and ``strata`` the number of strata that the metric averages.
    """
    smallest = max(_SMALLEST_LOOK, _SMALLEST_STRATUM * strata)
    sizes = [math.ceil(clusters * (look / _LOOKS) ** _GROWTH) for look in range(1, _LOOKS)]
    between = {size for size in sizes if _SMALLEST_STEP * smallest < size < clusters}
    return tuple(sorted({min(clusters, max(smallest, sizes[0])), *between, clusters}))


@lru_cache(maxsize=8)
def _paths(sizes: tuple[int, ...]) -> Array:
    """Simulate z-values for two equally good runs, at all looks but the last, with a fixed seed.

    The array has the shape ``(draws, looks - 1)``.
    """
    shares = np.array(sizes[:-1]) / sizes[-1]
    information = shares / (1 - shares)
    steps = np.random.default_rng(0).standard_normal((_DRAWS, len(shares))) * np.sqrt(np.diff(information, prepend=0.0))
    return steps.cumsum(axis=1) / np.sqrt(information)


@cache
def levels(sizes: tuple[int, ...]) -> list[float]:
    """Return the two-sided significance level of each look; the looks before the last spend 5 % together.

    Boundaries are determined from simulated Brownian paths: at each look, the share of paths that cross a boundary for
    the first time is proportional to the number of examples evaluated since the previous look. The last level is 1,
    since the difference is then known exactly. ``sizes`` is from :func:`look_sizes`.
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
    """Return the repeated confidence interval for the difference of the full run.

    Args:
        difference: the difference over the examples evaluated so far, in the metric's own unit.
        sensitivity: the standard error of this difference and its degrees of freedom.
        share: the share of clusters evaluated so far, above 0 and at most 1.
        level: the significance level of this look, from :func:`levels`.
    """
    quantile = student(sensitivity.degrees_of_freedom, 1 - level / 2)
    reach = quantile * sensitivity.error * math.sqrt(1 - share)
    return Interval(difference - reach, difference + reach)


def decision(interval: Interval, within: float) -> str:
    """Return the decision that an interval allows: ``within``, ``better``, ``worse`` or ``undecided``.

    If more than one of the first three is possible, the decision is ``within``.

    Args:
        interval: the interval for the difference.
        within: the largest difference that counts as equal, in the same unit.
    """
    if -within <= interval.low and interval.high <= within:
        return "within"
    return "better" if interval.low > 0 else "worse" if interval.high < 0 else "undecided"


def random_order(clusters: Codes, strata: Codes) -> list[list[int]]:
    """Return the examples of each cluster, with the clusters in random order.

    The first k clusters represent the strata roughly in proportion to their sizes, for any k. The clusters and
    strata of the n examples, shape ``(n,)``, determine the order.
    """
    _, first, sizes = np.unique(clusters, return_index=True, return_counts=True)
    members = np.split(np.argsort(clusters, kind="stable"), sizes.cumsum()[:-1])
    rank = np.empty(len(first))
    rng = np.random.default_rng(0)
    for stratum in np.unique(strata):
        in_stratum = np.flatnonzero(strata[first] == stratum)
        rank[in_stratum] = (rng.permutation(len(in_stratum)) + rng.random()) / len(in_stratum)
    return [members[place].tolist() for place in np.argsort(rank)]


def expected_clusters(difference: float, deviation: float, clusters: int, within: float) -> float:
    """Return the expected number of clusters evaluated before a comparison is decided.

    Args:
        difference: the true difference, in any unit.
        deviation: the standard deviation of one cluster's difference, in the same unit.
        clusters: the number of clusters in the whole benchmark.
        within: the largest difference that counts as equal, in the same unit.
    """
    looks = look_sizes(clusters)
    sizes = np.array(looks)
    stderr = deviation * np.sqrt((1 - sizes / clusters) / sizes)  # 0 at the last look
    reach = stderr * scipy.special.ndtri(1 - np.array(levels(looks)) / 2)
    paths = np.pad(_paths(looks), ((0, 0), (0, 1)))
    seen = np.abs(difference + stderr * paths)
    is_decided = (seen > reach) | (seen + reach <= within)
    return float(sizes[is_decided.argmax(axis=1)].mean())
