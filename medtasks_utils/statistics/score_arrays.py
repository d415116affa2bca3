"""Store the scores of a metric on all examples as arrays, for aggregations, and impute failures of judges.

If a judge fails on some right answers, these have no score, while wrong answers always score 0. The mean is then the
accuracy times the mean over the judged right answers. Its standard error is that of the mean of the pseudo-values ``m
[right] + [judged] (A/J) (score − m)`` (:func:`fill_failures`), where m is the mean over the J judged ones among A right
answers. Linearising the product gives the same result, as does augmented inverse-probability weighting with right and
wrong as classes (Robins, Rotnitzky & Zhao, *JASA* 1994). The method assumes that failures do not depend on the score
that the judge would have given.
"""

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .scores import JudgedScore, Score, terms_of

Array = NDArray[np.float64]
Codes = NDArray[np.intp]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class MetricScores:
    """A metric's scores on n examples with up to k generations and C classes, as arrays. C is 1 for most metrics.

    Attributes:
        numerators: shape ``(n, k, C)``.
        denominators: shape ``(n, k, C)``; 0 if there is no score, or a judge failed.
        right: shape ``(n, k)``; 1 for right answers if a judge scores only right answers, else 0.
        clusters: shape ``(n,)``; equal for examples that are not independent.
        strata: shape ``(n,)``; equal for examples of the same stratum.
        applies: shape ``(n,)``; True if the metric applies to the example.
        recorded: shape ``(n,)``; True if the run recorded a score for the example, or that the metric does not apply.
    """

    numerators: Array
    denominators: Array
    right: Array
    clusters: Codes
    strata: Codes
    applies: Mask
    recorded: Mask

    @classmethod
    def of(cls, rows: Sequence[Sequence[Score]], clusters: Codes, strata: Codes) -> "MetricScores":
        """Convert scores to arrays.

        ``rows`` has the scores of each example's generations; a row is empty if the run has none. None and NaN mean
        no score. Generations of an example that has fewer than others weigh more, so that all examples weigh the same.
        """
        lengths = np.fromiter(map(len, rows), dtype=np.intp)
        exists = np.arange(lengths.max(initial=1)) < lengths[:, None]
        scores = list(chain.from_iterable(rows))
        terms_of_scores = list(map(terms_of, scores))
        classes = max([1, *map(len, terms_of_scores)])
        terms, is_right, applies = (np.zeros((*exists.shape, *more)) for more in ((classes, 2), (), ()))
        nothing = ((0.0, 0.0),) * classes
        terms[exists] = np.reshape([terms or nothing for terms in terms_of_scores], (-1, classes, 2))
        is_right[exists] = [isinstance(score, JudgedScore) and score.right for score in scores]
        applies[exists] = [score is not None and score == score for score in scores]
        terms *= (exists.shape[1] / np.maximum(lengths, 1))[:, None, None, None]  # an example counts once
        numerators, denominators = np.moveaxis(terms, -1, 0)
        return cls(numerators, denominators, is_right, clusters, strata, applies.sum(axis=1) > 0, lengths > 0)

    def __len__(self) -> int:
        return len(self.applies)

    def __getitem__(self, index: Mask | Codes | slice | list[int]) -> "MetricScores":
        """Return the scores of a subset of the examples."""
        return MetricScores(*(values[index] for values in vars(self).values()))

    @property
    def counted(self) -> Mask:
        """True for each generation with a score; shape ``(n, k)``."""
        return np.asarray((self.denominators > 0).any(axis=2))

    @property
    def values(self) -> Array:
        """The mean over generations and classes of each example, shape ``(n,)``; NaN for an example without a score."""
        ratios = np.ma.divide(self.numerators, self.denominators)  # masked where the denominator is 0
        return np.asarray(ratios.mean(axis=2).mean(axis=1).filled(np.nan))

    @property
    def failed(self) -> Mask:
        """True for each generation on which a judge failed; shape ``(n, k)``."""
        return (self.right > 0) & ~self.counted

    def applicable(self, by_stratum: bool = False) -> "MetricScores":
        """Return the scores of the examples to which the metric applies, with failures of judges imputed.

        A failure is imputed from the judged answers that are as right or wrong as its own and, with ``by_stratum``,
        in the same stratum. If there is no such answer for some failure, all denominators are 0.
        """
        scores = self[self.applies]
        failed = scores.failed
        if not failed.any():
            return scores
        classes = scores.right + (2 * scores.strata[:, None] if by_stratum else 0)
        values = fill_failures(scores.numerators[..., 0], failed, classes)[..., None]
        is_known = not np.isnan(values).any()
        denominators = np.where(failed[..., None], 1.0, scores.denominators) * is_known
        return replace(scores, numerators=np.nan_to_num(values), denominators=denominators)


def fill_failures(values: Array, failed: Mask, classes: NDArray[Any]) -> Array:
    """Impute failed values from the other values of the same class, so that mean and variance stay unbiased.

    A failed value becomes the mean of the other values of its class. The distance of each other value from this mean is
    multiplied by the number of values that it represents. All values of a class in which all failed become NaN.

    Args:
        values: the values, an array of any shape.
        failed: True for each failed value; the same shape.
        classes: equal for values that may be imputed from each other; the same shape.
    """
    result: Array = values.copy()
    for code in np.unique(classes[failed]):
        members = classes == code
        remaining = members & ~failed
        mean = math.fsum(values[remaining]) / remaining.sum() if remaining.any() else math.nan
        result[members] = mean
        result[remaining] += members.sum() / max(1, remaining.sum()) * (values[remaining] - mean)
    return result


def integer_codes(names: Iterable[Hashable | None]) -> Codes:
    """Return an integer for each name, equal for equal names; each None has a unique integer."""
    codes: dict[Hashable, int] = {}
    keys = (("alone", place) if name is None else name for place, name in enumerate(names))
    return np.array([codes.setdefault(key, len(codes)) for key in keys], dtype=np.intp)


def concatenate(tasks: Sequence[MetricScores], *, tasks_are_strata: bool = False) -> MetricScores:
    """Concatenate the scores of several tasks. Examples of different tasks are in different clusters and strata.

    With ``tasks_are_strata``, each task is one stratum, regardless of its own strata. Generations and classes that a
    task lacks are filled with zeros.
    """
    whole = MetricScores(*map(_concatenated, zip(*(vars(task).values() for task in tasks), strict=True)))
    task = np.repeat(np.arange(len(tasks)), list(map(len, tasks)))
    clusters, strata = (task + len(tasks) * codes for codes in (whole.clusters, whole.strata))
    return replace(whole, clusters=clusters, strata=task if tasks_are_strata else strata)


def _concatenated(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Concatenate arrays along the first axis; the other axes are padded with zeros."""
    most = np.max([array.shape[1:] for array in arrays], axis=0)
    padded = [np.pad(array, [(0, 0), *zip(repeat(0), most - array.shape[1:])]) for array in arrays]
    return np.concatenate(padded)
