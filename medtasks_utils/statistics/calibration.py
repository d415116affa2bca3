"""Aggregate confidences: does confidence match accuracy, and is it lower where the model is wrong?

With the confidence ``c`` of an answer, 0 to 1, and ``y``, 1 if it is right (a share for a tie of a vote):

================  ====================================================================================================
``ece``           ``Σ |mean y − mean c|`` over bins of equal size, weighted by size. Noise alone makes it positive; its
                  mean is subtracted as by Kumar, Liang & Ma (*NeurIPS* 2019, appendix), in closed form
reliability,      Murphy's parts of the Brier score (*Journal of Applied Meteorology* 1973): ``Brier = reliability −
resolution,       resolution + uncertainty`` up to variation within bins. They are ``Σ (mean y − mean c)²`` and
uncertainty       ``Σ (mean y − acc)²`` over the bins, and ``acc (1 − acc)``, each without the bias from the variance of
                  the means (Bröcker, *Climate Dynamics* 2012; the first is Kumar's squared error)
``auroc``         the probability that a right answer has a higher confidence than a wrong one, ties counting one half;
                  its error is DeLong's (*Biometrics* 1988)
``aurc``          the area under the risk–coverage curve: the mean, over all k, of the share of wrong answers among the
                  k most confident ones (Geifman & El-Yaniv, *NeurIPS* 2017)
``e_aurc``        ``aurc`` minus that of an ideal ranking, right answers first (Geifman et al., *ICLR* 2019)
``acc@80``        accuracy on the 80 % most confident answers
================  ====================================================================================================

Each is the mean of *pseudo-values*: for each answer, the statistic plus the answer's influence on it. To first order,
the standard error of this mean is that of the statistic. So clusters, strata and comparisons are treated as for any
mean (:class:`~.ratio.Ratio`). Answers of equal confidence are in the same bin, and on average in random order.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import erf

from .ratio import Ratio
from .score_arrays import Array, Codes, MetricScores

BINS, BIN_SIZE = 10, 10
"""The largest number of bins, and the smallest mean size of a bin."""

COVERAGE = 0.8
"""The share of the most confident answers that ``acc@80`` covers."""


class Confidences(NamedTuple):
    """The confidences of n answers, from 0 to 1, with their correctness and clusters; each of shape ``(n,)``.

    An answer is right (1) or wrong (0); values in between are for tied votes.
    """

    right: Array
    confidence: Array
    cluster: Codes

    @classmethod
    def of(cls, scores: MetricScores) -> "Confidences":
        """Collect the confidences of all generations that have a score."""
        counted = scores.counted
        right, confidence = scores.numerators[counted].T
        return cls(right, confidence, np.repeat(scores.clusters, counted.sum(axis=1)))


# ---- bins


class Bins(NamedTuple):
    """The division of n answers into bins, with statistics of the answers in each bin.

    Attributes:
        of: the bin of each answer, shape ``(n,)``.
        size: the number of answers in each bin.
        mean: the mean, in each bin, of the values that were given to :func:`binned`.
        error: the standard error of each mean.
    """

    of: Codes
    size: Codes
    mean: Array
    error: Array


def binned(given: Confidences, values: Array) -> Bins:
    """Divide answers into bins by their confidence; compute the means of their values, with clustered standard errors.

    There are at most ``BINS`` bins, of about equal size; answers of equal confidence share a bin.
    """
    of, size = np.unique(given.confidence, return_inverse=True, return_counts=True)[1:]
    number = max(1, min(BINS, len(values) // BIN_SIZE))
    if len(size) > number:
        middle = (size.cumsum() - size / 2) / len(values)
        of = np.unique((number * middle).astype(int)[of], return_inverse=True)[1]
    size = np.bincount(of)
    mean = np.bincount(of, values) / size
    keys, part = np.unique([of, given.cluster], axis=1, return_inverse=True)
    squares = np.bincount(part.ravel(), values - mean[of]) ** 2
    clusters = np.bincount(keys[0])
    variance = np.bincount(keys[0], squares) * clusters / np.maximum(clusters - 1, 1)
    return Bins(of, size, mean, np.sqrt(variance) / size)


def _ece(given: Confidences) -> Array:
    """Return pseudo-values of the mean absolute gap between accuracy and confidence in the bins.

    The mean gap under noise alone is subtracted. The mean of the pseudo-values is at least 0.
    """
    values = given.right - given.confidence
    of, _, gap, error = binned(given, values)
    ratio = gap / np.maximum(error, 1e-12)
    normal = erf(ratio / math.sqrt(2))
    noisy = gap * normal + error * math.sqrt(2 / math.pi) * np.exp(-(ratio**2) / 2)
    slope = np.copysign(2, gap) - normal
    result: Array = (2 * np.abs(gap) - noisy - slope * gap)[of] + slope[of] * values
    return result + max(0.0, -float(result.mean()))


def _squared(given: Confidences, values: Array, is_centred: bool = False) -> Array:
    """Return pseudo-values of the mean squared bin mean of ``values``, less the variance of the bin means.

    ``is_centred`` is True if the overall mean was subtracted from the values.
    """
    of, size, mean, error = binned(given, values)
    slope = 2 * np.copysign(np.hypot(mean, error / math.sqrt(2)), mean)
    noise = error**2 * (1 - is_centred * size / len(values))
    return np.asarray((mean**2 - noise - slope * mean)[of] + slope[of] * values)


# ---- ranks


def _auroc(given: Confidences) -> Array:
    """Return pseudo-values of the AUROC; NaN if all answers are right, or all wrong."""
    group = np.unique(given.confidence, return_inverse=True)[1]
    right, share = given.right, given.right.mean()
    if not 0 < share < 1:
        return np.full(len(right), np.nan)

    def below(weights: Array) -> Array:
        """Return, for each answer, the share of weight on less confident answers, plus half of that on equal ones."""
        sums = np.bincount(group, weights)
        return np.asarray(((sums.cumsum() - sums / 2) / sums.sum())[group])

    of_right = right / share * below(1 - right)
    area = of_right.mean()
    return np.asarray(of_right + (1 - right) / (1 - share) * (1 - below(right) - area) + area * (1 - right / share))


def ranked(given: Confidences) -> tuple[Codes, Codes, Array]:
    """Rank answers by descending confidence.

    Returns:
        The index of each answer's confidence among the distinct ones, shape ``(n,)``; the number of answers of each
        distinct confidence; and by rank, shape ``(n,)``, the share of right answers at the confidence of this rank.
    """
    group, size = np.unique(-given.confidence, return_inverse=True, return_counts=True)[1:]
    return group, size, np.repeat(np.bincount(group, given.right) / size, size)


def risks(given: Confidences) -> Array:
    """Return the share of wrong answers among the k most confident ones, for all k from 1 to n."""
    right = ranked(given)[2]
    return np.asarray(1 - right.cumsum() / np.arange(1, len(right) + 1))


def _aurc(given: Confidences) -> Array:
    """Return each answer's pseudo-value of the area under the risk–coverage curve, the mean of :func:`risks`."""
    group, size, right = ranked(given)
    rank = np.arange(1, len(right) + 1)

    def from_rank(terms: Any) -> Any:
        """Return, for each answer, the sum of the terms from its rank on, averaged over the ranks of its confidence."""
        return (np.add.reduceat(terms[::-1].cumsum()[::-1], size.cumsum() - size) / size)[group]

    return np.asarray((1 - given.right) * from_rank(1 / rank) - from_rank((1 - right) / rank) + 1 - right.mean())


