"""One statistic for every metric: a mean of ratios of sums, with its standard error, and the difference of two.

A metric is a mean of ratios ``Σ numerators / Σ denominators``, where the sums run over examples and the mean over
strata, the generations of an example and classes. Means, shares, precision, recall, F1, macro-F1, macro averages and
means over tasks all have this form. An example's *influence* on one ratio is
``(numerator − ratio × denominator) / Σ denominators``; its influence on the metric is the mean of these. Influences are
summed within clusters (the two examples of one question). The variance is ``G/(G−1) Σ e²`` over the G clusters that
count, those with a positive denominator: the linearised, cluster-robust estimate (Cochran, *Sampling Techniques*,
chapter 6; for evaluations Miller, arXiv:2411.00640). For a mean of independent examples it is the harness's own
standard error.

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
    """A mean of ratios over n examples of k generations, in c classes and S strata.

    The algebra, with x for numerators and w for denominators, both of shape ``(n, k, c)``::

        R[s, g, c]  = Σ x[i, g, c] / Σ w[i, g, c]           sums over the examples i of stratum s
        value       = mean over s of mean over g of mean over c of R        where Σ w > 0
        e[i, g, c]  = (x[i, g, c] − R[s(i), g, c] w[i, g, c]) × weight of R in value / Σ w
        influence   = Σ e over g, c and the examples of a cluster           shape (G,); sums to 0
        variance    = Σ over s of G(s) / (G(s) − 1) × Σ influence²          over the G(s) clusters that count

    Args:
        numerators: shape ``(n,)``, ``(n, k)`` or ``(n, k, c)``; each generation and class has a ratio of its own.
        denominators: same shape; 0 where nothing is counted. A ratio in which nothing is counted is left out.
        clusters: shape ``(n,)``, equal for examples that are not independent; None if all are.
        strata: shape ``(n,)``; the value is the unweighted mean over the strata, and clusters lie within strata.
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
        self.numerators, self.denominators = (x.reshape((*x.shape, 1, 1)[:3]) for x in (numerators, denominators))
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
        """Sums of numerators and denominators, shape ``(S, k, c)``; exact, so that the order does not matter."""
        n, *columns = self.numerators.shape

        def sums(values: Array) -> Array:
            flat = values.reshape(n, math.prod(columns))
            of_strata = [list(map(math.fsum, flat[mask].T.tolist())) for mask in self._masks]
            return np.array(of_strata).reshape(-1, *columns)

        return sums(self.numerators), sums(self.denominators)

    @cached_property
    def value(self) -> float | None:
        """The number; None where nothing is counted in one stratum of several, or in a plain mean."""
        top, bottom = self._totals
        counted = bottom > 0
        if not counted.any():
            return self.of_nothing
        if not counted.any(axis=(1, 2)).all():
            return None
        ratios = np.divide(top, bottom, where=counted, out=np.zeros_like(top))
        of_generations = ratios.sum(axis=2) / np.maximum(counted.sum(axis=2), 1)
        generations = counted.any(axis=2).sum(axis=1)
        of_strata = [math.fsum(values) / number for values, number in zip(of_generations, generations, strict=True)]
        return float(math.fsum(of_strata) / len(of_strata))

    @cached_property
    def influence(self) -> Array:
        """Each cluster's influence on the value, shape ``(G,)``; they sum to zero."""
        top, bottom = self._totals
        counted = bottom > 0
        safe = np.where(counted, bottom, 1.0)
        classes = np.maximum(counted.sum(axis=2, keepdims=True), 1)
        generations = np.maximum(counted.any(axis=2).sum(axis=1), 1)[:, None, None]
        weights = counted / safe / generations / classes / len(bottom)
        rows = (self.numerators - (top / safe)[self.strata] * self.denominators) * weights[self.strata]
        own = rows.sum(axis=2).sum(axis=1)
        order = np.argsort(own, kind="stable")  # of several processes as of one
        return np.bincount(self._place[order], own[order], len(self._stratum_of)).astype(float)

    @cached_property
    def counted(self) -> Mask:
        """Which clusters count, shape ``(G,)``."""
        return np.bincount(self._place, (self.denominators > 0).any(axis=(1, 2)), len(self._stratum_of)) > 0

    @property
    def clusters(self) -> int:
        """How many clusters count."""
        return int(self.counted.sum())

    @property
    def examples(self) -> int:
        """How many examples count in them, those of k generations k times."""
        return int((self.denominators > 0).any(axis=2).sum())

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
        """How many clusters the standard error rests on (:func:`informative_clusters`); of classes, the fewest."""
        classes = self.numerators.shape[2]
        if classes == 1:
            return informative_clusters(self.influence[self.counted])
        counted = np.flatnonzero(self._totals[1].any(axis=(0, 1)))
        return min((self._of_class(place).informative for place in counted.tolist()), default=0.0)

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the standard error."""
        return self.clusters - len(self._totals[0])

    def _of_class(self, place: int) -> "Ratio":
        only = np.s_[:, :, place : place + 1]
        return Ratio(self.numerators[only], self.denominators[only], self._place, self.strata)

    def parts(self) -> "list[Ratio]":
        """The ratio of each stratum."""
        return [Ratio(self.numerators[own], self.denominators[own], self._place[own]) for own in self._masks]

    def one_more(self, unit: float) -> float:
        """The variance that one example more at ``unit`` would add, in each stratum; the mean over its classes."""
        totals = self._totals[1].sum(axis=1)  # (S, c)
        classes = (totals > 0).sum(axis=1, keepdims=True)
        steps = np.divide(unit / len(totals) / classes, totals, where=totals > 0, out=np.zeros_like(totals))
        return float((np.square(steps).sum(axis=1) / classes[:, 0]).sum())


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
