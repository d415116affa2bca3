"""How many examples or repeats a difference of a given size needs to be seen.

McNemar's exact test is discrete and finds less than a t test (:func:`.ratio.detectable`), so its power is summed over
the counts that it may see (Connor, *Biometrics* 1987, has the asymptotic number that the search starts at).
"""

import bisect
import math
from typing import NamedTuple

import numpy as np
import scipy

from .ratio import LEVEL, POWER
from .scores import MetricScores


def examples_needed(difference: float, variance: float, comparisons: int = 1) -> int:
    """How many independent examples find a difference four times of five by a t test.

    Args:
        difference: the true one, not 0.
        variance: mean square of one example's difference between the two runs: for right or wrong, the share of
            examples on which they disagree.
        comparisons: how many are corrected together by Holm's method, which may take as small a p-value for the first.
    """
    of_alternative = max(variance - difference**2, 0.0)
    end = float(scipy.special.ndtri(1 - (1 - LEVEL) / comparisons / 2))
    reach = end * math.sqrt(variance) + float(scipy.special.ndtri(POWER)) * math.sqrt(of_alternative)
    return max(1, math.ceil((reach / abs(difference)) ** 2 - 1e-9))


def power_of_mcnemar(examples: int, difference: float, discordance: float, comparisons: int = 1) -> float:
    """The chance that McNemar's exact test finds a difference in accuracy.

    Args:
        examples: independent ones that both runs have.
        difference: the true one, from 0 to ``discordance``.
        discordance: the share of examples on which the runs disagree.
        comparisons: as in :func:`examples_needed`.
    """
    from scipy.stats import binom  # takes half a second

    fewest, most = binom.interval(1 - 1e-9, examples, discordance)
    seen = np.arange(max(1, fewest), most + 1)
    half = (1 - LEVEL) / comparisons / 2
    other_way = binom.ppf(half, seen, 0.5)  # the most of them that may go the other way, or one more
    other_way = np.where(binom.cdf(other_way, seen, 0.5) > half, other_way - 1, other_way)
    gained = (1 + difference / discordance) / 2
    found = binom.cdf(other_way, seen, gained) + binom.cdf(other_way, seen, 1 - gained)
    return float(binom.pmf(seen, examples, discordance) @ found)


def examples_of_mcnemar(difference: float, discordance: float, comparisons: int = 1) -> int:
    """How many independent examples find a difference in accuracy four times of five by McNemar's exact test."""

    def suffices(number: int) -> bool:  # the power of a discrete test goes up and down
        return all(power_of_mcnemar(n, difference, discordance, comparisons) >= POWER for n in (number, number + 1))

    least = most = examples_needed(difference, discordance, comparisons)
    while not suffices(most):
        least, most = most, math.ceil(most * 1.05) + 1
    return bisect.bisect_left(range(most), True, lo=least, key=suffices)


class Spread(NamedTuple):
    """Where the variance of a mean over examples comes from.

    Attributes:
        examples: how many.
        repeats: generations of each.
        between: variance of the examples' expected values.
        within: variance of one generation about its example's expected value.
    """

    examples: int
    repeats: int
    between: float
    within: float

    def stderr(self, repeats: int) -> float:
        """Standard error of the mean with so many repeats."""
        return math.sqrt((self.between + self.within / repeats) / self.examples)

    def __str__(self) -> str:
        """In words, for values from 0 to 1."""
        whole = self.between + self.within
        share = f"{self.between / whole:.0%}" if whole else "none"
        now, more = (100 * self.stderr(number) for number in (self.repeats, self.repeats + 1))
        return (
            f"{self.repeats} repeats; {share} of the variance of one answer lies between examples; the standard error "
            f"is {now:.2f} points, and {more:.2f} with one repeat more"
        )

    def repeats_needed(self, stderr: float) -> int | None:
        """Repeats that bring the standard error down to this one; None where no number does."""
        room = self.examples * stderr**2 - self.between
        return None if room <= 0 else max(1, math.ceil(self.within / room - 1e-9))


def spread(*runs: MetricScores) -> Spread | None:
    """The variance of accuracy between and within clusters of examples, from one-way analysis of variance.

    Args:
        runs: one, or two on the same examples, of whose difference the variance is then.

    Returns:
        None without repeats, with different numbers of them, or for fewer than two clusters.
    """
    own = [run[np.logical_and.reduce([run.known for run in runs])] for run in runs]
    generations = np.unique([run.counted.sum(axis=1) for run in own])
    repeats = int(generations[0]) if len(generations) == 1 else 1
    _, places, counts = np.unique(own[0].clusters, return_inverse=True, return_counts=True)
    if repeats < 2 or len(counts) < 2:
        return None
    values = own[-1].values - sum(run.values for run in own[:-1])
    variances = sum(run.values * (1 - run.values) for run in own) * repeats / (repeats - 1)  # of right or wrong
    within = float((np.bincount(places, variances) / counts**2).mean())
    total = float(np.var(np.bincount(places, values) / counts, ddof=1))
    return Spread(len(counts), repeats, max(0.0, total - within / repeats), within)
