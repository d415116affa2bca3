"""Is the difference between two runs on the same examples more than chance?

============================  ==============================================  =====================================
metric                        p-value                                         95 % confidence interval
============================  ==============================================  =====================================
right or wrong, independent   McNemar's exact test (*Psychometrika* 1947)     adjusted Wald (Bonett & Price, *Journal
examples                                                                      of Educational and Behavioral
                                                                              Statistics* 2012)
means: macro averages,        approximate randomisation (Noreen 1989): the    ``difference ± t × stderr``, the
scores, repeats, clustered    two runs' results are swapped by a fair coin    standard error linearised and paired
examples                      in each cluster, 10,000 times or, where that    (:mod:`medtasks_utils.statistics`)
                              is fewer, in every possible way
ratios over decided examples  the same, of ``|difference| / stderr``: the     the same; none below ten decided
(F1 and its kin)              runs may decide different examples (Janssen,    clusters in either run, and no p-value
                              *Statistics & Probability Letters* 1997;
                              Chung & Romano, *Annals of Statistics* 2013)
============================  ==============================================  =====================================

A cluster is what is not independent: the examples that share a question, or one example. The randomisation is exact for
any metric and any dependence within clusters where the two models are interchangeable, but for ties, which count half;
studentised, it also holds its rate, for many clusters, where they are equal in the metric alone. Where all values are 0
or 1, the variance behind an interval has one example more that is gained and one that is lost, as Bonett and Price's
has: 0 of 20 is not sure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist
from typing import Literal

import numpy as np

from medtasks_utils.compare.randomisation import RESAMPLES, randomisation
from medtasks_utils.compare.terms import Aggregation, Indices, Item, Terms, terms_of
from medtasks_utils.intervals import FEWEST, LEVEL
from medtasks_utils.planning import detectable
from medtasks_utils.statistics import ExampleValue, Mean, VerdictRatio, informative_clusters

Test = Literal["mcnemar", "randomisation", "t"]
Pairs = Sequence[tuple[Item, Item]]

_Z = NormalDist().inv_cdf((1 + LEVEL) / 2)


@dataclass(frozen=True)
class Contrast:
    """A metric in two runs on the same examples.

    Attributes:
        n: examples that the metric applies to in either run; of judged ones, those judged or wrong in both.
        clusters: independent ones among them.
        a: value in the first run, in the metric's own unit.
        b: value in the second run.
        difference: ``b − a``.
        stderr: of the difference; None for fewer than two clusters.
        low: lower end of the 95 % confidence interval of the difference, None where there is none.
        high: its upper end.
        p: two-sided p-value; None where there is too little to test, which ``note`` explains.
        test: which suits the metric; ``t`` where the runs have different numbers of generations, which cannot swap.
        detectable: the smallest true difference that a test at 5 % finds four times of five; None without a stderr.
        left_out: examples that fell out since a judge failed in one of the runs.
        note: why there is no p-value, or what else is to be known of this line.
        informative: how many clusters the interval rests on, which is some twice as many as differ where few do
            (:func:`medtasks_utils.statistics.informative_clusters`).
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
    detectable: float | None = None
    left_out: int = 0
    note: str = ""
    informative: float = 0.0

    @property
    def is_of_too_few(self) -> bool:
        """Whether the interval rests on fewer than ten informative clusters."""
        return self.informative < FEWEST


