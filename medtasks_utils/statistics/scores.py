"""The scores of a metric: what one response may be given, and the arrays that aggregations read.

Where a judge failed, the score of a right answer is missing while wrong answers have theirs, 0. The mean is then
accuracy × mean over the judged right answers. Its standard error is that of the mean of the pseudo-values
``m [right] + [judged] (A/J) (score − m)`` (:func:`filled`), with m the mean over the J judged of A right answers: what
linearising the product gives, and augmented inverse-probability weighting with right and wrong as classes (Robins,
Rotnitzky & Zhao, *JASA* 1994). It assumes that failures do not depend on the score that would have been given.
"""

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .ratio import Array, Codes, Mask

# ---- one response


class JudgedScore(NamedTuple):
    """A score that only right answers are judged for: a wrong one's is 0, and None stands for a judge that failed."""

    right: bool
    value: float | None


class ClassTerms(tuple[tuple[float, float], ...]):
    """The terms of every class's F1 in one response: a pair ``(2 × true positive, predicted + actual)`` for each class.

    ``Σ 2 TP / Σ (predicted + actual)`` over responses is the F1 of the class.
    """

    @classmethod
    def of(cls, truth: Hashable, answer: Hashable | None, classes: Iterable[Hashable]) -> "ClassTerms":
        """Return the terms of a response.

        Args:
            truth: the right class.
            answer: the predicted class; None where no answer was found, which predicts no class.
            classes: all classes, in an order that is the same for all examples of a benchmark.
        """
        return cls((2.0 * (truth == answer == name), float((truth == name) + (answer == name))) for name in classes)


Score = float | tuple[float, float] | JudgedScore | ClassTerms | None
"""A metric's score of one response: a number; a numerator and a denominator; such a pair for each class; the score of
a judge; or None where the metric does not apply."""


def value_of(score: Score) -> float | None:
    """Return a score as one number; None where there is none."""
    if isinstance(score, JudgedScore):
        return score.value
    if isinstance(score, ClassTerms):
        ratios = [top / bottom for top, bottom in score if bottom]
        return math.fsum(ratios) / len(ratios) if ratios else None
    if isinstance(score, tuple):
        return score[0] / score[1] if score[1] else None
    return score


def logged(scores: dict[str, list[Score]]) -> dict[str, list[Score]]:
    """Return the metrics whose scores the sample's one number does not tell: several, judged, or made of terms."""
    return {name: own for name, own in scores.items() if len(own) > 1 or any(isinstance(score, tuple) for score in own)}


# ---- all examples


