"""How large a difference must be to be seen, and how many examples or repeats one of a given size needs.

A two-sided t test at 5 % finds a true difference ``Δ`` with a power of 80 % where ``Δ = (t₀.₉₇₅ + t₀.₈) × stderr``,
some 2.8 standard errors (Cohen, *Statistical Power Analysis for the Behavioral Sciences*, 1988; for evaluations Miller,
arXiv:2411.00640, section 5). McNemar's exact test is discrete and finds less, so its power is summed over the counts
that it may see (Connor, *Biometrics* 1987, has the asymptotic number that the search starts at).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from medtasks_utils.statistics.aggregation import Scores
from medtasks_utils.statistics.ratio import LEVEL

POWER = 0.8


def detectable(stderr: float, freedom: float = math.inf, comparisons: int = 1) -> float:
    """The smallest true difference found four times of five, in the unit of its standard error.

    Args:
        stderr: of the difference.
        freedom: its degrees of freedom, one at least.
        comparisons: how many are corrected together by Holm's method, which may take as small a p-value for the first.
    """
    from scipy.special import ndtri, stdtrit

    ends = 1 - (1 - LEVEL) / comparisons / 2, POWER
    return float(sum(ndtri(end) if math.isinf(freedom) else stdtrit(freedom, end) for end in ends)) * stderr


def examples_needed(difference: float, variance: float, comparisons: int = 1) -> int:
    """How many independent examples find a difference four times of five by a t test.

    Args:
        difference: the true one, not 0.
        variance: mean square of one example's difference between the two runs: for right or wrong, the share of
            examples on which they disagree.
        comparisons: as in :func:`detectable`.
    """
    from scipy.special import ndtri

    of_alternative = max(variance - difference**2, 0.0)
    end = float(ndtri(1 - (1 - LEVEL) / comparisons / 2))
    reach = end * math.sqrt(variance) + float(ndtri(POWER)) * math.sqrt(of_alternative)
    return max(1, math.ceil((reach / abs(difference)) ** 2 - 1e-9))


def power_of_mcnemar(examples: int, difference: float, discordance: float, comparisons: int = 1) -> float:
    """The chance that McNemar's exact test finds a difference in accuracy.

    Args:
        examples: independent ones that both runs have.
        difference: the true one, from 0 to ``discordance``.
        discordance: the share of examples on which the runs disagree.
        comparisons: as in :func:`detectable`.
    """
    from scipy.special import bdtr, ndtri

    middle, reach = examples * discordance, 6 * math.sqrt(examples * discordance * (1 - discordance)) + 1
    seen = np.arange(max(1, int(middle - reach)), min(examples, int(middle + reach)) + 1)
    alpha = (1 - LEVEL) / comparisons
    few = np.floor((seen + float(ndtri(alpha / 2)) * np.sqrt(seen)) / 2) + 1  # about the most that go the other way
    for _ in range(4):
        few = np.where((few >= 0) & (2 * bdtr(np.maximum(few, 0), seen, 0.5) > alpha), few - 1, few)
    gained = (1 + difference / discordance) / 2
    found = sum(np.where(few >= 0, bdtr(np.maximum(few, 0), seen, share), 0.0) for share in (gained, 1 - gained))
    chance = np.diff(bdtr(seen, examples, discordance), prepend=bdtr(seen[0] - 1, examples, discordance))
    return float((chance * found).sum())


def examples_of_mcnemar(difference: float, discordance: float, comparisons: int = 1) -> int:
    """How many independent examples find a difference in accuracy four times of five by McNemar's exact test."""
    least = examples_needed(difference, discordance, comparisons)
    most = least

    def suffices(number: int) -> bool:  # the power of a discrete test goes up and down
        return all(power_of_mcnemar(n, difference, discordance, comparisons) >= POWER for n in (number, number + 1))

    while not suffices(most):
        least, most = most, math.ceil(most * 1.05) + 1
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (least, middle) if suffices(middle) else (middle, most)
    return most


@dataclass(frozen=True)
class Spread:
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

    def stderr(self, repeats: int | None = None, examples: int | None = None) -> float:
        """Standard error of the mean with so many repeats and examples; as they are if not given."""
        number = self.repeats if repeats is None else repeats
        return math.sqrt((self.between + self.within / number) / (self.examples if examples is None else examples))

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


def spread(*runs: Scores) -> Spread | None:
    """The variance of accuracy between and within clusters of examples, from one-way analysis of variance.

    Args:
        runs: one, or two on the same examples, of whose difference the variance is then.

    Returns:
        None without repeats, with different numbers of them, or for fewer than two clusters.
    """
    known = np.logical_and.reduce([run.known for run in runs])
    repeats = runs[0].numerators.shape[1]
    if repeats < 2 or any(((run.denominators > 0).sum(axis=1) != repeats)[known].any() for run in runs):
        return None
    own = [run[known] for run in runs]
    if any(run.numerators.shape[1] != repeats for run in runs):
        return None
    _, places = np.unique(own[0].clusters, return_inverse=True)
    counts = np.bincount(places)
    if len(counts) < 2:
        return None
    values = own[-1].values - sum(run.values for run in own[:-1])
    variances = sum(run.values * (1 - run.values) for run in own) * repeats / (repeats - 1)  # of right or wrong
    within = float((np.bincount(places, variances) / counts**2).mean())
    total = float(np.var(np.bincount(places, values) / counts, ddof=1))
    return Spread(len(counts), repeats, max(0.0, total - within / repeats), within)
