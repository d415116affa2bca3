"""One statistic for every metric: a mean of ratios of sums, with its standard error, and the difference of two.

A metric is the mean, over strata and over the generations of an example, of ``Σ numerators / Σ denominators``: means,
shares, F1, precision, recall, macro averages and means over tasks alike. An example's *influence* is
``(numerator − ratio × denominator) / Σ denominators``, summed within clusters (the two examples of one question, the k
generations of one prompt); the variance is ``G/(G−1) Σ e²`` over the G clusters that count, those with a positive
denominator: the linearised, cluster-robust estimate (Cochran, *Sampling Techniques*, chapter 6; for evaluations Miller,
arXiv:2411.00640). For a mean of independent examples it is the harness's own standard error to the last digit.

Where a judge failed, the score of a right answer is missing while wrong answers have theirs, 0. The mean is then
accuracy × mean over the judged right answers. Its standard error is that of the mean of the pseudo-values
``m [right] + [judged] (A/J) (score − m)``, with m the mean over the J judged of A right answers: what linearising the
product gives, and augmented inverse-probability weighting with right and wrong as classes (Robins, Rotnitzky & Zhao,
*JASA* 1994). It takes failures as unrelated to the score that would have been given.

Two runs on the same examples are compared by their influences' difference (:func:`paired`): one standard error gives
the interval and, by Student's t, the p-value.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from medtasks_utils import metrics
from medtasks_utils.metrics import JudgedScore, Score

Array = NDArray[np.float64]
Codes = NDArray[np.intp]
Mask = NDArray[np.bool_]

LEVEL = 0.95
FEWEST = 10
"""Clusters below which there is no interval and no t test, and informative ones below which it is said to be of few."""


class _NotAvailable(str):
    """Stays what it is in the sums by which the harness averages over a group's tasks; NaN would be no JSON."""

    def _itself(self, other: object) -> _NotAvailable:
        return self

    __add__ = __radd__ = __mul__ = __rmul__ = __truediv__ = _itself


NotAvailable = Literal["N/A"]
NOT_AVAILABLE: NotAvailable = _NotAvailable("N/A")  # type: ignore[assignment]
"""What the harness prints where there is no number."""


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


# ---- scores of examples


@dataclass(frozen=True, eq=False)
class Scores:
    """A metric's scores on n examples of up to k generations, as arrays.

    Attributes:
        numerators: n × k.
        denominators: likewise; 0 where there is no score, or a judge failed.
        clusters: n numbers.
        strata: n numbers.
        known: whether the metric applies to an example.
        computed: whether its value is known: a number, or that it does not apply.
        right: n × k, of scores that right answers alone are judged for; None for others.
    """

    numerators: Array
    denominators: Array
    clusters: Codes
    strata: Codes
    known: Mask
    computed: Mask
    right: Array | None = None

    @classmethod
    def of(cls, rows: Sequence[Sequence[Score]], clusters: Codes, strata: Codes) -> Scores:
        """From the scores of each example's generations; NaN is no score."""
        shape = (len(rows), max(map(len, rows), default=1) or 1)
        top, bottom, right = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        known = np.zeros(len(rows), dtype=bool)
        is_judged = False
        for i, row in enumerate(rows):
            for j, score in enumerate(row):
                if score is None or score != score:
                    continue
                known[i] = True
                if isinstance(score, JudgedScore):
                    is_judged, right[i, j] = True, score.right
                    top[i, j], bottom[i, j] = (0.0, 0.0) if score.value is None else (score.value, 1.0)
                else:
                    top[i, j], bottom[i, j] = score if isinstance(score, tuple) else (score, 1.0)
        computed = np.array([len(row) > 0 for row in rows], dtype=bool)
        return cls(top, bottom, clusters, strata, known, computed, right if is_judged else None)

    def __len__(self) -> int:
        return len(self.known)

    def __getitem__(self, index: Any) -> Scores:
        """Some of the examples."""
        right = None if self.right is None else self.right[index]
        return Scores(
            self.numerators[index],
            self.denominators[index],
            self.clusters[index],
            self.strata[index],
            self.known[index],
            self.computed[index],
            right,
        )

    @property
    def values(self) -> Array:
        """Each example's mean over its generations; NaN for none."""
        counts = (self.denominators > 0).sum(axis=1)
        ratios = np.divide(self.numerators, self.denominators, where=self.denominators > 0, out=self.numerators * 0)
        return np.asarray(np.where(counts > 0, ratios.sum(axis=1) / np.maximum(counts, 1), np.nan))

    @property
    def failed(self) -> Array:
        """How many of each example's generations a judge failed on."""
        no_right = np.zeros(len(self))
        return no_right if self.right is None else (self.right * (self.denominators == 0)).sum(axis=1)

    def ratio(self, how: metrics.Aggregation = "mean") -> Ratio:
        """The metric; over several tasks in as many strata, ``macro``."""
        own = self[self.known]
        top, bottom = own.numerators, own.denominators
        if own.failed.any():
            classes = own.strata if how == "macro" else own.strata * 0
            top, bottom = _pseudo_values(own, classes)
        clusters = own.strata if how == "by_stratum" else own.clusters
        of_nothing = 0.0 if how in ("ratio", "f1") else None
        return Ratio(top, bottom, clusters, own.strata if how == "macro" else None, of_nothing)


