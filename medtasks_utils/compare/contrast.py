"""Compute contrasts: a metric's difference between two runs on the same examples, its interval and its p-value.

============================  ==============================================  =====================================
metric                        p-value                                         95 % confidence interval
============================  ==============================================  =====================================
right or wrong, independent   McNemar's exact test (*Psychometrika* 1947)     adjusted Wald (Bonett & Price, *Journal
examples                                                                      of Educational and Behavioral
                                                                              Statistics* 2012)
all others                    Student's t of ``difference / stderr``, the     ``difference ± t × stderr``
                              standard error linearised and paired
                              (:func:`paired_difference`)
============================  ==============================================  =====================================

A cluster contains examples that are not independent, such as those that share a question; an independent example forms
its own cluster. If fewer than ten clusters have values in one of the runs, there is no interval and no t test. For
shares, the variance in the interval and the t test is computed with one more example gained and one more lost, as in
Bonett and Price, so that a difference of 0 in 20 examples does not seem certain.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import scipy

from medtasks_utils.statistics.aggregation import Mean
from medtasks_utils.statistics.intervals import ResultWithInterval, why_unreliable
from medtasks_utils.statistics.metrics import Metric
from medtasks_utils.statistics.planning import Sensitivity
from medtasks_utils.statistics.ratio import (
    ALPHA,
    MIN_CLUSTERS,
    Interval,
    Ratio,
    Z,
    informative_clusters,
    student,
)
from medtasks_utils.statistics.score_arrays import MetricScores
from medtasks_utils.writing import counted


@dataclass(frozen=True)
class Contrast(ResultWithInterval):
    """A metric in two runs on the same examples; values and differences are in the metric's own unit.

    Attributes:
        n: the number of compared examples, which have a value in both runs or, for ratios, are decided in either run;
            failed judgements are subtracted as in ``left_out``.
        clusters: the number of independent clusters of the compared examples.
        a: the value in the first run.
        b: the value in the second run.
        difference: ``b − a``.
        stderr: the standard error of the difference; None for fewer than two clusters.
        interval: the 95 % confidence interval for the difference; None for fewer than ten independent clusters.
        p: the two-sided p-value; None if there are too few examples to test.
        test: ``mcnemar`` or ``t``.
        sensitivity: the true differences that the test detects; None without ``stderr``, or for a ratio with too few
            clusters.
        left_out: the number of examples without a value in one of the runs, plus the number with a failed judgement,
            whose scores are imputed from the other examples. Each of k generations counts as 1/k.
        note: the reason why there is no p-value; else an empty string.
        unreliable: the reason why the interval is unreliable; empty if it rests on at least ten informative clusters,
            which is about five examples that differ.
    """

    n: int
    clusters: int
    a: float
    b: float
    difference: float
    stderr: float | None
    interval: Interval | None
    p: float | None
    test: str
    sensitivity: Sensitivity | None
    left_out: int
    note: str
    unreliable: str

    @property
    def detectable(self) -> float | None:
        """The smallest true difference that a test at 5 % detects with a power of 80 %; None if it is unknown."""
        return self.sensitivity and self.sensitivity.detectable


def contrast(
    first: MetricScores, second: MetricScores, metric: Metric, *, whole_examples: bool = False
) -> Contrast | None:
    """Compute the contrast of a metric between two runs, from their scores of the same examples in the same order.

    For a group, pass the metric averaged over tasks, with each task as a stratum. ``whole_examples`` is explained in
    :func:`paired_difference`.

    Returns:
        The contrast; None if no example, or no example of some stratum, has a value in both runs (for ratios, in either
        run).
    """
    aggregation = metric.aggregation
    either = first.applies | second.applies
    applies = either if aggregation.over_decided else first.applies & second.applies
    compared = applies & first.recorded & second.recorded
    a, b = first[compared], second[compared]
    # For a ratio, an example that only one run decides belongs to both runs, with a denominator of 0 in the other run.
    ratio_a, ratio_b = (aggregation.ratio(replace(scores, applies=scores.recorded)) for scores in (a, b))
    if not len(a) or ratio_a.value is None or ratio_b.value is None:
        return None
    failed = math.ceil(np.maximum(*(scores.failed.mean(axis=1) for scores in (a, b))).sum())
    clusters = min(ratio_a.clusters, ratio_b.clusters)
    values, n = np.concatenate([a.values, b.values]), len(ratio_a.influence)
    has_unit_of_one = metric.unit == "share" or (metric.unit == "number" and values.any())  # zeros could have any unit
    is_binary = bool(has_unit_of_one and np.isin(values, (0, 1)).all())
    by_t = paired_difference(ratio_a, ratio_b, metric.range[1], is_binary or metric.unit == "share", whole_examples)
    sensitivity, interval, p = by_t or (None, None, None)
    test = "mcnemar" if is_binary and n == len(a) and isinstance(aggregation, Mean) else "t"
    if test == "mcnemar":
        lost, gained = int((b.values < a.values).sum()), int((b.values > a.values).sum())
        sensitivity = sensitivity and sensitivity._replace(discordance=(lost + gained) / n)
        interval, p = bonett_price(lost, gained, n), mcnemar(lost, gained)
    stderr = sensitivity and sensitivity.stderr
    if clusters < MIN_CLUSTERS:
        interval, p = None, p if test == "mcnemar" else None
        sensitivity = None if aggregation.over_decided else sensitivity
    few = counted(clusters, "independent example")
    influence = (ratio_b.influence - ratio_a.influence)[ratio_a.counted | ratio_b.counted]
    return Contrast(
        n=len(a) - failed,
        clusters=n,
        a=ratio_a.value,
        b=ratio_b.value,
        difference=ratio_b.value - ratio_a.value,
        stderr=stderr,
        interval=interval,
        p=p,
        test=test,
        sensitivity=sensitivity,
        left_out=int((either & ~compared).sum()) + failed,
        note="" if p is not None else f"not tested: one of the runs has only {few}",
        unreliable=why_unreliable(clusters, 0.0 if stderr is None else informative_clusters(influence)),
    )


# ---- tests


def paired_difference(
    a: Ratio, b: Ratio, largest: float | None, is_counted: bool, whole_examples: bool = False
) -> tuple[Sensitivity, Interval, float] | None:
    """Compute the sensitivity, the 95 % interval and the p-value of the difference ``b − a`` by Student's t.

    The interval excludes 0 if and only if p is below 5 %.

    Args:
        a: the ratio of the first run.
        b: the ratio of the second run, over the same examples, clusters and strata.
        largest: the largest value of an example, which is the largest possible difference; None if there is no limit.
        is_counted: True if values count right or wrong answers. The variance in the interval and the p-value then
            includes one more example gained and one more lost, as in Bonett and Price, so that a difference of 0 in 20
            examples does not seem certain. Both are also included if all differences are equal.
        whole_examples: True if the added gain and loss are whole examples, with all of their generations; False if they
            are single generations. Early stopping needs True: with repeats, the first examples of a model that is
            nearly always right often agree in all generations, and the result would seem certain.

    Returns:
        The sensitivity, the interval and the p-value; None if one of the runs has no standard error.
    """
    if a.scaled_influence is None or b.scaled_influence is None:
        return None
    value = (b.value or 0.0) - (a.value or 0.0)
    stderr = error = float(np.linalg.norm(b.scaled_influence - a.scaled_influence))
    if is_counted or not stderr:
        of_gained, of_lost = (ratio.variance_of_one_more(largest or 1.0, whole_examples) for ratio in (a, b))
        error = math.sqrt(stderr**2 + of_gained + of_lost)
    freedom = min(a.degrees_of_freedom, b.degrees_of_freedom)
    reach, limit = student(freedom) * error, largest or math.inf
    interval = Interval(max(-limit, value - reach), min(limit, value + reach))
    p = 2 * float(scipy.special.stdtr(freedom, -abs(value) / error))
    return Sensitivity(len(a.influence), stderr, error, freedom), interval, p


def mcnemar(lost: int, gained: int) -> float:
    """Return McNemar's exact two-sided p-value, for the numbers of examples that only one of the runs gets right."""
    return min(1.0, 2 * float(scipy.special.bdtr(min(lost, gained), lost + gained, 0.5)))


