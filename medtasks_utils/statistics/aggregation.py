"""From the scores of examples to the one statistic (:mod:`.ratio`), for samples and for the harness.

Where a judge failed, the score of a right answer is missing while wrong answers have theirs, 0. The mean is then
accuracy × mean over the judged right answers. Its standard error is that of the mean of the pseudo-values
``m [right] + [judged] (A/J) (score − m)`` (:func:`filled`), with m the mean over the J judged of A right answers: what
linearising the product gives, and augmented inverse-probability weighting with right and wrong as classes (Robins,
Rotnitzky & Zhao, *JASA* 1994). It takes failures as unrelated to the score that would have been given.
"""

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from . import metrics
from .metrics import JudgedScore, Score, value_of
from .ratio import Array, Codes, Mask, Ratio


@dataclass(frozen=True, eq=False)
class Scores:
    """A metric's scores on n examples of up to k generations, as arrays.

    Attributes:
        numerators: n × k.
        denominators: likewise; 0 where there is no score, or a judge failed.
        right: likewise, of scores that right answers alone are judged for; 0 for others.
        clusters: n numbers.
        strata: n numbers.
        known: whether the metric applies to an example.
        computed: whether its value is known: a number, or that it does not apply.
    """

    numerators: Array
    denominators: Array
    right: Array
    clusters: Codes
    strata: Codes
    known: Mask
    computed: Mask

    @classmethod
    def of(cls, rows: Sequence[Sequence[Score]], clusters: Codes, strata: Codes) -> "Scores":
        """From the scores of each example's generations; NaN is no score."""
        lengths = np.array(list(map(len, rows)), dtype=np.intp)
        there = np.arange(lengths.max(initial=1)) < lengths[:, None]
        whole = np.zeros((4, *there.shape))
        whole[:, there] = np.array([_as_ratio(score) for row in rows for score in row], dtype=float).T
        top, bottom, right, known = whole
        return cls(top, bottom, right, clusters, strata, known.any(axis=1), lengths > 0)

    def __len__(self) -> int:
        return len(self.known)

    def __getitem__(self, index: Any) -> "Scores":
        """Some of the examples."""
        if isinstance(index, np.ndarray) and index.dtype == bool and index.all():
            return self
        return Scores(*(values[index] for values in vars(self).values()))

    @property
    def values(self) -> Array:
        """Each example's mean over its generations; NaN for none."""
        counted = self.denominators > 0
        ratios = np.divide(self.numerators, self.denominators, where=counted, out=np.zeros_like(self.numerators))
        counts = counted.sum(axis=1)
        return np.where(counts > 0, ratios.sum(axis=1) / np.maximum(counts, 1), np.nan)

    @property
    def failed(self) -> Array:
        """How many of each example's generations a judge failed on."""
        return np.asarray((self.right * (self.denominators == 0)).sum(axis=1))

    def ratio(self, how: metrics.Aggregation = "mean") -> Ratio:
        """The metric; over several tasks in as many strata, ``macro``."""
        own = self[self.known]
        top, bottom = own.numerators, own.denominators
        if own.failed.any():
            failed = own.right > bottom
            classes = own.right + (2 * own.strata[:, None] if how == "macro" else 0)
            top, bottom = filled(top, failed, classes), np.where(failed, 1.0, bottom)
            if np.isnan(top).any():
                bottom = top = np.zeros_like(top)
        clusters = own.strata if how == "by_stratum" else own.clusters
        of_nothing = 0.0 if how in ("ratio", "f1") else None
        return Ratio(top, bottom, clusters, own.strata if how == "macro" else None, of_nothing)


def _as_ratio(score: Score) -> tuple[float, float, float, float]:
    """A score's numerator and denominator, whether it is of a right answer that is judged, and whether it is known."""
    if score is None or score != score:
        return 0.0, 0.0, 0.0, 0.0
    if isinstance(score, JudgedScore):
        return (0.0, 0.0, score.right, 1.0) if score.value is None else (score.value, 1.0, score.right, 1.0)
    return (*score, 0.0, 1.0) if isinstance(score, tuple) else (score, 1.0, 0.0, 1.0)


def filled(values: Array, failed: Mask, classes: NDArray[Any]) -> Array:
    """Values without those that failed: in each class, those that stayed stand for all; NaN where none stayed.

    Their mean stands where one failed; to the others, its distance counts as often as they stand for one more.
    """
    found = values.copy()
    for one in np.unique(classes[failed]):
        members = classes == one
        staying = members & ~failed
        average = math.fsum(values[staying].tolist()) / staying.sum() if staying.any() else math.nan
        found[members] = average
        found[staying] += members.sum() / max(1, staying.sum()) * (values[staying] - average)
    return found


def codes(names: Iterable[Hashable | None]) -> Codes:
    """A number for each name, equal for equal ones; one of its own for each None."""
    keys = [("alone", place) if name is None else name for place, name in enumerate(names)]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    return np.array([numbers[key] for key in keys], dtype=np.intp)


def joined(parts: Sequence[Scores], by_part: bool = False) -> Scores:
    """The scores of several tasks; ``by_part`` each in a stratum of its own."""
    width = max(part.numerators.shape[1] for part in parts)

    def together(name: str) -> Any:
        each = [getattr(part, name) for part in parts]
        return np.concatenate([np.pad(x, ((0, 0), (0, width - x.shape[1]))) if x.ndim == 2 else x for x in each])

    part = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    found = Scores(*map(together, vars(parts[0])))
    clusters, strata = (part + len(parts) * own for own in (found.clusters, found.strata))
    return replace(found, clusters=clusters, strata=part if by_part else strata)


# ---- what the harness calls


class _NotAvailable(str):
    """Stays what it is in the sums by which the harness averages over a group's tasks; NaN would be no JSON."""

    def _itself(self, other: object) -> "_NotAvailable":
        return self

    __add__ = __radd__ = __mul__ = __rmul__ = __truediv__ = _itself


NOT_AVAILABLE = _NotAvailable("N/A")
"""What the harness prints where there is no number."""


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

    def __new__(cls, scores: Sequence[Score], cluster: str | None = None, stratum: str | None = None) -> "Example":  # noqa: D102
        values = [value for score in scores if (value := value_of(score)) is not None]
        self = super().__new__(cls, math.fsum(values) / len(values) if values else math.nan)
        self.scores, self.cluster, self.stratum = tuple(scores), cluster, stratum
        return self

    def __getnewargs__(self) -> Any:  # several processes send them to each other
        return self.scores, self.cluster, self.stratum


def combined(scores: Sequence[Score], cluster: str | None, stratum: str | None) -> Example | None:
    """An example's value of a metric: the mean over its generations; None where the metric applies to none of them."""
    return None if all(score is None for score in scores) else Example(scores, cluster, stratum)


def logged(scores: dict[str, list[Score]]) -> dict[str, list[Score]]:
    """Of a metric's scores by name, those of which a number does not say all: several, ratios, and judged ones."""
    return {name: own for name, own in scores.items() if len(own) > 1 or any(isinstance(score, tuple) for score in own)}


class Aggregate:
    """An aggregation as the harness calls it: with the examples' values, None where the metric does not apply."""

    def __init__(self, how: metrics.Aggregation) -> None:
        self.how = how

    def __call__(self, items: Iterable[float | None]) -> float | str:
        """The number; "N/A" where the metric applies to nothing, but 0 for a ratio in which nothing is counted."""
        if self.how == "total":
            return math.fsum(item for item in items if item is not None and item == item)
        value = self._ratio(items).value
        return NOT_AVAILABLE if value is None else value

    def stderr(self, items: Iterable[float | None]) -> float | str:
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
