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

import math
from collections.abc import Sequence
from functools import cached_property
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.intp]
Mask = NDArray[np.bool_]

LEVEL, POWER = 0.95, 0.8
Z = NormalDist().inv_cdf((1 + LEVEL) / 2)
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
        self.numerators, self.denominators = np.atleast_2d(numerators.T).T, np.atleast_2d(denominators.T).T
        self.of_nothing = of_nothing
        examples = np.arange(len(numerators))
        self.strata = examples * 0 if strata is None else np.unique(strata, return_inverse=True)[1]
        within = examples if clusters is None else clusters
        keys = self.strata * (int(within.max(initial=0)) + 1) + within
        _, first, self._place = np.unique(keys, return_index=True, return_inverse=True)
        self._stratum_of = self.strata[first]
        self._masks = [self.strata == stratum for stratum in range(int(self.strata.max(initial=0)) + 1)]

    @cached_property
    def _totals(self) -> tuple[Array, Array]:
        """Sums of numerators and denominators, strata × generations; exact, so that the order does not matter."""
        top, bottom = (
            np.array([[math.fsum(column) for column in values[part].T.tolist()] for part in self._masks])
            for values in (self.numerators, self.denominators)
        )
        return top, bottom

    @cached_property
    def value(self) -> float | None:
        """The number; None where nothing is counted in one stratum of several, or in a plain mean."""
        top, bottom = self._totals
        if not bottom.any():
            return self.of_nothing
        if not bottom.any(axis=1).all():
            return None
        ratios = np.divide(top, bottom, where=bottom > 0, out=np.zeros_like(top))
        means = [math.fsum(own) / counted for own, counted in zip(ratios, (bottom > 0).sum(axis=1), strict=True)]
        return float(math.fsum(means) / len(means))

    @cached_property
    def influence(self) -> Array:
        """Each cluster's influence on the value; they sum to zero."""
        top, bottom = self._totals
        safe = np.where(bottom > 0, bottom, 1.0)
        weights = (bottom > 0) / safe / np.maximum((bottom > 0).sum(axis=1, keepdims=True), 1) / len(bottom)
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
        if (counts < 2).any():
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

    def parts(self) -> "list[Ratio]":
        """The ratio of each stratum."""
        return [Ratio(self.numerators[own], self.denominators[own], self._place[own]) for own in self._masks]

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


def detectable(stderr: float, freedom: float = math.inf) -> float:
    """The smallest true difference that a t test at 5 % finds four times of five, in the unit of its standard error.

    That is where it is ``(t₀.₉₇₅ + t₀.₈) × stderr``, some 2.8 standard errors (Cohen, *Statistical Power Analysis for
    the Behavioral Sciences*, 1988; for evaluations Miller, arXiv:2411.00640, section 5).

    Args:
        stderr: of the difference.
        freedom: its degrees of freedom, one at least.
    """
    return float(sum(scipy.special.stdtrit(freedom, end) for end in ((1 + LEVEL) / 2, POWER))) * stderr


class Difference(NamedTuple):
    """The second value minus the first, on the same examples.

    Attributes:
        stderr: linearised and paired.
        low: lower end of the 95 % interval, which excludes 0 where p is below 5 %.
        high: its upper end.
        p: two-sided, by Student's t.
        detectable: the smallest true difference that is found four times of five.
        few: whether it rests on fewer than ten informative clusters.
    """

    value: float
    stderr: float
    low: float
    high: float
    p: float
    detectable: float
    few: bool


def paired(a: Ratio, b: Ratio, top: float | None = None, *, is_counted: bool = False) -> Difference | None:
    """The difference of two ratios over the same examples, clusters and strata; None where it has no standard error.

    Args:
        top: the largest value of an example, and difference that there can be; None where there is no such.
        is_counted: whether values are counts of what is right or wrong. The variance behind interval and p-value then
            has one example more that is gained and one that is lost, as Bonett and Price's has: 0 of 20 is not sure. So
            it has where all differences are alike.
    """
    if a.value is None or b.value is None or a.scaled is None or b.scaled is None:
        return None
    value = b.value - a.value
    stderr = error = float(np.linalg.norm(b.scaled - a.scaled))
    if is_counted or not stderr:
        error = math.sqrt(stderr**2 + a.one_more(top or 1.0) + b.one_more(top or 1.0))
    freedom = min(a.freedom, b.freedom)
    reach, most = float(scipy.special.stdtrit(freedom, (1 + LEVEL) / 2)) * error, top or math.inf
    return Difference(
        value,
        stderr,
        low=max(-most, value - reach),
        high=min(most, value + reach),
        p=2 * float(scipy.special.stdtr(freedom, -abs(value) / error)),
        detectable=detectable(error, freedom),
        few=informative_clusters((b.influence - a.influence)[a.counted | b.counted]) < FEWEST,
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted for the chance of any false alarm among all of them (Holm, *Scand. J. Statistics* 1979)."""
    values = np.asarray(p_values)
    order = np.argsort(values, kind="stable")
    adjusted = np.minimum(1.0, np.maximum.accumulate(np.arange(len(values), 0, -1) * values[order]))
    return [float(p) for p in adjusted[np.argsort(order)]]
