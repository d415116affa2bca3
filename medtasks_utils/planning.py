"""How large a difference must be to be seen, and how many examples or repeats one of a given size needs.

A two-sided test at 5 % finds a true difference ``Δ`` with a power of 80 % where ``Δ = (t₀.₉₇₅ + t₀.₈) × stderr``, some
2.8 standard errors (Cohen, *Statistical Power Analysis for the Behavioral Sciences*, 1988; for evaluations Miller,
arXiv:2411.00640, section 5).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

LEVEL = 0.95
POWER = 0.8


def detectable(stderr: float, freedom: float = math.inf) -> float:
    """The smallest true difference found four times of five, in the unit of its standard error.

    Args:
        stderr: of the difference.
        freedom: its degrees of freedom, one at least.
    """
    from scipy.special import ndtri, stdtrit

    if math.isinf(freedom):
        return float(ndtri((1 + LEVEL) / 2) + ndtri(POWER)) * stderr
    return float(stdtrit(freedom, (1 + LEVEL) / 2) + stdtrit(freedom, POWER)) * stderr


def examples_needed(difference: float, variance: float) -> int:
    """How many independent examples find a difference four times of five.

    Args:
        difference: the true one, not 0.
        variance: mean square of one example's difference between the two runs: for right or wrong, the share of
            examples on which they disagree.
    """
    from scipy.special import ndtri

    of_alternative = max(variance - difference**2, 0.0)  # Connor, *Biometrics* 1987
    reach = ndtri((1 + LEVEL) / 2) * math.sqrt(variance) + ndtri(POWER) * math.sqrt(of_alternative)
    return max(1, math.ceil(float(reach / abs(difference)) ** 2 - 1e-9))


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


def spread_of_clusters(rows: Iterable[tuple[Hashable, float, float]], repeats: int) -> Spread | None:
    """The variance between and within clusters of examples; None for fewer than two.

    Args:
        rows: of each example its cluster, its mean over the generations, and the variance of one generation.
        repeats: generations of each.
    """
    clusters: dict[Hashable, list[tuple[float, float]]] = defaultdict(list)
    for cluster, value, within in rows:
        clusters[cluster].append((value, within))
    if not clusters:
        return None
    means = [math.fsum(value for value, _ in own) / len(own) for own in clusters.values()]
    withins = [math.fsum(within for _, within in own) / len(own) ** 2 for own in clusters.values()]
    return spread(means, repeats, math.fsum(withins) / len(withins))


def spread(values: Sequence[float], repeats: int, within: float) -> Spread | None:
    """The variance between and within examples, from one-way analysis of variance; None for fewer than two examples.

    Args:
        values: the examples' means over their generations.
        repeats: generations of each.
        within: mean variance of one generation, as from :func:`variance_within`.
    """
    if len(values) < 2:
        return None
    mean = math.fsum(values) / len(values)
    total = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return Spread(len(values), repeats, max(0.0, total - within / repeats), within)


def variance_within(shares: Sequence[float | None], repeats: int) -> float:
    """Variance of the sum or difference of one generation each of some models, right or wrong, on one example.

    Args:
        shares: how many of each model's generations are right, as shares.
        repeats: generations of each, two at least.
    """
    return math.fsum(p * (1 - p) for p in shares if p is not None) * repeats / (repeats - 1)