def contrast(
    first: Sequence[Item],
    second: Sequence[Item],
    aggregation: Aggregation,
    *,
    top: float | None = 1.0,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Contrast | None:
    """Compare two runs on the same examples.

    Args:
        first: a value for each example; None where the metric does not apply.
        second: the other run's, in the same order.
        aggregation: what makes the metric of such values.
        top: the metric's largest value, the smallest being 0; None if it has no range.
        resamples: how often to randomise.
        seed: of the randomisation; the same input gives the same p-value.

    Returns:
        None where the metric applies to nothing: for F1 and its kin in both runs, else in one, or in a stratum of one.
    """
    there = [(a, b) for a, b in zip(first, second, strict=True) if a is not None or b is not None]
    if not there:
        return None
    is_ratio = isinstance(aggregation, VerdictRatio)
    found = (there, 0) if is_ratio else judged_in_both(there)
    if found is None:
        return None
    pairs, left_out = found
    (a, b), strata = terms_of(pairs, aggregation, 2)
    if not is_ratio and not all(terms.denominator.sum(axis=0).all() for terms in (a, b)):
        return None
    counted = min(a.counted, b.counted)
    shared = (len(pairs) - left_out, len(strata), a.value, b.value, b.value - a.value)
    error = paired_stderr(a, b, strata)
    of = partial(Contrast, *shared, error, informative=_informative(a, b))
    if is_ratio and counted < FEWEST:
        return of(None, None, None, "randomisation", note=_too_few(a, b))
    freedom = counted - len(np.unique(strata))
    is_binary = _are_binary(pairs, aggregation)
    if is_binary and isinstance(aggregation, Mean) and len(strata) == len(pairs):
        steps = b.numerator - a.numerator
        lost, gained = int((steps < 0).sum()), int((steps > 0).sum())
        ends = bonett_price(lost, gained, len(pairs))
        reach = None if error is None else detectable(_smoothed(error, a, b, strata, 1.0), freedom)
        return of(*ends, mcnemar(lost, gained), "mcnemar", reach)
    low = high = reach = None
    if error is not None:
        wide = _smoothed(error, a, b, strata, top or 1.0) if is_binary or error == 0 else error
        low, high = _t_interval(b.value - a.value, wide, freedom, top)
        reach = detectable(wide, freedom)
    if a.numerator.shape != b.numerator.shape:
        p = _t_test(b.value - a.value, error, freedom)
        return of(low, high, p, "t", reach, left_out)
    p = randomisation(a, b, resamples, seed, studentised=is_ratio)
    return of(low, high, p, "randomisation", reach, left_out)


def _too_few(a: Terms, b: Terms) -> str:
    said = [f"{name} decides {terms.counted or 'none'}" for name, terms in (("A", a), ("B", b))]
    few = [text for text, terms in zip(said, (a, b), strict=True) if terms.counted < FEWEST]
    return f"too few to test: {' and '.join(few)} of {len(a.numerator):,} that count here"


# ---- judge failures


def judged_in_both(pairs: Pairs) -> tuple[Pairs, int] | None:
    """Pairs without missing scores, and how many fell out because a judge failed in one of the runs.

    Scores are compared where both runs' answers were judged or wrong. Right answers alone can fall out, so each pair
    that stays stands for all pairs that are right or wrong in the same runs: pseudo-values as in
    :func:`medtasks_utils.statistics.completed`, with the four ways to be right or wrong in two runs as classes.

    Returns:
        None where no pair of a class stayed.
    """
    if not any(item is not None and item.failed for pair in pairs for item in pair):
        return pairs, 0
    classes: dict[tuple[object, ...], list[int]] = {}
    for index, pair in enumerate(pairs):
        there = next(item for item in pair if item is not None)
        right = [item is not None and item.right > 0 for item in pair]
        classes.setdefault((there.stratum, *right), []).append(index)
    completed_pairs = list(pairs)
    left_out = 0
    for members in classes.values():
        staying = [i for i in members if not any(item is not None and item.failed for item in pairs[i])]
        if not staying:
            return None
        left_out += len(members) - len(staying)
        weight, kept = len(members) / len(staying), set(staying)
        for side in (0, 1):
            average = math.fsum(pairs[i][side] or 0.0 for i in staying) / len(staying)
            for i in members:
                item = pairs[i][side]
                value = average + weight * ((item or 0.0) - average) if i in kept else average
                both = list(completed_pairs[i])
                both[side] = None if item is None else ExampleValue(value, item.cluster, item.stratum)
                completed_pairs[i] = (both[0], both[1])
    return completed_pairs, left_out


# ---- right or wrong, independent


def mcnemar(lost: int, gained: int) -> float:
    """Exact two-sided p-value from the numbers of examples that only one run has right."""
    from scipy.stats import binomtest

    return float(binomtest(lost, lost + gained).pvalue) if lost + gained else 1.0


def bonett_price(lost: int, gained: int, n: int) -> tuple[float, float]:
    """95 % interval of the difference of two shares among the same ``n`` examples, ``(gained − lost) / n``."""
    up, down = (gained + 1) / (n + 2), (lost + 1) / (n + 2)
    centre = up - down
    reach = _Z * math.sqrt((up + down - centre**2) / (n + 2))
    return max(-1.0, centre - reach), min(1.0, centre + reach)


def _are_binary(pairs: Pairs, aggregation: Aggregation) -> bool:
    if isinstance(aggregation, VerdictRatio):
        return all(item is None or len(item.verdicts) <= 1 for pair in pairs for item in pair)
    return all(value is not None and value in (0.0, 1.0) for pair in pairs for value in pair)


# ---- standard errors and intervals


def paired_stderr(a: Terms, b: Terms, strata: Indices) -> float | None:
    """Standard error of the difference; None where a stratum has fewer than two clusters that count in either run."""
    scaled = []
    for terms in (a, b):
        counts = np.bincount(strata, weights=(terms.denominator > 0).any(axis=1))
        if (counts < 2).any():
            return None
        scaled.append(terms.influence * np.sqrt(counts / (counts - 1))[strata])
    return float(np.linalg.norm(scaled[1] - scaled[0]))


def _informative(a: Terms, b: Terms) -> float:
    counted = (a.denominator > 0).any(axis=1) | (b.denominator > 0).any(axis=1)
    return informative_clusters((b.influence - a.influence)[counted].tolist())


def _smoothed(error: float, a: Terms, b: Terms, strata: Indices, unit: float) -> float:
    """The standard error with one example more gained and one more lost, in each stratum."""
    variance = error**2
    for terms in (a, b):
        counts = np.bincount(strata, weights=terms.denominator.sum(axis=1))
        variance += float(((unit / len(counts) / counts) ** 2).sum())
    return math.sqrt(variance)


def _t_interval(difference: float, error: float, freedom: int, top: float | None) -> tuple[float, float]:
    from scipy.special import stdtrit

    reach = float(stdtrit(freedom, (1 + LEVEL) / 2)) * error
    if top is None:
        return difference - reach, difference + reach
    return max(-top, difference - reach), min(top, difference + reach)


def _t_test(difference: float, error: float | None, freedom: int) -> float:
    from scipy.special import stdtr

    if not error:
        return 1.0 if difference == 0 or error is None else 0.0
    return 2 * float(stdtr(freedom, -abs(difference) / error))


# ---- many comparisons


def holm(p_values: Sequence[float], family: int | None = None) -> list[float]:
    """p-values adjusted for the chance of any false alarm among all of them (Holm, *Scand. J. Statistics* 1979).

    Where the family has more comparisons than are at hand, the others count as the least significant.
    """
    number = max(family or 0, len(p_values))
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (number - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def benjamini_hochberg(p_values: Sequence[float], family: int | None = None) -> list[float]:
    """p-values adjusted for the share of false alarms among those called significant (Benjamini & Hochberg 1995).

    Where the family has more comparisons than are at hand, the others count as the least significant.
    """
    from scipy.stats import false_discovery_control

    unseen = max(0, (family or 0) - len(p_values))
    adjusted = false_discovery_control([*p_values, *[1.0] * unseen]) if p_values else []
    return [float(p) for p in adjusted[: len(p_values)]]
