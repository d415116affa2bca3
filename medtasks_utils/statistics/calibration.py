"""Aggregate confidences: is a model right as often as its confidence says, and is it less sure where it is wrong?

With the confidence ``c`` of an answer, 0 to 1, and ``y``, 1 if it is right (a share for a tie of a vote):

================  =====================================================================================================
``ece``           ``Σ |mean y − mean c|`` over bins of equal size, weighted by their size. Noise alone makes it positive,
                  which is subtracted as Kumar, Liang & Ma (*NeurIPS* 2019, appendix) do by drawing normal deviations;
                  here their mean in closed form
reliability,      Murphy's parts of the Brier score (*Journal of Applied Meteorology* 1973), ``Brier = reliability −
resolution,       resolution + uncertainty`` but for what varies within bins: ``Σ (mean y − mean c)²`` and ``Σ (mean y −
uncertainty       acc)²`` over the bins, both less the variance of the means (Bröcker, *Climate Dynamics* 2012; the first
                  is Kumar's squared error), and ``acc (1 − acc)``
``auroc``         the probability that a right answer has a higher confidence than a wrong one, ties counting one half;
                  its error is DeLong's (*Biometrics* 1988)
``aurc``          the area under the risk–coverage curve: the mean, over all k, of the share of wrong answers among the k
                  surest ones (Geifman & El-Yaniv, *NeurIPS* 2017); ``e_aurc`` is its excess over that of a model that
                  is surest where it is right (Geifman, Uziel & El-Yaniv, *ICLR* 2019)
``acc@80``        the share of right ones among the 80 % surest answers
================  =====================================================================================================

Each is the mean of *pseudo-values*, the value plus each answer's influence on it, whose standard error is that of the
statistic to first order. So clusters, strata and comparisons are those of any mean (:class:`~.ratio.Ratio`). Answers of
equal confidence are in the same bin, and are taken in random order, on average.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import erf

from .ratio import Ratio
from .score_arrays import Array, Codes, MetricScores

BINS, BIN_SIZE = 10, 10
"""The largest number of bins, and the smallest mean size of a bin; equal confidences are in one bin."""

COVERAGE = 0.8
"""The share of the surest answers for ``acc@80``."""


class Confidences(NamedTuple):
    """Confidences of n answers and whether they are right, 0 to 1, with their clusters; each of shape ``(n,)``."""

    right: Array
    confidence: Array
    cluster: Codes

    @classmethod
    def of(cls, scores: MetricScores) -> "Confidences":
        """Return those of all generations with a confidence."""
        right, confidence = scores.numerators[scores.counted].T
        return cls(right, confidence, np.broadcast_to(scores.clusters[:, None], scores.counted.shape)[scores.counted])


# ---- bins


class Bins(NamedTuple):
    """Bins of equal size; arrays have one element per bin but ``of``, the bin of each of the n answers.

    Attributes:
        n: the numbers of answers.
        right, confidence: the means, 0 to 1.
        error: the clustered standard errors of the means of ``values`` in :func:`binned`.
    """

    of: Codes
    n: Array
    right: Array
    confidence: Array
    error: Array


def binned(given: Confidences, values: Array) -> Bins:
    """Divide answers into bins by their confidence, and estimate the error of the means of values, shape ``(n,)``."""
    group, size = np.unique(given.confidence, return_inverse=True, return_counts=True)[1:]
    number = max(1, min(BINS, len(group) // BIN_SIZE))
    middle = (size.cumsum() - size / 2) / len(group)
    of = group if len(size) <= number else np.unique((number * middle).astype(int)[group], return_inverse=True)[1]
    n = np.bincount(of).astype(float)
    right, confidence, mean = (np.bincount(of, one) / n for one in (given.right, given.confidence, values))
    keys, cluster = np.unique(of * (int(given.cluster.max()) + 1) + given.cluster, return_inverse=True)
    sums = np.bincount(cluster, values - mean[of])
    bin_of = keys // (int(given.cluster.max()) + 1)
    clusters = np.bincount(bin_of)
    variance = np.bincount(bin_of, sums**2) * clusters / np.maximum(clusters - 1, 1) / n**2
    return Bins(of, n, right, confidence, np.sqrt(variance))


def _ece(given: Confidences) -> Array:
    values = given.right - given.confidence
    bins = binned(given, values)
    gap, error = bins.right - bins.confidence, np.maximum(bins.error, 1e-12)
    noisy = error * math.sqrt(2 / math.pi) * np.exp(-((gap / error) ** 2) / 2) + gap * erf(gap / error / math.sqrt(2))
    slope = 2 * np.sign(gap) - erf(gap / error / math.sqrt(2))
    result = (2 * np.abs(gap) - noisy)[bins.of] + slope[bins.of] * (values - gap[bins.of])
    return result - min(0.0, float(result.mean()))


def _squared(given: Confidences, values: Array, is_centred: bool = False) -> Array:
    """Return pseudo-values of the mean square of the means of values in the bins, less the variance of these means.

    ``is_centred`` says that the overall mean was subtracted from the values.
    """
    bins = binned(given, values)
    mean = np.bincount(bins.of, values) / bins.n
    slope = 2 * np.copysign(np.hypot(mean, bins.error / math.sqrt(2)), mean)
    noise = bins.error**2 * (1 - is_centred * bins.n / len(values))
    return (mean**2 - noise)[bins.of] + slope[bins.of] * (values - mean[bins.of])


def _uncertainty(given: Confidences) -> Array:
    in_one_bin = given._replace(confidence=np.zeros(len(given.right)))
    return 0.25 - _squared(in_one_bin, given.right - 0.5)


# ---- ranks


def _auroc(given: Confidences) -> Array:
    group = np.unique(given.confidence, return_inverse=True)[1]
    right, wrong = (np.bincount(group, one) for one in (given.right, 1 - given.right))
    if not (right.sum() and wrong.sum()):
        return np.full(len(group), np.nan)
    below = ((wrong.cumsum() - wrong / 2) / wrong.sum())[group]
    above = (1 - (right.cumsum() - right / 2) / right.sum())[group]
    area = float((given.right * below).sum() / right.sum())
    share = given.right.mean()
    return area + given.right * (below - area) / share + (1 - given.right) * (above - area) / (1 - share)


class Ranked(NamedTuple):
    """Answers by descending confidence, ties sharing their right ones evenly.

    Attributes:
        group: the place of each answer's confidence among the different ones, the highest first; shape ``(n,)``.
        size: the number of answers of each confidence.
        right: the expected share of right answers at each rank, shape ``(n,)``.
    """

    group: Codes
    size: Codes
    right: Array


def ranked(given: Confidences) -> Ranked:
    """Rank answers by their confidence."""
    group, size = np.unique(-given.confidence, return_inverse=True, return_counts=True)[1:]
    return Ranked(group, size, np.repeat(np.bincount(group, given.right) / size, size))


def risks(given: Confidences) -> Array:
    """Return the share of wrong answers among the k surest ones, for all k from 1 to n."""
    right = ranked(given).right
    return np.asarray(1 - right.cumsum() / np.arange(1, len(right) + 1))


def _aurc(given: Confidences) -> Array:
    group, size, right = ranked(given)
    rank = np.arange(1, len(right) + 1)

    def from_rank(terms: Array) -> Array:
        """Return the sum of terms from the rank of each answer on, on average over answers of its confidence."""
        sums = terms[::-1].cumsum()[::-1]
        return np.asarray(np.add.reduceat(sums, size.cumsum() - size) / size)[group]

    return (1 - given.right) * from_rank(1 / rank) - from_rank((1 - right) / rank) + (1 - right).mean()


def _acc_of_surest(given: Confidences) -> Array:
    group, size, right = ranked(given)
    wanted, end = COVERAGE * len(right), size.cumsum()
    is_in = np.clip((wanted - end + size) / size, 0, 1)[group]
    near = slice(max(0, int(wanted - math.sqrt(len(right)))), int(wanted + math.sqrt(len(right))) + 1)
    at_edge = right[near].mean()
    return is_in * (given.right - at_edge) / COVERAGE + at_edge


PSEUDO_VALUES: dict[str, Callable[[Confidences], Array]] = {
    "ece": _ece,
    "reliability": lambda given: _squared(given, given.right - given.confidence),
    "resolution": lambda given: _squared(given, given.right - given.right.mean(), is_centred=True),
    "uncertainty": _uncertainty,
    "auroc": _auroc,
    "aurc": _aurc,
    "e_aurc": lambda given: _aurc(given) - _aurc(given._replace(confidence=given.right)),
    "acc@80": _acc_of_surest,
}
"""By statistic, a function that returns its pseudo-values, shape ``(n,)``; NaN if it is not defined."""


def mean_of_pseudo_values(name: str, scores: MetricScores, over_strata: bool) -> Ratio:
    """Return a statistic of :data:`PSEUDO_VALUES`, of all answers or as the unweighted mean over strata."""
    scores = scores.applicable()
    strata, counted = scores.strata * over_strata, scores.counted
    values = np.full((*counted.shape, 1), np.nan)
    for stratum in np.unique(strata):
        own = (strata == stratum)[:, None] & counted
        if own.any():
            values[own, 0] = PSEUDO_VALUES[name](Confidences.of(scores[strata == stratum]))
    is_defined = ~np.isnan(values)
    return Ratio(replace(scores, numerators=np.nan_to_num(values), denominators=is_defined * 1.0), over_strata)
