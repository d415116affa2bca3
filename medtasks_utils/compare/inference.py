"""Is the difference between two runs on the same examples more than chance?

============================  ==============================================  =====================================
metric                        p-value                                         95 % confidence interval
============================  ==============================================  =====================================
right or wrong, independent   McNemar's exact test (*Psychometrika* 1947)     adjusted Wald (Bonett & Price, *Journal
examples                                                                      of Educational and Behavioral
                                                                              Statistics* 2012)
all else: F1, macro           approximate randomisation (Noreen 1989): the    ``difference ± t × stderr``, the
averages, scores, means over  two runs' results are swapped by a fair coin    standard error linearised and paired
repeats, clustered examples   in each cluster, 10,000 times or, where that    (:mod:`medtasks_utils.statistics`)
                              is fewer, in every possible way
============================  ==============================================  =====================================

A cluster is what is not independent: the examples that share a question, or one example. The randomisation is exact
for any metric and any dependence within clusters, its null hypothesis being that the two models are interchangeable.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from medtasks_utils.statistics import ExampleValue, MacroMean, Mean, VerdictRatio

Aggregation = Mean | MacroMean | VerdictRatio
Item = ExampleValue | None
Test = Literal["mcnemar", "randomisation", "t"]
Array = NDArray[np.float64]

LEVEL = 0.95
RESAMPLES = 10_000
_BATCH = 1_000
_Z = NormalDist().inv_cdf((1 + LEVEL) / 2)


@dataclass(frozen=True)
class Contrast:
    """A metric in two runs on the same examples.

    Attributes:
        n: examples that the metric applies to in either run.
        clusters: independent ones among them.
        a: value in the first run, in the metric's own unit.
        b: value in the second run.
        difference: ``b − a``.
        stderr: of the difference; None for fewer than two clusters.
        low: lower end of the 95 % confidence interval of the difference, None where there is none.
        high: its upper end.
        p: two-sided p-value.
        test: what it comes from; ``t`` where the runs have different numbers of generations, which cannot be swapped.
    """

    n: int
    clusters: int
    a: float
    b: float
    difference: float
    stderr: float | None
    low: float | None
    high: float | None
    p: float
    test: Test


def contrast(
    first: Sequence[Item],
    second: Sequence[Item],
    aggregation: Aggregation,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Contrast | None:
    """Compare two runs on the same examples.

    Args:
        first: a value for each example; None where the metric does not apply.
        second: the other run's, in the same order.
        aggregation: what makes the metric of such values.
        resamples: how often to randomise.
        seed: of the randomisation; the same input gives the same p-value.

    Returns:
        None where the metric applies to nothing: for F1 and its kin in both runs, else in one, or in a stratum of one.
    """
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if a is not None or b is not None]
    if not pairs:
        return None
    a, b, strata = _terms(pairs, aggregation)
    if not isinstance(aggregation, VerdictRatio) and not all(t.denominator.sum(axis=0).all() for t in (a, b)):
        return None
    difference = b.value - a.value
    shared = (len(pairs), len(strata), a.value, b.value, difference)
    error = _paired_stderr(a, b, strata)
    if isinstance(aggregation, Mean) and len(strata) == len(pairs) and _are_binary(pairs):
        steps = b.numerator - a.numerator
        lost, gained = int((steps < 0).sum()), int((steps > 0).sum())
        return Contrast(*shared, error, *bonett_price(lost, gained, len(pairs)), mcnemar(lost, gained), "mcnemar")
    freedom = len(strata) - len(np.unique(strata))
    low, high = (None, None) if error is None else _t_interval(difference, error, freedom)
    if a.numerator.shape != b.numerator.shape:
        return Contrast(*shared, error, low, high, _t_test(difference, error, freedom), "t")
    return Contrast(*shared, error, low, high, randomisation(a, b, resamples, seed), "randomisation")


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


def _are_binary(pairs: Sequence[tuple[Item, Item]]) -> bool:
    return all(value is not None and value in (0.0, 1.0) for pair in pairs for value in pair)


# ---- all else


@dataclass(frozen=True)
class Terms:
    """A metric as the mean over cells of ``Σ numerators / Σ denominators``, summed over clusters.

    Cells are the strata of a macro average, or the generations that each have an F1; a plain mean has one.

    Attributes:
        numerator: clusters × cells.
        denominator: likewise.
    """

    numerator: Array
    denominator: Array

    @property
    def value(self) -> float:
        """The metric."""
        return float(_value(self.numerator.sum(axis=0), self.denominator.sum(axis=0)))

    @property
    def influence(self) -> Array:
        """Each cluster's influence on the metric; they sum to zero."""
        total = self.denominator.sum(axis=0)
        counted = np.where(total == 0, 1, total)
        residuals = (self.numerator - self.numerator.sum(axis=0) / counted * self.denominator) / counted
        return np.asarray(residuals.mean(axis=1))


def _value(numerators: Array, denominators: Array) -> Array:
    """Mean over the last axis of the ratios; a ratio with nothing counted is 0, as in :mod:`statistics`."""
    ratios = np.divide(numerators, denominators, out=np.zeros_like(numerators), where=denominators != 0)
    return np.asarray(ratios.mean(axis=-1))


