"""Confidence intervals of all metrics.

=========  ==========================================================================================================
``share``  Wilson's (JASA 1927), with the effective number of examples ``p (1 − p) / stderr²`` where they are
           clustered (Korn & Graubard, *Survey Methodology* 1998), so that it holds for small groups and at 0 and 1
``f1``     the same by way of ``TP / (TP + FP + FN)``, which is a share (Flores et al., *Journal of Applied
           Statistics* 2022)
``score``  ``value ± t × stderr``, with one degree of freedom less than there are clusters, within the metric's range
``none``   sums have none
=========  ==========================================================================================================
"""

from __future__ import annotations

import math
from statistics import NormalDist

from scipy.special import stdtrit

from medtasks_utils.metrics import Metric

LEVEL = 0.95
_Z = NormalDist().inv_cdf((1 + LEVEL) / 2)

Interval = tuple[float | None, float | None]


def confidence_interval(
    metric: Metric, value: float, stderr: float | None, clusters: int | None, is_macro: bool = False
) -> Interval:
    """The 95 % interval of a metric's value; two None where there is none.

    Args:
        metric: what the value is of.
        value: in the metric's own unit.
        stderr: its standard error; None where that is not known.
        clusters: how many independent clusters of examples it is of; None where that is not known.
        is_macro: whether the value is an unweighted mean over groups, which is no share of examples.
    """
    if metric.interval == "none" or (clusters is None and stderr is None):
        return None, None
    if metric.interval == "score" or is_macro:
        return _t_interval(metric, value, stderr, clusters)
    if metric.interval == "f1":
        share = value / (2 - value)
        error = None if stderr is None else stderr * (1 + share) ** 2 / 2  # d share / d F1
        low, high = wilson(share, effective_number(share, error, clusters))
        return 2 * low / (1 + low), 2 * high / (1 + high)
    return wilson(value, effective_number(value, stderr, clusters))


def _t_interval(metric: Metric, value: float, stderr: float | None, clusters: int | None) -> Interval:
    if stderr is None:
        return None, None
    reach = stderr * (_Z if clusters is None else float(stdtrit(max(clusters - 1, 1), (1 + LEVEL) / 2)))
    lowest, highest = metric.range
    low, high = value - reach, value + reach
    return low if lowest is None else max(lowest, low), high if highest is None else min(highest, high)


def effective_number(share: float, stderr: float | None, clusters: int | None) -> float:
    """How many independent examples would have this standard error; the clusters, where it tells nothing."""
    if stderr and 0 < share < 1:
        return share * (1 - share) / stderr**2
    return clusters or 1


def wilson(share: float, number: float) -> tuple[float, float]:
    """Wilson's 95 % interval for a share of ``number`` independent examples."""
    shrunk = number / (number + _Z**2)
    centre = shrunk * share + (1 - shrunk) / 2
    reach = shrunk * _Z * math.sqrt(share * (1 - share) / number + (_Z / number) ** 2 / 4)
    return max(0.0, centre - reach), min(1.0, centre + reach)
