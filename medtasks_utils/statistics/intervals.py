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

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import NamedTuple

from scipy.special import gammaincinv, stdtrit

from medtasks_utils.statistics.aggregation import Scores
from medtasks_utils.statistics.metrics import Aggregation, Metric
from medtasks_utils.statistics.ratio import FEWEST, LEVEL, Ratio, detectable

TOO_FEW = "too few differ"
"""What the report says of an interval that is shown, and rests on fewer informative clusters than ten."""

FEW_MARK, FEW_SAID = "°", "too few differ for the interval to be relied on"
"""The same on a terminal: a mark, and below the table what it means."""

_Z = NormalDist().inv_cdf((1 + LEVEL) / 2)
_POISSON_UP_TO = 3
_LEAST = 1e-6  # an effective number, so that its square is a number

Interval = tuple[float | None, float | None]
NONE: Interval = (None, None)


class Size(NamedTuple):
    """What a number is of: clusters that count, and the examples (of k generations, k each) that count in them."""

    clusters: int
    examples: int


@dataclass(frozen=True)
class Estimate:
    """A metric over some examples.

    Attributes:
        n: examples that the metric applies to.
        value: in the metric's own unit; None where it applies to none.
        stderr: None for fewer than two independent examples.
        low: lower end of the 95 % confidence interval, None where there is none.
        high: its upper end.
        clusters: independent examples, or clusters of examples, that count in it; None where that is not known.
        informative: how many of them the interval rests on.
    """

    n: int
    value: float | None
    stderr: float | None = None
    low: float | None = None
    high: float | None = None
    clusters: int | None = None
    informative: float | None = None

    @property
    def few(self) -> bool:
        """Whether it rests on fewer than ten clusters, or informative ones: an interval is not to be relied on then."""
        known = [number for number in (self.clusters, self.informative) if number is not None]
        return self.value is not None and min(known, default=FEWEST) < FEWEST

    @property
    def detectable(self) -> float | None:
        """The smallest true difference to a run with as large and independent errors that is found four times of five.

        The examples being the same, errors mostly agree, and smaller differences are found.
        """
        if self.stderr is None or not self.clusters or self.clusters < 2:
            return None
        return detectable(math.sqrt(2) * self.stderr, self.clusters - 1)


def estimate(scores: Scores, metric: Metric, how: Aggregation | None = None) -> Estimate:
    """A metric over examples, with its confidence interval; ``how`` aggregates in place of the metric's own way."""
    n = int(scores.known.sum())
    if metric.aggregation == "total":
        return Estimate(n, math.fsum(scores.numerators[scores.known].sum(axis=1).tolist()) if n else None)
    ratio = scores.ratio(how or metric.aggregation)
    if not n or ratio.value is None:
        return Estimate(0, None)
    low, high = NONE if ratio.clusters < FEWEST else interval_of(ratio, metric)
    informative = ratio.informative
    if metric.is_of_explanations:  # many alike, and few of 0: those have the say
        of_zeros = Ratio((ratio.numerators > 0) * ratio.denominators, ratio.denominators)
        informative = min(informative, of_zeros.informative)
    return Estimate(n, ratio.value, ratio.stderr, low, high, ratio.clusters, informative)


def estimate_of_reported(metric: Metric, value: float, stderr: float | None, n: int) -> Estimate:
    """A metric as a run reports it for ``n`` examples without samples, taken as independent; 0 where none is known."""
    low, high = NONE if n < FEWEST else confidence_interval(metric, value, stderr, Size(n, n))
    share = value / (metric.range[1] or math.inf)
    both = share * (1 - share)  # as of right and wrong answers (:func:`informative_clusters`)
    informative = None if not metric.range[1] else n if both >= 0.25 else min(n, 2 * n * both / (1 - 4 * both))
    return Estimate(n, value, stderr, low, high, n or None, informative)


def interval_of(ratio: Ratio, metric: Metric) -> Interval:
    """The 95 % interval of a metric, however few it is of; two None where there is none."""
    if ratio.value is None:
        return NONE
    if metric.unit == "number" and ((ratio.numerators >= 0) & (ratio.numerators <= ratio.denominators)).all():
        metric = replace(metric, unit="share")  # such as a reward
    own = confidence_interval(metric, ratio.value, ratio.stderr, Size(ratio.clusters, ratio.examples))
    parts = ratio.parts()
    if metric.aggregation != "macro" and len(parts) == 1:
        return own
    of_part = replace(metric, aggregation="mean" if metric.aggregation == "macro" else metric.aggregation)
    return _with_parts(own, ratio.value, [(part.value or 0.0, *interval_of(part, of_part)) for part in parts])


