"""How far judges agree: Krippendorff's alpha for interval data, with a bootstrap interval.

Alpha is ``1 − D_o / D_e``: the mean squared difference between ratings of the same example, over that between ratings
of any examples (Krippendorff, *Content Analysis*, chapter 12; Hayes & Krippendorff 2007). 1 is perfect agreement, 0 is
what chance gives, and below 0 is worse than chance. It takes any number of ratings an example and any that are missing.

The mean of squared differences follows from sums of ratings and of their squares, which takes linear time. The package
``krippendorff``, with which the tests compare it, builds an array of examples × values × values: 23 GB for 900 examples
on a continuous scale.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 1000
_SEED = 0

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Agreement:
    """Agreement over examples that were rated at least twice.

    Attributes:
        alpha: None where it is undefined.
        low: 2.5th percentile over bootstrap resamples of the examples; None where there is no interval.
        high: 97.5th percentile.
        examples: how many were rated at least twice.
        note: why there is no alpha, else empty.
    """

    alpha: float | None
    low: float | None
    high: float | None
    examples: int
    note: str = ""


def agree(ratings: Sequence[Sequence[float]], clusters: Sequence[Hashable] | None = None) -> Agreement:
    """Krippendorff's alpha over examples with any number of ratings each.

    Args:
        ratings: for each example its ratings; examples with fewer than two say nothing of agreement and are left out.
        clusters: for each example what it shares with those that are not independent of it; resampled together.
    """
    clusters = range(len(ratings)) if clusters is None else clusters
    kept = [(values, cluster) for values, cluster in zip(ratings, clusters, strict=True) if len(values) > 1]
    if len(kept) < 2:
        return Agreement(None, None, None, len(kept), "fewer than 2 examples were rated twice")
    everything = [value for values, _ in kept for value in values]
    if min(everything) == max(everything):
        return Agreement(None, None, None, len(kept), "all ratings are the same, so agreement by chance is certain")
    centre = float(np.mean(everything))
    sums = np.array([_sums(np.asarray(values) - centre) for values, _ in kept])
    alpha = float(_alpha(sums.sum(axis=0)))
    low, high = _interval(sums, [cluster for _, cluster in kept])
    return Agreement(alpha, low, high, len(kept))


def _sums(values: Array) -> Array:
    """What alpha needs of one example: the ratings' number, sum and sum of squares, and their disagreement."""
    number, total, squares = len(values), values.sum(), (values**2).sum()
    within = ((values[:, None] - values[None, :]) ** 2).sum() / (number - 1)
    return np.array([number, total, squares, within])


def _alpha(sums: Array) -> Array:
    """Alpha from the sums over all examples, in the last axis; NaN where all ratings are the same."""
    number, total, squares, within = np.moveaxis(sums, -1, 0)
    observed = within / number
    expected = 2 * (number * squares - total**2) / (number * (number - 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > 1e-9 * squares / number, 1 - observed / expected, np.nan)


def _interval(sums: Array, clusters: Sequence[Hashable]) -> tuple[float | None, float | None]:
    """The 95 % percentile interval over resamples of clusters."""
    order = {cluster: index for index, cluster in enumerate(dict.fromkeys(clusters))}
    if len(order) < 2:
        return None, None
    by_cluster = np.zeros((len(order), sums.shape[1]))
    np.add.at(by_cluster, [order[cluster] for cluster in clusters], sums)
    draw = np.random.default_rng(_SEED)
    resampled = [by_cluster[draw.integers(len(order), size=len(order))].sum(axis=0) for _ in range(RESAMPLES)]
    alphas = _alpha(np.array(resampled))
    alphas = alphas[~np.isnan(alphas)]
    if not len(alphas):
        return None, None
    low, high = np.percentile(alphas, [2.5, 97.5])
    return float(low), float(high)