@dataclass(frozen=True, eq=False)
class MetricScores:
    """A metric's scores on n examples of up to k generations, as arrays; c is 1, or the number of classes.

    Attributes:
        numerators: shape ``(n, k, c)``.
        denominators: shape ``(n, k, c)``; 0 where there is no score, or a judge failed.
        right: shape ``(n, k)``; 1 for right answers of a metric that judges right answers alone, else 0.
        clusters: shape ``(n,)``; equal for examples that are not independent.
        strata: shape ``(n,)``; equal for examples of one stratum.
        known: shape ``(n,)``; whether the metric applies to an example.
        computed: shape ``(n,)``; whether the run tells the example's score, or that the metric does not apply to it.
    """

    numerators: Array
    denominators: Array
    right: Array
    clusters: Codes
    strata: Codes
    known: Mask
    computed: Mask

    @classmethod
    def of(cls, rows: Sequence[Sequence[Score]], clusters: Codes, strata: Codes) -> "MetricScores":
        """Return the arrays of the scores of each example's generations; NaN counts as no score."""
        lengths = np.array(list(map(len, rows)), dtype=np.intp)
        exists = np.arange(lengths.max(initial=1)) < lengths[:, None]
        scores: list[Any] = [score for row in rows for score in row]
        classes = max((len(score) for score in scores if isinstance(score, ClassTerms)), default=0)
        terms = np.zeros((4, *exists.shape, classes or 1))
        if classes:
            nothing = ((0.0, 0.0),) * classes
            pairs = np.array([score or nothing for score in scores], dtype=float)  # (scores, classes, 2)
            terms[:2, exists] = np.moveaxis(pairs, -1, 0)
            terms[3, exists] = np.array([[score is not None] for score in scores])
        else:
            terms[:, exists, 0] = np.array([_terms_of(score) for score in scores], dtype=float).T
        numerators, denominators, right, known = terms
        return cls(numerators, denominators, right[..., 0], clusters, strata, known.any(axis=(1, 2)), lengths > 0)

    def __len__(self) -> int:
        return len(self.known)

    def __getitem__(self, index: Any) -> "MetricScores":
        """Return the scores of some of the examples."""
        if isinstance(index, np.ndarray) and index.dtype == bool and index.all():
            return self
        return MetricScores(*(values[index] for values in vars(self).values()))

    @property
    def counted(self) -> Mask:
        """Which generations have a score; shape ``(n, k)``."""
        return np.asarray((self.denominators > 0).any(axis=2))

    @property
    def values(self) -> Array:
        """Each example's mean over its generations, of the mean over the classes; NaN for none; shape ``(n,)``."""
        in_class = self.denominators > 0
        ratios = np.divide(self.numerators, self.denominators, where=in_class, out=np.zeros_like(self.numerators))
        of_generation = ratios.sum(axis=2) / np.maximum(in_class.sum(axis=2), 1)
        counts = in_class.any(axis=2).sum(axis=1)
        return np.where(counts > 0, of_generation.sum(axis=1) / np.maximum(counts, 1), np.nan)

    @property
    def failed(self) -> Array:
        """How many of each example's generations a judge failed on; shape ``(n,)``."""
        return np.asarray((self.right * ~self.counted).sum(axis=1))

    def known_and_filled(self, by_stratum: bool = False) -> "MetricScores":
        """Return the scores of the examples that the metric applies to, without judges' failures (:func:`filled`).

        Args:
            by_stratum: whether the judged answers of a stratum stand for those of that stratum alone.

        Returns:
            Scores of which none counts where a judge gave no score to any right answer, in some stratum.
        """
        own = self[self.known]
        if not own.failed.any():
            return own
        failed = (own.right > 0) & ~own.counted
        right_or_wrong = own.right + (2 * own.strata[:, None] if by_stratum else 0)
        values = filled(own.numerators[..., 0], failed, right_or_wrong)[..., None]
        if np.isnan(values).any():
            return replace(own, numerators=np.zeros_like(values), denominators=np.zeros_like(values))
        return replace(own, numerators=values, denominators=np.where(failed[..., None], 1.0, own.denominators))


def _terms_of(score: float | tuple[float, float] | JudgedScore | None) -> tuple[float, float, float, float]:
    """Return numerator, denominator, whether the score is of a right answer that is judged, and whether it is known."""
    if score is None or score != score:
        return 0.0, 0.0, 0.0, 0.0
    if isinstance(score, JudgedScore):
        return (0.0, 0.0, score.right, 1.0) if score.value is None else (score.value, 1.0, score.right, 1.0)
    return (*score, 0.0, 1.0) if isinstance(score, tuple) else (score, 1.0, 0.0, 1.0)


def filled(values: Array, failed: Mask, classes: NDArray[Any]) -> Array:
    """Return the values with those that failed replaced: in each class, those that stayed stand for all.

    A failed value becomes the mean of those that stayed; their distances from that mean are scaled up by how many
    values each of them stands for.

    Args:
        values: any shape.
        failed: same shape.
        classes: same shape; equal for values that may stand for each other.

    Returns:
        NaN for a class in which no value stayed.
    """
    result = values.copy()
    for name in np.unique(classes[failed]):
        members = classes == name
        staying = members & ~failed
        average = math.fsum(values[staying].tolist()) / staying.sum() if staying.any() else math.nan
        result[members] = average
        result[staying] += members.sum() / max(1, staying.sum()) * (values[staying] - average)
    return result


def codes(names: Iterable[Hashable | None]) -> Codes:
    """Return a number for each name, equal for equal names; each None gets a number of its own."""
    keys = [("alone", place) if name is None else name for place, name in enumerate(names)]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    return np.array([numbers[key] for key in keys], dtype=np.intp)


def joined(parts: Sequence[MetricScores], by_part: bool = False) -> MetricScores:
    """Return the scores of several tasks as one; with ``by_part`` each task is a stratum."""
    generations, classes = (max(part.numerators.shape[axis] for part in parts) for axis in (1, 2))

    def padded(array: NDArray[Any]) -> NDArray[Any]:
        full = (len(array), generations, classes)[: array.ndim]
        return np.pad(array, [(0, width - size) for width, size in zip(full, array.shape, strict=True)])

    def concatenated(name: str) -> Any:
        return np.concatenate([padded(getattr(part, name)) for part in parts])

    part = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    whole = MetricScores(*map(concatenated, vars(parts[0])))
    clusters, strata = (part + len(parts) * numbers for numbers in (whole.clusters, whole.strata))
    return replace(whole, clusters=clusters, strata=part if by_part else strata)
