"""Estimate metrics with 95 % confidence intervals.

==========  =========================================================================================================
shares      Wilson's interval (*JASA* 1927). If examples are clustered, it uses the effective sample size
            ``p (1 − p) / stderr² × (z/t)²`` (Korn & Graubard, *Survey Methodology* 1998), with t for one degree
            of freedom less than contributing clusters. With fewer than four right or four wrong examples, its outer
            end is that of a Poisson count (Brown, Cai & DasGupta, *Statistical Science* 2001, section 4.1.1)
F1          the interval of the share ``TP / (TP + FP + FN)``, converted back to F1 (Flores et al., *Journal of Applied
            Statistics* 2022)
distances   ``value ± t × stderr`` if the true value may be 0, as of ECE, since a share's interval excludes 0
scores      the interval of a share of their range: most examples have 0 or nearly the same score, so the distribution
            is as skewed as that of a share. Without a range, it is ``value ± t × stderr``; if all values are equal,
            there is none
sums        none
==========  =========================================================================================================

The interval of a macro average combines the intervals of its strata (:func:`ratio_interval`), and is at least as wide
as that of a share with its standard error. The former accounts for the uncertainty of strata with only right answers;
the latter is better for small strata. An interval never exceeds the metric's range, and never has a width of zero.

The reliability of an interval depends on the number of examples that differ from the others: with one wrong answer in
twenty, no interval contains the true value in exactly 95 % of cases. Therefore an interval with fewer than ten
informative clusters (:func:`~medtasks_utils.statistics.ratio.informative_clusters`), which is about five right or five
wrong answers, is marked as unreliable wherever it is shown (:data:`UNRELIABLE_MARK` on a terminal, ``few`` in JSON).
With fewer than ten contributing clusters, there is no interval.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import scipy

from .metrics import Metric
from .ratio import ALPHA, MIN_CLUSTERS, Interval, Ratio, Z, student
from .score_arrays import MetricScores

UNRELIABLE_MARK = "°"
"""The mark after unreliable intervals on a terminal."""

UNRELIABLE = "interval unreliable"
"""The label of an unreliable interval in the report and in notes below tables; the reason follows it."""

TOO_FEW_EXAMPLES, TOO_FEW_DIFFER = "too few examples", "too few examples differ"
ALL_EQUAL, NO_STDERR = (
    "all scores are equal",
    "the results have no standard error; run with --log_samples to compute it",
)

_MAX_POISSON_COUNT = 3


class ResultWithInterval:
    """A result with an interval that may be unreliable; the base class of estimates and contrasts.

    Attributes:
        interval: the 95 % confidence interval; None if there is none.
        unreliable: why there is no reliable interval, such as ``too few wrong answers``; empty if there is one.
    """

    interval: Interval | None
    unreliable: str

    @property
    def low(self) -> float | None:
        """The lower end of the interval; None if there is no interval."""
        return self.interval and self.interval.low

    @property
    def high(self) -> float | None:
        """The upper end of the interval; None if there is no interval."""
        return self.interval and self.interval.high

    @property
    def few(self) -> bool:
        """True if there is no reliable interval, as under the key ``few`` in JSON."""
        return bool(self.unreliable)

    def ends(self, metric: Metric, between: str = "–") -> str:
        """Return the interval as ``64.1–93.3``, with a mark if it is unreliable; empty if there is no interval.

        ``between`` separates the two ends.
        """
        if self.interval is None:
            return ""
        return between.join(map(metric.shown, self.interval)) + UNRELIABLE_MARK * self.few


@dataclass(frozen=True)
class Estimate(ResultWithInterval):
    """The value of a metric over examples, with its uncertainty.

    Attributes:
        n: the number of examples to which the metric applies; 0 if the value is not defined.
        value: the value, in the metric's own unit; None if the metric applies to no example, or a stratum has no value.
        stderr: the standard error; None for fewer than two clusters, or if the metric has none.
    """

    n: int
    value: float | None
    stderr: float | None = None
    interval: Interval | None = None
    unreliable: str = ""


def estimate(scores: MetricScores, metric: Metric, *, over_strata: bool = False) -> Estimate:
    """Estimate a metric over examples or, with ``over_strata``, its mean over strata, as for a group of tasks."""
    n = int(scores.applies.sum())
    if not metric.aggregation.has_stderr:
        return Estimate(n, metric.aggregation.value(scores) if n else None)
    ratio = metric.aggregation.ratio(scores, over_strata=over_strata)
    if not n or ratio.value is None:
        return Estimate(0, None)
    interval = ratio_interval(ratio, metric) if ratio.clusters >= MIN_CLUSTERS else None
    informative = ratio.informative_clusters
    if metric.is_of_explanations:  # scores of right answers vary little, so the number of zeros matters most
        numerators = np.where(ratio.scores.numerators > 0, ratio.scores.denominators, 0.0)
        is_positive = replace(ratio.scores, numerators=numerators)
        informative = min(informative, Ratio(is_positive).informative_clusters)
    unreliable = why_unreliable(ratio.clusters, informative, _rare(metric, ratio.value) if interval else ALL_EQUAL)
    return Estimate(n, ratio.value, ratio.stderr, interval, unreliable)


def estimate_from_results(
    metric: Metric, value: float, stderr: float | None, n: int, are_independent: bool = True
) -> Estimate:
    """Estimate a metric from the values that a run reports, without its samples.

    Args:
        metric: the metric.
        value: the reported value.
        stderr: the reported standard error; None if unknown.
        n: the number of examples; 0 if unknown. For fewer than ten, there is no interval.
        are_independent: False if examples form clusters. The interval is then computed for the number of independent
            examples that would have this standard error, at most n. There is no interval if the standard error is
            unknown or 0, or if the metric has no upper limit.
    """
    clusters, highest = n, metric.range[1]
    if not are_independent:
        if not stderr or not highest:
            reason = NO_STDERR if stderr is None else ALL_EQUAL
            return Estimate(n, value, stderr, unreliable=why_unreliable(n, 0.0, reason))
        share, error = metric.aggregation.to_share(value / highest, stderr / highest)
        clusters = min(n, round(1 + share * (1 - share) / error**2))
    interval = confidence_interval(metric, value, stderr, clusters, n) if n >= MIN_CLUSTERS else None
    informative = float(clusters)
    if highest:  # as if every score were the lowest or the highest
        product = value / highest * (1 - value / highest)
        informative = 2 * clusters * product / max(1 - 4 * product, 1e-9)
    return Estimate(n, value, stderr, interval, why_unreliable(n, informative, _rare(metric, value)))


def why_unreliable(clusters: int, informative: float, too_few: str = TOO_FEW_DIFFER) -> str:
    """Return why an interval is unreliable; empty if at least ten clusters are informative.

    Args:
        clusters: the number of contributing clusters.
        informative: the number of informative clusters.
        too_few: the reason to return if there are ten clusters, but fewer than ten informative ones.
    """
    if clusters < MIN_CLUSTERS:
        return TOO_FEW_EXAMPLES
    return "" if informative >= MIN_CLUSTERS else too_few


def _rare(metric: Metric, value: float) -> str:
    """Return why too few clusters are informative, given the metric's value.

    For accuracies, there are too few right or too few wrong answers; for other metrics, too few examples differ.
    """
    if "acc" not in metric.name:
        return TOO_FEW_DIFFER
    return f"too few {'wrong' if 2 * value > (metric.range[1] or 1.0) else 'right'} answers"


def ratio_interval(ratio: Ratio, metric: Metric) -> Interval | None:
    """Return the 95 % interval of a metric, for any number of clusters.

    The interval of a mean over S strata is the wider of two: one from its own standard error, and one from the
    intervals of the strata. Each end of the second is ``√(Σ d²) / S`` away from the value, where d are the distances of
    this end from the value in the strata (the method of variance estimates recovery: Zou, Huang & Zhang, *Computational
    Statistics & Data Analysis* 2009). Hence its width is positive even if all answers are right, and it stays within
    the metric's range.

    Returns:
        The interval; only the first one if a stratum has no interval; None if the ratio has no value or no interval.
    """
    if ratio.value is None:
        return None
    if metric.unit == "number" and ((ratio.numerators >= 0) & (ratio.numerators <= ratio.denominators)).all():
        metric = replace(metric, unit="share")  # for example a reward
    of_mean = confidence_interval(metric, ratio.value, ratio.stderr, ratio.clusters, ratio.examples)
    within_stratum = metric.aggregation.within_stratum
    if of_mean is None or (within_stratum is None and not ratio.strata.any()):
        return of_mean
    metric_of_stratum = replace(metric, aggregation=within_stratum or metric.aggregation)
    strata = ratio.by_stratum()
    below = above = 0.0
    for stratum in strata:
        interval = ratio_interval(stratum, metric_of_stratum)
        if interval is None or stratum.value is None:
            return of_mean
        below, above = math.hypot(below, stratum.value - interval.low), math.hypot(above, interval.high - stratum.value)
    low, high = ratio.value - below / len(strata), ratio.value + above / len(strata)
    return Interval(min(low, of_mean.low), max(high, of_mean.high))


def confidence_interval(
    metric: Metric, value: float, stderr: float | None, clusters: int, examples: int
) -> Interval | None:
    """Return the 95 % interval of a metric's value; None if an interval ``value ± t × stderr`` would have no width.

    That form is used for a metric without an upper limit, a distance, or a value outside the metric's range. It has no
    width if the standard error is 0 or unknown.

    Args:
        metric: the metric.
        value: the value, in the metric's own unit.
        stderr: its standard error; None if unknown.
        clusters: the number of contributing clusters.
        examples: the number of contributing examples, each counted once per generation.
    """
    aggregation = metric.aggregation
    lowest, highest = metric.range
    error = stderr or 0.0
    freedom = max(clusters - 1, 1)
    if highest is None or aggregation.may_be_zero or not 0 <= value <= highest:
        reach = error * student(freedom)
        if not reach:  # equal values without a range say nothing about how much others may differ
            return None
        return Interval(value - reach if lowest is None else max(lowest, value - reach), value + reach)
    share, share_stderr = aggregation.to_share(value / highest, error / highest)
    is_of_counts = metric.is_of_explanations or (metric.unit == "share" and not aggregation.averages_parts)
    size = float(clusters)  # of independent examples, if the error is unknown
    if stderr is not None:
        size = effective_sample_size(share, share_stderr, clusters, examples, freedom, is_of_counts)
    return Interval(*(highest * aggregation.from_share(end) for end in share_interval(share, size)))


def effective_sample_size(
    share: float, stderr: float, clusters: int, examples: int, degrees_of_freedom: float, is_of_counts: bool
) -> float:
    """Return ``(z/t)²`` times the number of independent examples that would have this standard error.

    If the standard error is 0, or equal to that of independent right or wrong answers, return ``clusters``.

    ``is_of_counts`` is True for shares of examples and for scores of explanations. Their standard error may be lower
    than for independent clusters, either because of the model (one that flags everything is right once in each pair) or
    because there are too few examples. Therefore one right and one wrong cluster are added, up to the variance of
    independent clusters.
    """
    product, variance = share * (1 - share), stderr**2
    if clusters == examples and math.isclose(variance * (clusters - 1), product, rel_tol=1e-9):
        return clusters  # for independent right or wrong answers, the share determines the variance
    if is_of_counts and variance < product / clusters:
        variance = min(product / clusters, variance + (1 - 2 * product) / clusters**2)
    if not product or variance <= product * 1e-16:
        return clusters
    return product / variance * (Z / student(degrees_of_freedom)) ** 2


def share_interval(share: float, size: float) -> Interval:
    """Return Wilson's 95 % interval of a share, adjusted near 0 and 1.

    For a count of up to three, the end of the Poisson interval replaces Wilson's if it is further out. An end that
    differs from 0 or 1 only by rounding becomes 0 or 1. ``size``, the number of independent examples, may be
    fractional.
    """
    rare = min(share, 1 - share)
    weight = size / (size + Z**2)
    centre = weight * rare + (1 - weight) / 2
    reach = weight * Z * math.sqrt(rare * (1 - rare) / size + (Z / size) ** 2 / 4)
    low, high = centre - reach, centre + reach
    if 0 < rare * size <= _MAX_POISSON_COUNT:
        low = min(low, float(scipy.special.gammaincinv(rare * size, ALPHA)) / size)
    low, high = (end if 1e-12 < end < 1 - 1e-12 else float(round(end)) for end in (low, high))
    return Interval(low, high) if share < 0.5 else Interval(1 - high, 1 - low)
