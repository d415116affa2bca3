"""Compute the difference that a comparison of two runs detects, and the examples or repeats that a difference needs.

Both follow from one formula (:class:`Sensitivity`): with as many examples as a difference needs, this difference
is just detectable.
"""

import bisect
import math
from typing import NamedTuple

import numpy as np
import scipy

from .ratio import ALPHA, POWER
from .score_arrays import MetricScores

_MOST_EXAMPLES = 10**11


class Sensitivity(NamedTuple):
    """The quantities that determine which true differences a test at 5 % detects with 80 % power, in the metric's unit.

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
        """The smallest true difference that is detected; above 1 if McNemar's test detects none."""
        low, high = 0.0, 2.0
        if self.discordance is None:
            return self._reached(0.0, self.clusters, 1)
        while high - low > 1e-9:
            middle = (low + high) / 2
            low, high = (low, middle) if self._reached(middle, self.clusters, 1) <= middle else (middle, high)
        return high

    def examples_needed(self, difference: float, comparisons: int = 1) -> int:
        """Return the number of clusters needed to detect a true difference.

        Args:
            difference: the true difference, above 0.
            comparisons: the number of p-values that Holm's method corrects together; the smallest one is multiplied by
                this number.
        """

        def suffices(clusters: int) -> bool:
            """Return whether a number of clusters detects the difference, allowing for rounding errors."""
            return self._reached(difference, clusters, comparisons) <= difference * (1 + 1e-7)

        return 1 + bisect.bisect_left(range(1, _MOST_EXAMPLES), True, key=suffices)

    def _reached(self, difference: float, clusters: int, comparisons: int) -> float:
        """Return the difference that is detected with a number of clusters.

        The runs are assumed to disagree at least as often as the true difference implies. The other arguments are those
        of :meth:`examples_needed`.
        """
        significant = 1 - ALPHA / comparisons / 2
        growth = clusters / self.clusters
        if self.discordance is None:
            freedom = max(1.0, self.degrees_of_freedom * growth)
            stderr = self.stderr / math.sqrt(growth)
            added = math.sqrt(max(0.0, self.error**2 - self.stderr**2)) / growth
            critical, of_power = (float(scipy.special.stdtrit(freedom, p)) for p in (significant, POWER))
            return critical * math.hypot(stderr, added) + of_power * stderr
        discordance = min(1.0, max(self.discordance, difference))
        stderr = math.sqrt(max(0.0, discordance - difference**2) / clusters)
        critical = float(scipy.special.ndtri(significant)) * math.sqrt(discordance / clusters) + 1 / clusters
        return critical + float(scipy.special.ndtri(POWER)) * stderr


class VarianceComponents(NamedTuple):
    """The variance of a mean over examples, split into the variances between examples and between repeats.

    Attributes:
        examples: the number of independent examples or clusters.
        repeats: the number of generations per example; if two runs have different numbers, the number that both would
            need for the same standard error.
        between: the variance of the examples' expected values.
        within: the variance of a generation around its example's expected value.
    """

    examples: int
    repeats: float
    between: float
    within: float

    def stderr(self, repeats: float) -> float:
        """Return the standard error of the mean for a number of repeats."""
        return math.sqrt((self.between + self.within / repeats) / self.examples)

    def __str__(self) -> str:
        """Describe the components in one line, with standard errors in percentage points; values are from 0 to 1."""
        total = self.between + self.within
        share = f"{self.between / total:.0%}" if total else "none"
        now, with_one_more = (100 * self.stderr(repeats) for repeats in (self.repeats, self.repeats + 1))
        return (
            f"{self.repeats:.3g} repeats; {share} of the variance of one answer lies between examples; the standard "
            f"error is {now:.2f} points, and would be {with_one_more:.2f} with one more repeat"
        )

    def repeats_needed(self, stderr: float) -> int | None:
        """Return the number of repeats with which the standard error is at most ``stderr``; None if no number is."""
        within_per_repeat = self.examples * stderr**2 - self.between
        return None if within_per_repeat <= 0 else max(1, math.ceil(self.within / within_per_repeat - 1e-9))


def variance_components(*runs: MetricScores) -> VarianceComponents | None:
    """Estimate the variance of accuracy between and within clusters, by one-way analysis of variance.

    Args:
        runs: the accuracy scores of one run, or of two runs on the same examples, for the variance of their difference.

    Returns:
        The components; None if a run has one generation per example or unequal numbers of generations, or if there are
        fewer than two clusters.
    """
    in_all = np.logical_and.reduce([run.applies for run in runs])
    runs = tuple(run[in_all] for run in runs)
    _, cluster_of, sizes = np.unique(runs[0].clusters, return_inverse=True, return_counts=True)
    if len(sizes) < 2:
        return None
    within = within_of_means = 0.0
    for run in runs:
        generations = run.counted.sum(axis=1)
        repeats = int(generations.min())
        if repeats < 2 or repeats < generations.max():
            return None
        variances = run.values * (1 - run.values) * repeats / (repeats - 1)
        within_run = float((np.bincount(cluster_of, variances) / sizes**2).mean())
        within += within_run
        within_of_means += within_run / repeats
    values = runs[-1].values - sum(run.values for run in runs[:-1])
    total = float(np.var(np.bincount(cluster_of, values) / sizes, ddof=1))
    repeats_of_all = round(within / within_of_means, 9) if within else float(repeats)
    return VarianceComponents(len(sizes), repeats_of_all, max(0.0, total - within_of_means), within)
