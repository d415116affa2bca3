"""One statistic for every metric: a mean of ratios of sums, with its standard error, and the difference of two.

A metric is the mean, over strata and over the generations of an example, of ``Σ numerators / Σ denominators``: means,
shares, F1, precision, recall, macro averages and means over tasks alike. An example's *influence* is
``(numerator − ratio × denominator) / Σ denominators``, summed within clusters (the two examples of one question, the k
generations of one prompt); the variance is ``G/(G−1) Σ e²`` over the G clusters that count, those with a positive
denominator: the linearised, cluster-robust estimate (Cochran, *Sampling Techniques*, chapter 6; for evaluations Miller,
arXiv:2411.00640). For a mean of independent examples it is the harness's own standard error.

Two runs on the same examples are compared by their influences' difference (:func:`paired`): one standard error gives
the interval and, by Student's t, the p-value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.intp]
Mask = NDArray[np.bool_]

LEVEL = 0.95
FEWEST = 10
"""Clusters below which there is no interval and no t test, and informative ones below which it is said to be of few."""


# ---- the statistic


class Ratio:
    """A mean of ratios over n examples.

    Args:
        numerators: n, or n × k for k generations of each, which have a ratio of their own each.
        denominators: likewise; 0 where nothing is counted. A generation in which nothing is counted is left out.
        clusters: n numbers, equal for examples that are not independent; None if all are.
        strata: n numbers; the value is the unweighted mean of the strata's. Clusters are taken within strata.
        of_nothing: the value where nothing is counted at all.
    """

    def __init__(
        self,
        numerators: Array,
        denominators: Array,
        clusters: Codes | None = None,
        strata: Codes | None = None,
        of_nothing: float | None = None,
    ) -> None:
        self.numerators, self.denominators = (
            values[:, None] if values.ndim == 1 else values for values in (numerators, denominators)
        )
        self.of_nothing = of_nothing
        examples = np.arange(len(numerators))
        self.strata = examples * 0 if strata is None else np.unique(strata, return_inverse=True)[1]
        within = examples if clusters is None else clusters
        keys = self.strata * (int(within.max(initial=0)) + 1) + within
        _, first, self._place = np.unique(keys, return_index=True, return_inverse=True)
        self._stratum_of = self.strata[first]

    @cached_property
    def _totals(self) -> tuple[Array, Array]:
        """Sums of numerators and denominators, strata × generations; exact, so that the order does not matter."""
        number = int(self.strata.max(initial=-1)) + 1
        parts = [self.strata == stratum for stratum in range(number)] if number > 1 else [slice(None)] * number
        shape = (number, self.numerators.shape[1])
        top, bottom = (
            np.array([[math.fsum(column) for column in values[part].T.tolist()] for part in parts]).reshape(shape)
            for values in (self.numerators, self.denominators)
        )
        return top, bottom

    @cached_property
    def value(self) -> float | None:
        """The number; None where nothing is counted in one stratum of several, or in a plain mean."""
        top, bottom = self._totals
        if not (bottom > 0).any():
            return self.of_nothing
        if not (bottom > 0).any(axis=1).all():
            return None
        means = []
        for tops, bottoms in zip(top.tolist(), bottom.tolist(), strict=True):
            ratios = [own / whole for own, whole in zip(tops, bottoms, strict=True) if whole > 0]
            means.append(math.fsum(ratios) / len(ratios))
        return math.fsum(means) / len(means)

    @cached_property
    def influence(self) -> Array:
        """Each cluster's influence on the value; they sum to zero."""
        top, bottom = self._totals
        counted = bottom > 0
        safe = np.where(counted, bottom, 1.0)
        weights = counted / safe / np.maximum(counted.sum(axis=1, keepdims=True), 1) / max(len(bottom), 1)
        rows = (self.numerators - (top / safe)[self.strata] * self.denominators) * weights[self.strata]
        own = rows.sum(axis=1)
        order = np.argsort(own, kind="stable")  # of several processes as of one
        return np.bincount(self._place[order], own[order], len(self._stratum_of)).astype(float)

    @cached_property
    def counted(self) -> Mask:
        """Which clusters count."""
        return np.bincount(self._place, (self.denominators > 0).any(axis=1), len(self._stratum_of)) > 0

    @property
    def clusters(self) -> int:
        """How many clusters count."""
        return int(self.counted.sum())

    @property
    def examples(self) -> int:
        """How many examples count in them, those of k generations k times."""
        return int((self.denominators > 0).sum())

    @cached_property
    def scaled(self) -> Array | None:
        """The influences whose squares sum to the variance; None where a stratum has fewer than two clusters."""
        counts = np.bincount(self._stratum_of[self.counted], minlength=len(self._totals[0]))
        if not len(counts) or (counts < 2).any():
            return None
        return np.asarray(self.influence * np.sqrt(counts / (counts - 1))[self._stratum_of])

    @property
    def stderr(self) -> float | None:
        """Standard error; None for fewer than two clusters that count, in any stratum."""
        return None if self.scaled is None else math.sqrt(math.fsum(np.square(self.scaled).tolist()))

    @property
    def informative(self) -> float:
        """How many clusters the standard error rests on (:func:`informative_clusters`)."""
        return informative_clusters(self.influence[self.counted])

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the standard error."""
        return self.clusters - len(self._totals[0])

    @property
    def is_stratified(self) -> bool:
        """Whether it is a mean over several strata."""
        return len(self._totals[0]) > 1

    def parts(self) -> list[Ratio]:
        """The ratio of each stratum."""
        found = []
        for stratum in range(len(self._totals[0])):
            own = self.strata == stratum
            found.append(Ratio(self.numerators[own], self.denominators[own], self._place[own]))
        return found

    @property
    def groups(self) -> int:
        """How many clusters there are, counted or not."""
        return len(self._stratum_of)

    def one_more(self, unit: float) -> float:
        """The variance that one example more at ``unit`` would add, in each stratum."""
        counts = np.bincount(self.strata, self.denominators.sum(axis=1))
        return float(np.square(unit / len(counts) / counts).sum())


def informative_clusters(influence: Array) -> float:
    """How many clusters a standard error rests on: not more than there are, and 0 where all are alike.

    Twice the squared variance over the variance of its estimate, ``2 (Σ e²)² / (Σ e⁴ − (Σ e²)² / G)``: Satterthwaite's
    degrees of freedom (*Biometrics Bulletin* 1946), which are G for normal influences and few where a few clusters
    differ from all others. Of n examples of which a share p is right, it is ``2np(1 − p) / (1 − 4p(1 − p))``: some ten
    for five right or five wrong ones.

    Args:
        influence: of each cluster that counts.
    """
    squares = np.square(influence)
    variance = float(squares.sum())
    if variance <= 1e-30:
        return 0.0
    spread = float(np.square(squares - squares.mean()).sum())
    most = float(len(squares))
    return min(most, 2 * variance**2 / spread) if spread > 1e-12 * variance**2 else most


# ---- two runs on the same examples


@dataclass(frozen=True)
class Difference:
    """The second value minus the first, on the same examples.

    Attributes:
        stderr: linearised and paired.
        error: what the interval and the p-value are made of: the same, or with one example more gained and lost.
        freedom: its degrees of freedom.
        informative: how many clusters it rests on.
    """

    value: float
    stderr: float
    error: float
    freedom: int
    informative: float

    @property
    def p(self) -> float:
        """Two-sided, by Student's t."""
        from scipy.special import stdtr

        if not self.error:
            return 1.0 if self.value == 0 else 0.0
        return 2 * float(stdtr(self.freedom, -abs(self.value) / self.error))

    def interval(self, top: float | None) -> tuple[float, float]:
        """95 %, which excludes 0 where p is below 5 %; ``top`` is the largest difference that there can be."""
        from scipy.special import stdtrit

        reach = float(stdtrit(self.freedom, (1 + LEVEL) / 2)) * self.error
        most = math.inf if top is None else top
        return max(-most, self.value - reach), min(most, self.value + reach)


def paired(a: Ratio, b: Ratio, unit: float = 0.0) -> Difference | None:
    """The difference of two ratios over the same examples, clusters and strata; None where it has no standard error.

    Args:
        unit: how far one example's value may change, where the variance behind interval and p-value is to have one
            example more that is gained and one that is lost, as Bonett and Price's has: 0 of 20 is not sure.
    """
    if a.value is None or b.value is None or a.scaled is None or b.scaled is None:
        return None
    stderr = float(np.linalg.norm(b.scaled - a.scaled))
    informative = informative_clusters((b.influence - a.influence)[a.counted | b.counted])
    error = math.sqrt(stderr**2 + a.one_more(unit) + b.one_more(unit)) if unit else stderr
    return Difference(b.value - a.value, stderr, error, min(a.freedom, b.freedom), informative)


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted for the chance of any false alarm among all of them (Holm, *Scand. J. Statistics* 1979)."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted
