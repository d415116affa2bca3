"""Compute every metric as a mean of ratios of sums, with its standard error and the difference between two runs.

A metric is a mean of ratios ``Σ numerators / Σ denominators``, where the sums run over the generations of all examples
and the mean over strata. Means, shares, precision, recall, F1, macro averages and means over tasks all have this form.
An example's *influence* on one ratio is ``(numerator − ratio × denominator) / Σ denominators``; its influence on the
metric is the mean of these. Influences are summed within clusters, such as the two examples of one question. The
variance is ``G/(G−1) Σ e²`` over the influences e of the G contributing clusters, which have a positive denominator:
the linearised, cluster-robust estimate (Cochran, *Sampling Techniques*, chapter 6; for evaluations Miller,
arXiv:2411.00640). For a mean of independent examples, its square root is the harness's own standard error.
"""

import math
from collections.abc import Sequence
from functools import cached_property, lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import scipy

from .score_arrays import Array, Mask, MetricScores

ALPHA, POWER = 0.05, 0.8
Z = NormalDist().inv_cdf(1 - ALPHA / 2)
"""The standard normal quantile of a two-sided 95 % interval, 1.96."""

MIN_CLUSTERS = 10
"""Minimum number of contributing clusters for an interval or a t test, and of informative ones for reliable results."""


class Interval(NamedTuple):
    """The two ends of a confidence interval, in the unit of its estimate; 95 % unless another level is stated."""

    low: float
    high: float


@lru_cache(maxsize=4096)  # one takes milliseconds, and all metrics of a run have the same degrees of freedom
def student(degrees_of_freedom: float, probability: float = 1 - ALPHA / 2) -> float:
    """Return a quantile of Student's distribution, by default that of a two-sided 95 % interval."""
    return float(scipy.special.stdtrit(degrees_of_freedom, probability))


# ---- the statistic