def _with_parts(own: Interval, value: float, parts: Sequence[tuple[float, float | None, float | None]]) -> Interval:
    """The wider of a mean's own interval and that of its independent parts, of which there are value and ends.

    The latter's distance to each end is the root of the sum of squares of the parts' over their number (the method of
    variance estimates recovery: Zou, Huang & Zhang, *Computational Statistics & Data Analysis* 2009), so it has a width
    where all parts are right, and stays within the range. A part without ends leaves the mean's own.
    """
    down = up = 0.0
    for of_part, low, high in parts:
        if low is None or high is None:
            return own
        down, up = math.hypot(down, of_part - low), math.hypot(up, high - of_part)
    low, high = value - down / len(parts), value + up / len(parts)
    return (low, high) if own[0] is None or own[1] is None else (min(low, own[0]), max(high, own[1]))


def confidence_interval(metric: Metric, value: float, stderr: float | None, size: Size) -> Interval:
    """The 95 % interval of a metric's value; two None where there is none.

    Args:
        metric: what the value is of.
        value: in the metric's own unit.
        stderr: its standard error; None where that is not known.
        size: what it is of.
    """
    if metric.aggregation == "total" or not size.clusters:
        return NONE
    lowest, highest = metric.range
    error = stderr or 0.0
    if lowest is None or highest is None or not lowest <= value <= highest:
        reach = error * _t(size)  # where all are alike, no range says how unlike the next may be
        return (value - reach if lowest is None else max(lowest, value - reach), value + reach) if error else NONE
    if metric.aggregation == "f1":
        share = value / (2 - value)
        of_share = error * (1 + share) ** 2 / 2  # d share / d F1
        low, high = share_interval(share, effective_number(share, of_share, size))
        return 2 * low / (1 + low), 2 * high / (1 + high)
    width = highest - lowest
    share = (value - lowest) / width
    is_of_counts = metric.is_of_explanations or (metric.unit == "share" and metric.aggregation != "macro")
    low, high = share_interval(share, effective_number(share, error / width, size, is_of_counts=is_of_counts))
    return lowest + width * low, lowest + width * high


def _t(size: Size) -> float:
    return float(stdtrit(max(size.clusters - 1, 1), (1 + LEVEL) / 2))


def effective_number(share: float, stderr: float, size: Size, *, is_of_counts: bool = True) -> float:
    """How many independent examples would have this standard error; the clusters, where it tells nothing.

    Args:
        share: from 0 to 1.
        stderr: its standard error.
        size: what it is of.
        is_of_counts: whether a standard error below that of as many independent clusters is doubted. It can be right: a
            model that flags whatever it sees has one of each pair right. Or nothing else has been seen yet. So one
            example that is right and one that is wrong are added, up to the variance of independent clusters.
    """
    product, variance = share * (1 - share), stderr**2
    if size.clusters == size.examples and math.isclose(variance * (size.clusters - 1), product, rel_tol=1e-9):
        return size.clusters  # each alone, and right or wrong: there is no variance to be estimated
    if is_of_counts and variance < product / size.clusters:
        variance = min(product / size.clusters, variance + (1 - 2 * product) / size.examples**2)
    if not product or variance <= product * 1e-16:
        return size.clusters
    return max(product / variance * (_Z / _t(size)) ** 2, _LEAST)


def wilson(share: float, number: float) -> tuple[float, float]:
    """Wilson's 95 % interval for a share of ``number`` independent examples."""
    shrunk = number / (number + _Z**2)
    centre = shrunk * share + (1 - shrunk) / 2
    reach = shrunk * _Z * math.sqrt(share * (1 - share) / number + (_Z / number) ** 2 / 4)
    return max(0.0, centre - reach), min(1.0, centre + reach)


def share_interval(share: float, number: float) -> tuple[float, float]:
    """Wilson's interval, its end near 0 or 1 moved out to that of a Poisson count of up to three."""
    rare = min(share, 1 - share)
    low, high = wilson(rare, number)
    if 0 < rare * number <= _POISSON_UP_TO:
        low = min(low, float(gammaincinv(rare * number, 1 - LEVEL)) / number)
    return (low, high) if share < 0.5 else (1 - high, 1 - low)
