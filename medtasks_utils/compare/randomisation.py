"""Approximate randomisation: how often a difference as large comes about when the runs' results are swapped."""

from __future__ import annotations

import math

import numpy as np

from medtasks_utils.compare.terms import Array, Indices, Terms, value_of

RESAMPLES = 10_000
_BATCH = 1_000


def randomisation(a: Terms, b: Terms, resamples: int = RESAMPLES, seed: int = 0, *, studentised: bool = False) -> float:
    """Two-sided p-value of the difference, from swapping the runs' results, of one shape, within clusters.

    Clusters in which the runs agree change nothing when swapped, so only the others are, and of clusters that are alike
    a binomial number. Where these allow no more than ``resamples`` swaps, all of them are made. Sums of shares tie
    often, and a test that counts all ties as more extreme rejects too seldom; but for the observed difference itself, a
    tie counts half (the mid-p-value: Lancaster, *JASA* 1961). Without ties the p-value of all swaps is exact.

    Args:
        studentised: whether to compare ``|difference| / stderr`` and not ``|difference|``. For equal denominators the
            two order swaps alike, as swapping changes signs of differences and not their squares.
    """
    differ = np.flatnonzero((a.numerator != b.numerator).any(axis=1) | (a.denominator != b.denominator).any(axis=1))
    count = len(differ)
    is_exact = count < 60 and 2**count <= resamples
    swaps = 2**count if is_exact else resamples
    kinds, alike = (differ, np.ones(count, dtype=int)) if is_exact else _kinds(a, b, differ)
    statistic = _Studentised(a, b, kinds) if studentised else _Plain(a, b, kinds)
    observed = float(statistic(np.zeros((1, len(kinds))))[0])
    slack = observed * 1e-9 + 1e-12 if math.isfinite(observed) else 0.0  # sums in another order
    rng = np.random.default_rng(seed)
    as_extreme = 0.0
    for start in range(0, swaps, _BATCH):
        size = min(_BATCH, swaps - start)
        if is_exact:
            swapped = (np.arange(start, start + size)[:, None] >> np.arange(count) & 1).astype(float)
        else:
            swapped = _coins(rng, alike, size)
        found = statistic(swapped)
        as_extreme += ((found >= observed - slack).sum() + (found > observed + slack).sum()) / 2
    return min(1.0, (as_extreme + 1) / (swaps if is_exact else swaps + 1))


def _kinds(a: Terms, b: Terms, differ: Indices) -> tuple[Indices, Indices]:
    """One of each kind of clusters that are alike in both runs, and how many there are of it."""
    rows = np.hstack([a.numerator, a.denominator, b.numerator, b.denominator])[differ]
    _, first, alike = np.unique(rows, axis=0, return_index=True, return_counts=True)
    return differ[first], alike


def _coins(rng: np.random.Generator, alike: Indices, size: int) -> Array:
    """How many clusters of each kind are swapped, swaps × kinds."""
    alone = alike == 1
    swapped = np.empty((size, len(alike)))
    swapped[:, alone] = rng.integers(0, 2, size=(size, int(alone.sum())), dtype=np.int8)
    swapped[:, ~alone] = rng.binomial(alike[~alone], 0.5, size=(size, int((~alone).sum())))
    return swapped


class _Plain:
    """The absolute difference after swaps (swaps × kinds of clusters, how many of each)."""

    def __init__(self, a: Terms, b: Terms, kinds: Indices) -> None:
        self.of_a = a.numerator.sum(axis=0), a.denominator.sum(axis=0)
        self.of_b = b.numerator.sum(axis=0), b.denominator.sum(axis=0)
        self.shifts = np.hstack([b.numerator - a.numerator, b.denominator - a.denominator])[kinds]

    def totals(self, swapped: Array) -> tuple[Array, Array, Array, Array]:
        """Sums over clusters, swaps × cells: the second run's numerators and denominators, then the first's."""
        numerators, denominators = np.hsplit(swapped @ self.shifts, 2)
        return (
            self.of_b[0] - numerators,
            self.of_b[1] - denominators,
            self.of_a[0] + numerators,
            self.of_a[1] + denominators,
        )

    def __call__(self, swapped: Array) -> Array:
        second, of_second, first, of_first = self.totals(swapped)
        return np.abs(value_of(second, of_second) - value_of(first, of_first))


class _Studentised(_Plain):
    """The absolute difference over its standard error, but for ``√(G/(G−1))``.

    The sum of squared influences is a quadratic form in the ratios, whose matrix is the sum over clusters of
    ``x xᵀ``, x being a cluster's numerators and denominators in both runs. A swap changes a cluster's matrix into
    another, so over many swaps all matrices come from one product.
    """

    def __init__(self, a: Terms, b: Terms, kinds: Indices) -> None:
        super().__init__(a, b, kinds)
        first, second = (np.hstack([terms.numerator, terms.denominator]) for terms in (a, b))
        width = 2 * first.shape[1]
        self.pairs = np.triu_indices(width)
        rows = np.hstack([second, first])
        products = rows[:, self.pairs[0]] * rows[:, self.pairs[1]]
        swapped = np.hstack([first, second])
        self.base = products.sum(axis=0)
        self.change = (swapped[:, self.pairs[0]] * swapped[:, self.pairs[1]] - products)[kinds]
        self.double = np.where(self.pairs[0] == self.pairs[1], 1.0, 2.0)

    def __call__(self, swapped: Array) -> Array:
        totals = self.totals(swapped)
        second, first = (_weights(*totals[:2]), _weights(*totals[2:]))
        weights = np.hstack([second, -first])
        quadratic = (self.base + swapped @ self.change) * weights[:, self.pairs[0]] * weights[:, self.pairs[1]]
        variance = np.maximum((quadratic * self.double).sum(axis=1), 0.0)
        difference = np.abs(value_of(*totals[:2]) - value_of(*totals[2:]))
        error = np.sqrt(variance)
        tiny = error <= 1e-12 * np.maximum(difference, 1e-3)
        certain = np.where(difference > 1e-12, np.inf, 0.0)
        return np.where(tiny, certain, difference / np.where(tiny, 1.0, error))


def _weights(numerators: Array, denominators: Array) -> Array:
    """What a run's numerators and denominators weigh in a cluster's influence, swaps × 2 cells."""
    counted = denominators > 0
    safe = np.where(counted, denominators, 1.0)
    each = np.where(counted, 1 / safe, 0.0) / np.maximum(counted.sum(axis=1, keepdims=True), 1)
    return np.hstack([each, -each * numerators / safe])
