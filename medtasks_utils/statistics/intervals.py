"""Confidence intervals of all metrics.

==========  =========================================================================================================
shares      Wilson's (*JASA* 1927), with the effective number of examples ``p (1 − p) / stderr² × (z/t)²`` where they
            are clustered (Korn & Graubard, *Survey Methodology* 1998; t with one degree of freedom less than there are
            clusters that count); below four right or four wrong its outer end is that of a Poisson count (Brown, Cai &
            DasGupta, *Statistical Science* 2001, section 4.1.1)
F1          the same by way of ``TP / (TP + FP + FN)``, which is a share (Flores et al., *Journal of Applied
            Statistics* 2022)
scores      the same as share of its range: most examples have 0 or nearly the same score, so that it is skewed as a
            share is; without a range, ``value ± t × stderr``, and none where all values are alike
sums        have none
==========  =========================================================================================================

Macro averages put the intervals of their parts together (:func:`_with_parts`), and are at least as wide as the interval
of a share with their standard error: the one sees strata that are all right, the other is better for small ones. None
leaves its metric's range or is without width.

What an interval rests on is how many examples differ from the others: with one wrong answer of twenty, no interval can
hold the truth just 95 % of the time, as the counts are too coarse. Below ten informative clusters
(:func:`~medtasks_utils.statistics.ratio.informative_clusters`), which is some five right or five wrong answers, it is
marked wherever it is shown (:data:`FEW_MARK`, ``few`` in JSON); below ten clusters that count, there is none.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import scipy

from .metrics import Metric
from .ratio import FEWEST, LEVEL, Ratio, Z, detectable
from .scores import MetricScores

TOO_FEW = "too few differ"
"""What the report says of an interval that is shown, and rests on fewer informative clusters than ten."""

FEW_MARK, FEW_SAID = "°", "too few differ for the interval to be relied on"
"""The same on a terminal: a mark, and below the table what it means."""

_POISSON_UP_TO = 3
_LEAST = 1e-6  # an effective number, so that its square is a number

Interval = tuple[float | None, float | None]
NONE: Interval = (None, None)


@dataclass(frozen=True)
class Estimate:
    """A metric over some examples.

    Attributes:
        n: examples that the metric applies to.
        value: in the metric's own unit; None where it applies to none.
        stderr: None for fewer than two independent examples.
        low: lower end of the 95 % confidence interval, None where there is none.
        high: its upper end.
        clusters: independent examples, or clusters of examples, that count in it; 0 where that is not known.
        few: whether it rests on fewer than ten of them, or informative ones: its interval is not to be relied on then.
    """

    n: int
    value: float | None
    stderr: float | None = None
    low: float | None = None
    high: float | None = None
    clusters: int = 0
    few: bool = False

    @property
    def detectable(self) -> float | None:
        """The smallest true difference to a run with as large and independent errors that is found four times of five.

        The examples being the same, errors mostly agree, and smaller differences are found.
        """
        if self.stderr is None or self.clusters < 2:
            return None
        return detectable(math.sqrt(2) * self.stderr, self.clusters - 1)


def estimate(scores: MetricScores, metric: Metric, *, over_strata: bool = False) -> Estimate:
    """Return a metric over some examples, with its confidence interval.

    Args:
        over_strata: return the unweighted mean over the strata, as a group of tasks has it.
    """
    n = int(scores.known.sum())
    if not metric.aggregation.has_error:
        return Estimate(n, metric.aggregation.value(scores) if n else None)
    ratio = metric.aggregation.ratio(scores, over_strata=over_strata)
    if not n or ratio.value is None:
        return Estimate(0, None)
    low, high = interval_of(ratio, metric) if ratio.clusters >= FEWEST else NONE
    informative = ratio.informative
    if metric.is_of_explanations:  # many alike, and few of 0: those have the say
        of_zeros = Ratio(np.where(ratio.numerators > 0, ratio.denominators, 0.0), ratio.denominators)
        informative = min(informative, of_zeros.informative)
    few = min(ratio.clusters, informative) < FEWEST
    return Estimate(n, ratio.value, ratio.stderr, low, high, ratio.clusters, few)


def estimate_of_reported(metric: Metric, value: float, stderr: float | None, n: int) -> Estimate:
    """A metric as a run reports it for ``n`` examples without samples, taken as independent; 0 where none is known."""
    low, high = confidence_interval(metric, value, stderr, n, n) if n >= FEWEST else NONE
    few = 0 < n < FEWEST
    if metric.range[1]:
        both = value / metric.range[1] * (1 - value / metric.range[1])
        few = min(n, 2 * n * both / max(1 - 4 * both, 1e-9)) < FEWEST  # as of right and wrong answers
    return Estimate(n, value, stderr, low, high, n, few)


def interval_of(ratio: Ratio, metric: Metric) -> Interval:
    """The 95 % interval of a metric, however few it is of; two None where there is none.

    That of a mean over strata is the wider of its own and that of its parts: the distance to each end is the root of
    the sum of squares of the parts' over their number (the method of variance estimates recovery: Zou, Huang & Zhang,
    *Computational Statistics & Data Analysis* 2009), so it has a width where all parts are right, and stays within the
    range. A part without ends leaves the mean's own.
    """
    if ratio.value is None:
        return NONE
    if metric.unit == "number" and ((ratio.numerators >= 0) & (ratio.numerators <= ratio.denominators)).all():
        metric = replace(metric, unit="share")  # such as a reward
    own = confidence_interval(metric, ratio.value, ratio.stderr, ratio.clusters, ratio.examples)
    of_stratum = metric.aggregation.of_stratum
    if of_stratum is None and not ratio.strata.any():
        return own
    parts = ratio.parts()
    of_part = replace(metric, aggregation=of_stratum or metric.aggregation)
    down = up = 0.0
    for part in parts:
        low, high = interval_of(part, of_part)
        if low is None or high is None or part.value is None:
            return own
        down, up = math.hypot(down, part.value - low), math.hypot(up, high - part.value)
    low, high = ratio.value - down / len(parts), ratio.value + up / len(parts)
    return (low, high) if own[0] is None or own[1] is None else (min(low, own[0]), max(high, own[1]))


def confidence_interval(metric: Metric, value: float, stderr: float | None, clusters: int, examples: int) -> Interval:
    """The 95 % interval of a metric's value; two None where there is none.

    Args:
        metric: what the value is of.
        value: in the metric's own unit.
        stderr: its standard error; None where that is not known.
        clusters: that count in it.
        examples: that count in them, those of k generations k times.
    """
    aggregation = metric.aggregation
    if not aggregation.has_error or not clusters:
        return NONE
    lowest, highest = metric.range
    error = stderr or 0.0
    if lowest is None or highest is None or not lowest <= value <= highest:
        reach = error * _t(clusters)  # where all are alike, no range says how unlike the next may be
        return (value - reach if lowest is None else max(lowest, value - reach), value + reach) if error else NONE
    share, of_share = aggregation.share_of(value / highest, error / highest)
    is_of_counts = metric.is_of_explanations or (metric.unit == "share" and not aggregation.of_parts)
    ends = share_interval(share, effective_number(share, of_share, clusters, examples, is_of_counts))
    low, high = (highest * aggregation.value_of_share(end) for end in ends)
    return low, high


def _t(clusters: int) -> float:
    return float(scipy.special.stdtrit(max(clusters - 1, 1), (1 + LEVEL) / 2))


def effective_number(share: float, stderr: float, clusters: int, examples: int, is_of_counts: bool) -> float:
    """How many independent examples would have this standard error; the clusters, where it tells nothing.

    Args:
        share: from 0 to 1.
        stderr: its standard error.
        clusters: that count.
        examples: that count in them.
        is_of_counts: whether a standard error below that of as many independent clusters is doubted. It can be right: a
            model that flags whatever it sees has one of each pair right. Or nothing else has been seen yet. So one
            example that is right and one that is wrong are added, up to the variance of independent clusters.
    """
    product, variance = share * (1 - share), stderr**2
    if clusters == examples and math.isclose(variance * (clusters - 1), product, rel_tol=1e-9):
        return clusters  # each alone, and right or wrong: there is no variance to be estimated
    if is_of_counts and variance < product / clusters:
        variance = min(product / clusters, variance + (1 - 2 * product) / examples**2)
    if not product or variance <= product * 1e-16:
        return clusters
    return max(product / variance * (Z / _t(clusters)) ** 2, _LEAST)


def share_interval(share: float, number: float) -> tuple[float, float]:
    """Wilson's 95 % interval for a share of ``number`` independent examples, its outer end a Poisson count's.

    That is near 0 or 1, up to a count of three, where it is further out. An end within rounding of 0 or 1 is 0 or 1.
    """
    rare = min(share, 1 - share)
    shrunk = number / (number + Z**2)
    centre = shrunk * rare + (1 - shrunk) / 2
    reach = shrunk * Z * math.sqrt(rare * (1 - rare) / number + (Z / number) ** 2 / 4)
    low, high = centre - reach, centre + reach
    if 0 < rare * number <= _POISSON_UP_TO:
        low = min(low, float(scipy.special.gammaincinv(rare * number, 1 - LEVEL)) / number)
    low, high = (end if 1e-12 < end < 1 - 1e-12 else float(round(end)) for end in (low, high))
    return (low, high) if share < 0.5 else (1 - high, 1 - low)
