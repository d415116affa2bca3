"""Comparisons that are read together, and the chance that any of them seems to differ where none does.

Comparisons of many runs, metrics and filters on the same examples are alike, and a correction that takes them as
unrelated is too strict. So the largest ``|z|`` of them all is drawn from the multivariate normal distribution with the
estimates' own correlations, and a p-value is corrected to the chance that the largest is as large as its own z
(Westfall & Young, *Resampling-Based Multiple Testing*, 1993; Hothorn, Bretz & Westfall, *Biometrical J.* 2008; for
p-values as they are Conneely & Boehnke, *Am. J. Human Genetics* 2007).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from medtasks_utils.compare.terms import Array, Indices

_DRAWS = 20_000
_BATCH = 500


class Block(NamedTuple):
    """Comparisons on the same examples: clusters × estimates, and the estimates that each compares."""

    influence: Array
    first: Indices
    second: Indices


@dataclass(frozen=True)
class Family:
    """Comparisons that are read together.

    Attributes:
        comparisons: how many.
        largest: the largest ``|z|`` of them in many draws without any true difference, in ascending order.
    """

    comparisons: int
    largest: Array

    def adjusted(self, p: float) -> float:
        """A two-sided p-value corrected for all comparisons; Bonferroni's where that is less, which small ones are."""
        from scipy.special import ndtri

        exceeding = len(self.largest) - int(np.searchsorted(self.largest, -ndtri(p / 2) - 1e-9))
        return max(p, min(1.0, p * self.comparisons, (1 + exceeding) / (1 + len(self.largest))))


def family_of(blocks: Iterable[Block], seed: int = 0) -> Family:
    """The comparisons of all blocks; those of different blocks are taken as independent, which is on the safe side."""
    largest, comparisons = np.zeros(_DRAWS), 0
    for number, (influence, first, second) in enumerate(blocks):
        variance = np.square(influence[:, first] - influence[:, second]).sum(axis=0)
        errors = np.where(variance > 1e-12 * variance.max(initial=0.0), np.sqrt(variance), 0.0)
        comparisons += len(first)
        largest = np.maximum(largest, largest_of(influence, first, second, errors, seed=seed + number))
    return Family(comparisons, np.sort(largest))


def largest_of(
    influence: Array, first: Indices, second: Indices, errors: Array, *, freedom: int | None = None, seed: int = 0
) -> Array:
    """The largest ``|difference| / error`` over pairs of estimates that are equal in truth, in each of many draws.

    Args:
        influence: clusters × estimates.
        first: of each pair, an estimate.
        second: the other.
        errors: of their difference; 0 for pairs without any.
        freedom: degrees of freedom of the errors; None for many.
    """
    rng = np.random.default_rng(seed)
    values, vectors = np.linalg.eigh(influence.T @ influence)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    safe = np.where(errors > 0, errors, np.inf)
    largest = []
    for _ in range(0, _DRAWS, _BATCH):
        normal = rng.standard_normal((_BATCH, len(root))) @ root.T
        chi = np.sqrt(rng.chisquare(freedom, _BATCH) / freedom) if freedom else 1.0
        distance = np.abs(normal[:, first] - normal[:, second]) / safe
        largest.append(distance.max(axis=1, initial=0.0) / chi)
    return np.concatenate(largest)