class Ratio:
    """A mean of ratios over n examples with k generations, in S strata.

    Counts are pooled over the generations, since averaging per-generation ratios would be biased for small counts. The
    algebra, with x for numerators and w for denominators, both of shape ``(n, k)``::

        R[s]        = Σ x[i, g] / Σ w[i, g]                 sums over the generations g of the examples i of stratum s
        value       = mean of R over s
        e[i, g]     = (x[i, g] − R[s(i)] w[i, g]) / S / Σ w
        influence   = Σ e over g and the examples of a cluster              shape (G,); sums to 0
        variance    = Σ over s of G(s) / (G(s) − 1) × Σ influence²          over the G(s) contributing clusters

    Args:
        scores: the numerators, denominators, clusters and strata of the examples.
        over_strata: True for the unweighted mean over the strata, where examples of different strata are in different
            clusters; False to treat all examples as one stratum.
        empty_value: the value if all denominators are 0.
    """

    def __init__(self, scores: MetricScores, over_strata: bool = False, empty_value: float | None = None) -> None:
        self.scores = scores
        self.numerators, self.denominators = scores.numerators[..., 0], scores.denominators[..., 0]
        self.empty_value = empty_value
        self.strata = np.unique(scores.strata * over_strata, return_inverse=True)[1]
        keys = self.strata * (int(scores.clusters.max(initial=0)) + 1) + scores.clusters
        _, first, self._cluster_of = np.unique(keys, return_index=True, return_inverse=True)
        self._stratum_of = self.strata[first]
        self._masks = [self.strata == stratum for stratum in range(int(self.strata.max(initial=0)) + 1)]

    @cached_property
    def _totals(self) -> tuple[Array, Array]:
        """The sums of numerators and of denominators in each stratum; both of shape ``(S,)``.

        The sums are exact, so the order of examples does not matter.
        """
        top = [math.fsum(self.numerators[mask].ravel()) for mask in self._masks]
        bottom = [math.fsum(self.denominators[mask].ravel()) for mask in self._masks]
        return np.array(top), np.array(bottom)

    @cached_property
    def value(self) -> float | None:
        """The value; ``empty_value`` if all denominators are 0, None if those of only some strata are."""
        top, bottom = self._totals
        if not bottom.any():
            return self.empty_value
        return math.fsum(top / bottom * (1 / len(bottom))) if bottom.all() else None

    @cached_property
    def influence(self) -> Array:
        """The influence of each cluster on the value, shape ``(G,)``; the influences sum to 0."""
        top, bottom = self._totals
        safe = np.where(bottom > 0, bottom, 1.0)
        residuals = self.numerators - (top / safe)[self.strata, None] * self.denominators
        of_examples = (residuals * (1 / len(safe) / safe)[self.strata, None]).sum(axis=1)
        order = np.argsort(of_examples, kind="stable")  # the same sum for any distribution of examples over processes
        return np.bincount(self._cluster_of[order], of_examples[order], len(self._stratum_of)).astype(float)

    @cached_property
    def counted(self) -> Mask:
        """True for each contributing cluster, which has a positive denominator; shape ``(G,)``."""
        return np.bincount(self._cluster_of, self.scores.counted.any(axis=1), len(self._stratum_of)) > 0

    @property
    def clusters(self) -> int:
        """The number of contributing clusters."""
        return int(self.counted.sum())

    @property
    def examples(self) -> int:
        """The number of contributing generations; with one generation per example, the number of examples."""
        return int(self.scores.counted.sum())

    @cached_property
    def scaled_influence(self) -> Array | None:
        """The influences times ``√(G / (G − 1))`` of their stratum, shape ``(G,)``; their squares sum to the variance.

        None if a stratum has fewer than two contributing clusters.
        """
        counts = np.bincount(self._stratum_of[self.counted], minlength=len(self._masks))
        if (counts < 2).any():
            return None
        return self.influence * np.sqrt(counts / (counts - 1))[self._stratum_of]

    @property
    def stderr(self) -> float | None:
        """The standard error of the value; None if a stratum has fewer than two contributing clusters."""
        if self.scaled_influence is None:
            return None
        return math.sqrt(math.fsum(np.square(self.scaled_influence)))

    @property
    def informative_clusters(self) -> float:
        """The number of clusters on which the standard error effectively rests (:func:`informative_clusters`)."""
        return informative_clusters(self.influence[self.counted])

    @property
    def degrees_of_freedom(self) -> float:
        """The degrees of freedom of the standard error: the contributing clusters, less one for each stratum."""
        return self.clusters - len(self._masks)

    def by_stratum(self) -> "list[Ratio]":
        """Return the ratio of each stratum."""
        return [Ratio(self.scores[mask]) for mask in self._masks]

    def variance_of_one_more(self, largest: float, of_example: bool = False) -> float:
        """Return the variance that an additional generation would add to the value, on average over strata.

        ``largest`` is the distance of its score from the mean, such as 1 for a right answer of a model that is
        otherwise always wrong. With ``of_example``, an example is added, with this score in all k generations.
        """
        largest *= self.numerators.shape[1] if of_example else 1
        steps = largest / len(self._masks) / self._totals[1]
        return float(np.square(steps).mean())


def informative_clusters(influence: Array) -> float:
    """Return the number of clusters on which a standard error effectively rests, from 0 to G, the number of all.

    It is twice the squared variance divided by the variance of its estimate, ``2 (Σ e²)² / (Σ e⁴ − (Σ e²)² / G)``,
    which is Satterthwaite's number of degrees of freedom (*Biometrics Bulletin* 1946). It is about G for normally
    distributed influences, and small if only a few clusters differ from the rest. For n examples of which a share p is
    right, it is ``2np(1 − p) / (1 − 4p(1 − p))``, about ten for five right or five wrong answers. ``influence`` is that
    of each contributing cluster, shape ``(G,)``.
    """
    squares = np.square(influence)
    variance = float(squares.sum())
    if variance <= 1e-30:
        return 0.0
    spread = float(np.square(squares - squares.mean()).sum())
    return min(float(len(squares)), 2 * variance**2 / max(spread, 1e-99))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for multiple tests by Holm's method (*Scandinavian Journal of Statistics* 1979)."""
    values = np.asarray(p_values)
    order = np.argsort(values, kind="stable")
    adjusted = np.minimum(1.0, np.maximum.accumulate(np.arange(len(values), 0, -1) * values[order]))
    return list(adjusted[np.argsort(order)].tolist())
