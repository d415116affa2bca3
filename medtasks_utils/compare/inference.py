"""Is the difference between two runs on the same examples more than chance?

============================  ==============================================  =====================================
metric                        p-value                                         95 % confidence interval
============================  ==============================================  =====================================
right or wrong, independent   McNemar's exact test (*Psychometrika* 1947)     adjusted Wald (Bonett & Price, *Journal
examples                                                                      of Educational and Behavioral
                                                                              Statistics* 2012)
all else                      Student's t of ``difference / stderr``, the     ``difference ± t × stderr``
                              standard error linearised and paired
                              (:func:`medtasks_utils.statistics.ratio.paired`)
============================  ==============================================  =====================================

A cluster is what is not independent: the examples that share a question, or one example. Below ten clusters that count
in either run there is no interval, and no t test. For shares, the variance behind interval and t test has one example
more that is gained and one that is lost, as Bonett and Price's has: 0 of 20 is not sure.
"""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import scipy

from medtasks_utils.statistics.metrics import Metric
from medtasks_utils.statistics.ratio import FEWEST, Z, paired
from medtasks_utils.statistics.scores import MetricScores, filled

Test = Literal["mcnemar", "t"]


@dataclass(frozen=True)
class Contrast:
    """A metric in two runs on the same examples.

    Attributes:
        n: examples compared: those with a value in both runs; of ratios, those decided in either.
        clusters: independent ones among them.
        a: value in the first run, in the metric's own unit.
        b: value in the second run.
        difference: ``b − a``.
        stderr: of the difference; None for fewer than two clusters.
        low: lower end of the 95 % confidence interval of the difference, None where there is none.
        high: its upper end.
        p: two-sided p-value; None where there is too little to test, which ``note`` explains.
        test: which suits the metric.
        detectable: the smallest true difference that a test at 5 % finds four times of five; None without a stderr.
        left_out: examples that fell out, as a judge failed or a value is missing in one of the runs.
        note: why there is no p-value.
        few: whether the interval rests on fewer than ten informative clusters, some five examples that differ.
    """

    n: int
    clusters: int
    a: float
    b: float
    difference: float
    stderr: float | None
    low: float | None
    high: float | None
    p: float | None
    test: Test
    detectable: float | None
    left_out: int
    note: str
    few: bool

    def mirrored(self) -> "Contrast":
        """The same the other way round."""
        low, high = (None if end is None else -end for end in (self.high, self.low))
        return replace(self, a=self.b, b=self.a, difference=-self.difference, low=low, high=high)


def contrast(first: MetricScores, second: MetricScores, metric: Metric) -> Contrast | None:
    """Compare a metric of two runs.

    Args:
        first: the scores of the first run.
        second: the other run's, of the same examples in the same order.
        metric: whose scores they are; of a group of tasks, each a stratum, the metric over strata.

    Returns:
        None where the metric applies to nothing: for ratios in both runs, else in one, or in a stratum of one.
    """
    aggregation = metric.aggregation.compared
    either = first.known | second.known
    there = (either if aggregation.of_decided else first.known & second.known) & first.computed & second.computed
    both = judged_in_both(first[there], second[there])
    if not there.any() or both is None:
        return None
    a, b, failed = both
    # An example that one run alone decides counts in both, as an example without a denominator.
    of_a, of_b = (aggregation.ratio(replace(scores, known=scores.computed)) for scores in (a, b))
    if of_a.value is None or of_b.value is None:
        return None
    values = a.values, b.values
    is_binary = all(
        scores.numerators.shape[1] == 1 if aggregation.of_decided else ((own == 0) | (own == 1)).all()
        for scores, own in zip((a, b), values, strict=True)
    )
    found = paired(of_a, of_b, metric.range[1], is_counted=is_binary or metric.unit == "share")
    is_enough = min(of_a.clusters, of_b.clusters) >= FEWEST
    is_plain = is_binary and aggregation.is_tested_exactly and len(of_a.influence) == len(a)
    low = high = p = None
    if is_plain:
        lost, gained = (int((sign * (values[1] - values[0]) > 0).sum()) for sign in (-1, 1))
        p = mcnemar(lost, gained)
        low, high = bonett_price(lost, gained, len(a)) if is_enough else (None, None)
    elif found and is_enough:
        low, high, p = found.low, found.high, found.p
    few = f"too few to test: {min(of_a.clusters, of_b.clusters)} independent examples count in one of the runs"
    return Contrast(
        n=len(a) - failed,
        clusters=len(of_a.influence),
        a=of_a.value,
        b=of_b.value,
        difference=of_b.value - of_a.value,
        stderr=found.stderr if found else None,
        low=low,
        high=high,
        p=p,
        test="mcnemar" if is_plain else "t",
        detectable=found.detectable if found and (is_enough or not aggregation.of_decided) else None,
        left_out=int((either & ~there).sum()) + failed,
        note=few if p is None else "",
        few=found is None or found.few,
    )


def judged_in_both(a: MetricScores, b: MetricScores) -> tuple[MetricScores, MetricScores, int] | None:
    """Scores without missing ones, and how many examples fell out because a judge failed in one of the runs.

    Scores are compared where both runs' answers were judged or wrong. Right answers alone can fall out, so each example
    that stays stands for all that are right or wrong in the same runs (:func:`filled`).

    Returns:
        None where no example of a class stayed.
    """
    failed = (a.failed > 0) | (b.failed > 0)
    if not failed.any():
        return a, b, 0
    rights = [scores.right.any(axis=1) for scores in (a, b)]
    _, classes = np.unique(np.column_stack([a.strata, *rights]), axis=0, return_inverse=True)
    found = []
    for scores in (a, b):
        values = filled(np.nan_to_num(scores.values), failed, classes)[:, None, None]
        if np.isnan(values).any():
            return None
        found.append(replace(scores, numerators=values, denominators=values * 0 + 1, right=values[..., 0] * 0))
    return found[0], found[1], int(failed.sum())


# ---- right or wrong, independent


def mcnemar(lost: int, gained: int) -> float:
    """Exact two-sided p-value from the numbers of examples that only one run has right."""
    return min(1.0, 2 * float(scipy.special.bdtr(min(lost, gained), lost + gained, 0.5))) if lost + gained else 1.0


def bonett_price(lost: int, gained: int, n: int) -> tuple[float, float]:
    """95 % interval of the difference of two shares among the same ``n`` examples, ``(gained − lost) / n``."""
    up, down = (gained + 1) / (n + 2), (lost + 1) / (n + 2)
    centre = up - down
    reach = Z * math.sqrt((up + down - centre**2) / (n + 2))
    return max(-1.0, centre - reach), min(1.0, centre + reach)
