"""Compute the difference that a comparison of two runs detects, and the examples or repeats needed to detect one.

Both follow from one formula (:class:`Sensitivity`) and are inverse to each other.
"""

import bisect
import math
from typing import NamedTuple

import numpy as np
import scipy

from .ratio import POWER, Z, student
from .score_arrays import MetricScores

_MOST_EXAMPLES = 10**11
_STEPS = 10**9  # of a difference from 0 to 1


class Sensitivity(NamedTuple):
    """The determinants of the true difference that a test at 5 % detects with 80 % power, in the metric's unit.

    With n clusters, Student's t test detects ``t₀.₉₇₅ × error + t₀.₈ × stderr`` (Cohen, *Statistical Power Analysis for
    the Behavioral Sciences*, 1988; for evaluations Miller, arXiv:2411.00640, section 5), where ``error`` includes the
    term that the test adds to the standard error. McNemar's exact test detects
    ``z₀.₉₇₅ √(D/n) + 1/n + z₀.₈ √((D − difference²)/n)``, where D is the share of examples on which the runs disagree,
    and ``1/n`` is the continuity correction (Connor, *Biometrics* 1987).

    Attributes:
        clusters: the number of independent clusters in the runs.
        stderr: the standard error of the difference.
        error: the standard error, including the term that the test adds.
        degrees_of_freedom: the degrees of freedom of the standard error.
        discordance: for McNemar's test, the share of examples on which the runs disagree, 0 to 1; else None.
    """

    clusters: int
    stderr: float
    error: float
    degrees_of_freedom: float
    discordance: float | None = None

    @property
    def detectable(self) -> float:
        """The smallest true difference detected with 80 % power; above 1 if McNemar's test detects none."""
        if self.discordance is None:
            return self._reached(0.0, self.clusters)
        step = bisect.bisect_left(
            range(2 * _STEPS), True, key=lambda step: self._reached(step / _STEPS, self.clusters) <= step / _STEPS
        )
        return step / _STEPS

    def examples_needed(self, difference: float) -> int:
        """Return the number of clusters, at most 10¹¹, needed to detect a true difference above 0."""
        goal = difference * (1 + 1e-7)  # allows for rounding errors
        return bisect.bisect_left(
            range(_MOST_EXAMPLES), True, lo=1, key=lambda clusters: self._reached(difference, clusters) <= goal
        )

    def _reached(self, difference: float, clusters: int) -> float:
        """Return the detectable difference for a number of clusters if the true one is ``difference``.

        The runs are assumed to disagree at least as often as the true difference implies.
        """
        growth = clusters / self.clusters
        if self.discordance is None:
            freedom = max(1.0, self.degrees_of_freedom * growth)
            stderr = self.stderr / math.sqrt(growth)
            added = math.sqrt(max(0.0, self.error**2 - self.stderr**2)) / growth
            return student(freedom) * math.hypot(stderr, added) + student(freedom, POWER) * stderr
        discordance = min(1.0, max(self.discordance, difference))
        stderr = math.sqrt(max(0.0, discordance - difference**2) / clusters)
        return Z * math.sqrt(discordance / clusters) + 1 / clusters + float(scipy.special.ndtri(POWER)) * stderr


def repeats_needed(a: MetricScores, b: MetricScores, stderr: float) -> int | None:
    """Return the number of repeats in each run at which the difference in accuracy has the given standard error.

    The variance of the difference is split, by one-way analysis of variance, into the variance between clusters, which
    repeats do not reduce, and the variance within them. None if no number is enough, or if a run has one generation per
    example or unequal numbers of them.

    Args:
        a: the accuracy scores of the first run.
        b: the accuracy scores of the second run on the same examples; at least two examples must be in both runs.
        stderr: the target standard error.
    """
    in_both = a.applies & b.applies
    runs = a[in_both], b[in_both]
    _, cluster_of, sizes = np.unique(runs[0].clusters, return_inverse=True, return_counts=True)
    within = within_of_means = 0.0
    for run in runs:
        generations = run.counted.sum(axis=1)
        repeats = int(generations.min())
        if repeats < 2 or repeats < generations.max():
            return None
        variances = run.values * (1 - run.values) * repeats / (repeats - 1)
        of_run = float((np.bincount(cluster_of, variances) / sizes**2).mean())
        within += of_run
        within_of_means += of_run / repeats
    total = float(np.var(np.bincount(cluster_of, runs[1].values - runs[0].values) / sizes, ddof=1))
    within_of_wanted = len(sizes) * stderr**2 - max(0.0, total - within_of_means)
    return max(1, math.ceil(within / within_of_wanted - 1e-9)) if within_of_wanted > 0 else None