def _terms(pairs: Sequence[tuple[Item, Item]], aggregation: Aggregation) -> tuple[Terms, Terms, NDArray[np.intp]]:
    """Both runs' terms, by cluster, and each cluster's stratum."""
    is_macro = isinstance(aggregation, MacroMean)
    keys: list[tuple[Hashable, Hashable]] = []
    for index, (a, b) in enumerate(pairs):
        item = a if a is not None else b
        assert item is not None
        cluster = ("alone", index) if item.cluster is None else item.cluster
        keys.append((item.stratum if is_macro else None, cluster))
    clusters = {key: row for row, key in enumerate(dict.fromkeys(keys))}
    strata = {stratum: column for column, stratum in enumerate(dict.fromkeys(stratum for stratum, _ in keys))}
    if isinstance(aggregation, VerdictRatio):
        given = [
            max((len(item.verdicts) for item in side if item is not None), default=0)
            for side in zip(*pairs, strict=True)
        ]
        cells = [given[0] or given[1] or 1, given[1] or given[0] or 1]  # a run without verdicts has the other's cells
    else:
        cells = [len(strata)] * 2
    both = [Terms(np.zeros((len(clusters), width)), np.zeros((len(clusters), width))) for width in cells]
    for key, pair in zip(keys, pairs, strict=True):
        row = clusters[key]
        for terms, item in zip(both, pair, strict=True):
            if item is None:
                continue
            if not isinstance(aggregation, VerdictRatio):
                terms.numerator[row, strata[key[0]]] += item
                terms.denominator[row, strata[key[0]]] += 1
                continue
            for cell, verdict in enumerate(item.verdicts):
                if verdict is not None:
                    terms.numerator[row, cell] += aggregation.numerator(verdict)
                    terms.denominator[row, cell] += aggregation.denominator(verdict)
    return both[0], both[1], np.array([strata[stratum] for stratum, _ in clusters])


def _paired_stderr(a: Terms, b: Terms, strata: NDArray[np.intp]) -> float | None:
    """Standard error of the difference; None where a stratum has fewer than two clusters."""
    influence = b.influence - a.influence
    counts = np.bincount(strata)
    if (counts < 2).any():
        return None
    sums = np.bincount(strata, weights=influence**2)
    return math.sqrt(float((counts / (counts - 1) * sums).sum()))


def randomisation(a: Terms, b: Terms, resamples: int = RESAMPLES, seed: int = 0) -> float:
    """Two-sided p-value of the difference, from swapping the runs' results within clusters.

    Clusters in which the runs agree change nothing when swapped, so only the others are; where these allow no more than
    ``resamples`` swaps, all of them are made, and the p-value is exact.
    """
    numerators, denominators = b.numerator - a.numerator, b.denominator - a.denominator
    differ = (numerators != 0).any(axis=1) | (denominators != 0).any(axis=1)
    numerators, denominators = numerators[differ], denominators[differ]
    of_a = a.numerator.sum(axis=0), a.denominator.sum(axis=0)
    of_b = b.numerator.sum(axis=0), b.denominator.sum(axis=0)
    observed = abs(float(_value(*of_b) - _value(*of_a))) - 1e-12  # equal but for the order of summation is equal
    count = int(differ.sum())
    is_exact = count < 60 and 2**count <= resamples
    swaps = 2**count if is_exact else resamples
    rng = np.random.default_rng(seed)
    as_extreme = 0
    for start in range(0, swaps, _BATCH):
        size = min(_BATCH, swaps - start)
        if is_exact:
            swapped = (np.arange(start, start + size)[:, None] >> np.arange(count) & 1).astype(float)
        else:
            swapped = rng.integers(0, 2, size=(size, count), dtype=np.int8).astype(float)
        shifts = swapped @ numerators, swapped @ denominators
        differences = _value(of_b[0] - shifts[0], of_b[1] - shifts[1]) - _value(
            of_a[0] + shifts[0], of_a[1] + shifts[1]
        )
        as_extreme += int((np.abs(differences) >= observed).sum())
    return as_extreme / swaps if is_exact else (as_extreme + 1) / (swaps + 1)


def _t_interval(difference: float, error: float, freedom: int) -> tuple[float, float]:
    from scipy.special import stdtrit

    reach = float(stdtrit(freedom, (1 + LEVEL) / 2)) * error
    return difference - reach, difference + reach


def _t_test(difference: float, error: float | None, freedom: int) -> float:
    from scipy.special import stdtr

    if not error:
        return 1.0 if difference == 0 or error is None else 0.0
    return 2 * float(stdtr(freedom, -abs(difference) / error))


# ---- many comparisons


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted for the chance of any false alarm among all of them (Holm 1979)."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted for the share of false alarms among those called significant (Benjamini & Hochberg 1995)."""
    from scipy.stats import false_discovery_control

    return [float(p) for p in false_discovery_control(p_values)] if p_values else []