def _acc_of_surest(given: Confidences) -> Array:
    group, size, right = ranked(given)
    last, near = COVERAGE * len(right), math.sqrt(len(right))
    is_in = np.clip((last - size.cumsum() + size) / size, 0, 1)[group]
    at_edge = right[int(max(0, last - near)) : int(last + near) + 1].mean()
    return np.asarray(is_in * (given.right - at_edge) / COVERAGE + at_edge)


PSEUDO_VALUES: dict[str, Callable[[Confidences], Array]] = {
    "ece": _ece,
    "reliability": lambda given: _squared(given, given.right - given.confidence),
    "resolution": lambda given: _squared(given, given.right - given.right.mean(), is_centred=True),
    "uncertainty": lambda given: 0.25 - _squared(given._replace(confidence=0 * given.right), given.right - 0.5),
    "auroc": _auroc,
    "aurc": _aurc,
    "e_aurc": lambda given: _aurc(given) - _aurc(given._replace(confidence=given.right)),
    "acc@80": _acc_of_surest,
}
"""The function for each statistic's pseudo-values, shape ``(n,)``; NaN if it is not defined."""


def mean_of_pseudo_values(name: str, scores: MetricScores, over_strata: bool) -> Ratio:
    """Compute a statistic, named as in :data:`PSEUDO_VALUES`, of all answers or as the unweighted mean over strata."""
    scores = scores.applicable()
    strata, counted = scores.strata * over_strata, scores.counted
    values = np.full((*counted.shape, 1), np.nan)
    for stratum in np.unique(strata[counted.any(axis=1)]):
        members = strata == stratum
        values[members[:, None] & counted, 0] = PSEUDO_VALUES[name](Confidences.of(scores[members]))
    return Ratio(replace(scores, numerators=np.nan_to_num(values), denominators=1.0 - np.isnan(values)), over_strata)