def _pseudo_values(own: Scores, classes: Codes) -> tuple[Array, Array]:
    """Numerators and denominators of the mean where a judge failed; nothing in a class where none was judged."""
    assert own.right is not None
    totals, right, failed = own.numerators.sum(axis=1), own.right.sum(axis=1), own.failed
    top, bottom = totals.copy(), (own.denominators > 0).sum(axis=1) + failed
    for one in np.unique(classes[failed > 0]):
        members = classes == one
        judged = float((right - failed)[members].sum())
        if not judged:
            bottom[members] = 0
            continue
        of_judged = math.fsum(totals[members].tolist()) / judged
        weight = float(right[members].sum()) / judged
        top[members] = (right * of_judged + weight * (totals - (right - failed) * of_judged))[members]
    return top, bottom


def codes(names: Iterable[Hashable | None]) -> Codes:
    """A number for each name, equal for equal ones; one of its own for each None."""
    numbers: dict[Hashable, int] = {}
    keys = (("alone", place) if name is None else name for place, name in enumerate(names))
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.intp)


def joined(parts: Sequence[Scores], by_part: bool = False) -> Scores:
    """The scores of several tasks; ``by_part`` each in a stratum of its own."""
    width = max(part.numerators.shape[1] for part in parts)

    def wide(values: Array) -> Array:
        return np.pad(values, ((0, 0), (0, width - values.shape[1])))

    def apart(each: list[Codes]) -> Codes:
        ends = np.cumsum([0, *(int(own.max(initial=-1)) + 1 for own in each)])
        return np.concatenate([own + start for own, start in zip(each, ends, strict=False)])

    is_judged = any(part.right is not None for part in parts)
    strata = [part.strata * 0 if by_part else part.strata for part in parts]
    return Scores(
        np.vstack([wide(part.numerators) for part in parts]),
        np.vstack([wide(part.denominators) for part in parts]),
        apart([part.clusters for part in parts]),
        apart(strata),
        np.concatenate([part.known for part in parts]),
        np.concatenate([part.computed for part in parts]),
        np.vstack([wide(part.numerators * 0 if part.right is None else part.right) for part in parts])
        if is_judged
        else None,
    )


# ---- what the harness calls


class Example(float):
    """A metric's scores on one example, with what its aggregation needs to know beside them.

    A float for whoever reads the logged samples: the mean over the generations, NaN where none has a value.

    Attributes:
        scores: of each generation.
        cluster: examples that share it are not independent; None if this one stands alone.
        stratum: the group whose mean enters a macro average.
    """

    scores: tuple[Score, ...]
    cluster: str | None
    stratum: str | None

    def __new__(cls, scores: Sequence[Score], cluster: str | None = None, stratum: str | None = None) -> Example:  # noqa: D102
        values = [value for score in scores if (value := value_of(score)) is not None]
        self = super().__new__(cls, math.fsum(values) / len(values) if values else math.nan)
        self.scores, self.cluster, self.stratum = tuple(scores), cluster, stratum
        return self

    def __getnewargs__(self) -> Any:  # several processes send them to each other
        return self.scores, self.cluster, self.stratum


def value_of(score: Score) -> float | None:
    """A score as one number; None where there is none."""
    if isinstance(score, JudgedScore):
        return score.value
    if isinstance(score, tuple):
        return score[0] / score[1] if score[1] else None
    return score


class Aggregate:
    """An aggregation as the harness calls it: with the examples' values, None where the metric does not apply."""

    def __init__(self, how: metrics.Aggregation) -> None:
        self.how = how

    def __call__(self, items: Iterable[float | None]) -> float | NotAvailable:
        """The number; "N/A" where the metric applies to nothing, but 0 for a ratio in which nothing is counted."""
        if self.how == "total":
            return math.fsum(item for item in items if item is not None and item == item)
        value = self._ratio(items).value
        return NOT_AVAILABLE if value is None else value

    def stderr(self, items: Iterable[float | None]) -> float | NotAvailable:
        """Its standard error; "N/A" for fewer than two clusters that count."""
        found = None if self.how == "total" else self._ratio(items).stderr
        return NOT_AVAILABLE if found is None else found

    def _ratio(self, items: Iterable[float | None]) -> Ratio:
        there = [item if isinstance(item, Example) else Example([item]) for item in items if item is not None]
        clusters, strata = codes(item.cluster for item in there), codes(item.stratum or "" for item in there)
        return Scores.of([item.scores for item in there], clusters, strata).ratio(self.how)

    def __repr__(self) -> str:
        return self.how


AGGREGATES: dict[metrics.Aggregation, Aggregate] = {how: Aggregate(how) for how in get_args(metrics.Aggregation)}
"""By name, as metrics say it."""