def bonett_price(lost: int, gained: int, n: int) -> Interval:
    """Return the 95 % interval of ``(gained − lost) / n``, the difference of two shares among the same n examples."""
    up, down = (gained + 1) / (n + 2), (lost + 1) / (n + 2)
    centre = up - down
    reach = Z * math.sqrt((up + down - centre**2) / (n + 2))
    return Interval(max(-1.0, centre - reach), min(1.0, centre + reach))


# ---- in a comparison


@dataclass(frozen=True)
class MetricDifference:
    """The difference of a metric between two runs.

    Attributes:
        task: the task or group of tasks.
        filter: the filter whose answers were scored.
        metric: the metric that is compared.
        breakdown: the breakdown of the task's examples, such as ``subject``; None for the whole task.
        group: the group of the breakdown, such as ``Anatomy``; None for the whole task.
        contrast: the two values, their difference, its interval and p-value.
        p_adjusted: the p-value, corrected within its family (:mod:`.families`); None without a p-value or a family.
    """

    task: str
    filter: str
    metric: Metric
    breakdown: str | None
    group: str | None
    contrast: Contrast
    p_adjusted: float | None = None

    @property
    def is_significant(self) -> bool:
        """True if the corrected p-value is below 5 %."""
        return self.p_adjusted is not None and self.p_adjusted < ALPHA
