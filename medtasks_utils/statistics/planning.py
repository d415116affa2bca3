"""How many examples or repeats a comparison needs to detect a difference of a given size.

McNemar's exact test is discrete and less powerful than a t test (:func:`.ratio.detectable_difference`), so its power is
summed over all possible counts. The search starts at the asymptotic number (Connor, *Biometrics* 1987).
"""

import bisect
import math
from typing import NamedTuple

import numpy as np
import scipy

from .ratio import CONFIDENCE, POWER
from .score_arrays import MetricScores


def examples_needed(difference: float, variance: float, comparisons: int = 1) -> int:
    """Return the number of independent examples with which a t test detects a difference with a power of 80 %.

    Args:
        difference: the true difference, not 0, in any unit.
        variance: the mean square of one example's difference between the runs, in the square of that unit. For right or
            wrong answers it is the share of examples on which the runs disagree.
        comparisons: the number of p-values that Holm's method corrects together. The first one may have to be that many
            times smaller.
    """
    variance_about_difference = max(variance - difference**2, 0.0)
    quantile = float(scipy.special.ndtri(1 - (1 - CONFIDENCE) / comparisons / 2))
    reach = quantile * math.sqrt(variance) + float(scipy.special.ndtri(POWER)) * math.sqrt(variance_about_difference)
    return max(1, math.ceil((reach / abs(difference)) ** 2 - 1e-9))


def mcnemar_power(examples: int, difference: float, discordance: float, comparisons: int = 1) -> float:
    """Return the probability, 0 to 1, that McNemar's exact test detects a difference in accuracy.

    Args:
        examples: the number of independent examples that both runs have.
        difference: the true difference, from 0 to ``discordance``.
        discordance: the share of examples on which the runs disagree, 0 to 1.
        comparisons: see :func:`examples_needed`.
    """
    from scipy.stats import binom  # takes half a second

    fewest, most = binom.interval(1 - 1e-9, examples, discordance)
    discordant = np.arange(max(1, fewest), most + 1)
    tail = (1 - CONFIDENCE) / comparisons / 2
    critical = binom.ppf(tail, discordant, 0.5)  # the largest significant count of the rarer direction, or one more
    critical = np.where(binom.cdf(critical, discordant, 0.5) > tail, critical - 1, critical)
    gained = (1 + difference / discordance) / 2
    power = binom.cdf(critical, discordant, gained) + binom.cdf(critical, discordant, 1 - gained)
    return float(binom.pmf(discordant, examples, discordance) @ power)


def examples_needed_by_mcnemar(difference: float, discordance: float, comparisons: int = 1) -> int:
    """Return the number of independent examples with which McNemar's exact test has a power of 80 %.

    The arguments are those of :func:`mcnemar_power`.
    """

    def suffices(examples: int) -> bool:
        """Return whether this number and the next have the power, which goes up and down in a discrete test."""
        return all(mcnemar_power(n, difference, discordance, comparisons) >= POWER for n in (examples, examples + 1))

    fewest = most = examples_needed(difference, discordance, comparisons)
    while not suffices(most):
        fewest, most = most, math.ceil(most * 1.05) + 1
    return bisect.bisect_left(range(most), True, lo=fewest, key=suffices)


class VarianceComponents(NamedTuple):
    """The variance of a mean over examples, split into that between examples and that between repeats of one example.

    Attributes:
        examples: the number of independent examples or clusters.
        repeats: the number of generations of each.
        between: variance of the examples' expected values.
        within: variance of one generation about its example's expected value.
    """

    examples: int
    repeats: int
    between: float
    within: float

    def stderr(self, repeats: int) -> float:
        """Return the standard error of the mean with a number of repeats."""
        return math.sqrt((self.between + self.within / repeats) / self.examples)

    def __str__(self) -> str:
        """Describe the components of values from 0 to 1, with standard errors in percentage points."""
        total = self.between + self.within
        share = f"{self.between / total:.0%}" if total else "none"
        now, with_one_more = (100 * self.stderr(repeats) for repeats in (self.repeats, self.repeats + 1))
        return (
            f"{self.repeats} repeats; {share} of the variance of one answer lies between examples; the standard error "
            f"is {now:.2f} points, and would be {with_one_more:.2f} with one more repeat"
        )

    def repeats_needed(self, stderr: float) -> int | None:
        """Return how many repeats bring the standard error down to this one; None if no number does."""
        within_per_repeat = self.examples * stderr**2 - self.between
        return None if within_per_repeat <= 0 else max(1, math.ceil(self.within / within_per_repeat - 1e-9))


def variance_components(*runs: MetricScores) -> VarianceComponents | None:
    """Return the variance of accuracy between and within clusters of examples, by one-way analysis of variance.

    Args:
        runs: right or wrong answers of one run; or of two runs on the same examples, for the variance of the
            difference.

    Returns:
        None if examples have one generation, or different numbers of them, or if there are fewer than two clusters.
    """
    in_all = np.logical_and.reduce([run.applies for run in runs])
    runs = tuple(run[in_all] for run in runs)
    generations = np.unique([run.counted.sum(axis=1) for run in runs])
    repeats = int(generations[0]) if len(generations) == 1 else 1
    _, cluster_of, sizes = np.unique(runs[0].clusters, return_inverse=True, return_counts=True)
    if repeats < 2 or len(sizes) < 2:
        return None
    values = runs[-1].values - sum(run.values for run in runs[:-1])
    variances = sum(run.values * (1 - run.values) for run in runs) * repeats / (repeats - 1)
    within = float((np.bincount(cluster_of, variances) / sizes**2).mean())
    total = float(np.var(np.bincount(cluster_of, values) / sizes, ddof=1))
    return VarianceComponents(len(sizes), repeats, max(0.0, total - within / repeats), within)
