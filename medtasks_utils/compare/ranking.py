"""Many runs on the same examples: ranks with simultaneous intervals, and groups that cannot be told apart.

All pairs are compared at once: the critical value is the quantile of the largest ``|t|`` over all pairs, drawn from the
multivariate t distribution with the estimates' own correlations (Hothorn, Bretz & Westfall, *Biometrical J.* 2008).
A run's rank then lies between one more than the number of runs that are surely better and the number of runs that are
not surely worse, for all runs together with the stated confidence (Klein, Wright & Wieczorek, *JRSS C* 2020; Mogstad,
Romano, Shaikh & Wilhelm, *Review of Economic Studies* 2024). Groups are maximal sets of runs without a sure difference,
shown as letters (Piepho, *J. Computational and Graphical Statistics* 2004).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase

import numpy as np

from medtasks_utils.statistics.ratio import FEWEST, Array, Mask, Ratio

ALPHA = 0.05
_DRAWS = 20_000
_BATCH = 500


@dataclass(frozen=True)
class Rank:
    """Where a run stands.

    Attributes:
        value: in the metric's own unit.
        best: the best rank it may have, 1 being the first.
        worst: the worst.
        groups: letters; runs that share one cannot be told apart. Empty where there are more groups than letters.
    """

    run: str
    value: float
    best: int
    worst: int
    groups: str


def ranking(
    runs: Sequence[str], ratios: Sequence[Ratio], *, higher_is_better: bool = True, family: int = 1
) -> list[Rank]:
    """Rank runs.

    Args:
        ratios: of each run, over the same examples.
        higher_is_better: whether the largest value is the first.
        family: how many rankings are read together; each has as many times less room for error.

    Returns:
        The first rank first; empty where a run has fewer than ten clusters that count.
    """
    scaled = [ratio.scaled for ratio in ratios if ratio.scaled is not None and ratio.clusters >= FEWEST]
    known = [ratio.value for ratio in ratios if ratio.value is not None]
    if not len(scaled) == len(known) == len(runs):
        return []
    values = np.array(known) if higher_is_better else -np.array(known)
    freedom = min(ratio.freedom for ratio in ratios)
    better = surely_better(values, np.column_stack(scaled), freedom, ALPHA / family)
    best, worst = 1 + better.sum(axis=0), len(runs) - better.sum(axis=1)
    order = np.argsort(-values, kind="stable").tolist()
    letters = groups_of(better | better.T, order)
    return [Rank(runs[i], known[i], int(best[i]), int(worst[i]), letters[i]) for i in order]


def surely_better(values: Array, influence: Array, freedom: int, alpha: float = ALPHA, seed: int = 0) -> Mask:
    """Which runs are better than which (rows than columns), with a chance of at most ``alpha`` that any is not.

    Args:
        values: of each run, larger being better.
        influence: clusters × runs.
        freedom: degrees of freedom of the standard errors.
    """
    first, second = np.triu_indices(len(values), 1)
    gaps = (influence[:, i] - influence[:, j] for i, j in zip(first, second, strict=True))
    variance, step = np.array([(gap @ gap, np.abs(gap).max()) for gap in gaps]).reshape(-1, 2).T
    covariance = influence.T @ influence
    differ = variance > 1e-12 * covariance.max()
    errors = np.where(differ, np.sqrt(variance + 2 * np.square(step)), 0.0)  # as Bonett and Price's
    rng = np.random.default_rng(seed)
    eigenvalues, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(eigenvalues, 0.0))
    largest = []
    for _ in range(0, _DRAWS, _BATCH):  # of runs that are equal in truth
        normal = rng.standard_normal((_BATCH, len(root))) @ root.T
        chi = np.sqrt(rng.chisquare(freedom, _BATCH) / freedom)
        distance = np.abs(normal[:, first] - normal[:, second]) / np.where(errors > 0, errors, np.inf)
        largest.append(distance.max(axis=1, initial=0.0) / chi)
    reach = float(np.quantile(np.concatenate(largest), 1 - alpha)) * errors
    difference = values[first] - values[second]
    clear = np.abs(difference) > np.maximum(reach, 1e-12)
    better = np.zeros((len(values), len(values)), dtype=bool)
    better[first, second] = clear & (difference > 0)
    better[second, first] = clear & (difference < 0)
    return better


def groups_of(differ: Mask, order: Sequence[int]) -> list[str]:
    """For each run the letters of its groups, given which pairs surely differ (insert and absorb).

    Args:
        differ: runs × runs, symmetric.
        order: the runs from the first on; the first has the letter a.
    """
    groups: set[frozenset[int]] = {frozenset(range(len(order)))}
    for i in range(len(order)):
        for j in range(i):
            if differ[i, j]:
                split = {group - {out} for group in groups if {i, j} <= group for out in (i, j)}
                whole = {group for group in groups if not {i, j} <= group}
                groups = whole | {new for new in split if not any(new < other or new in whole for other in whole)}
                groups = {group for group in groups if not any(group < other for other in groups)}
    if len(groups) > len(ascii_lowercase):
        return [""] * len(order)
    place = {run: rank for rank, run in enumerate(order)}
    ordered = sorted(groups, key=lambda group: sorted(place[run] for run in group))
    return ["".join(ascii_lowercase[k] for k, group in enumerate(ordered) if run in group) for run in range(len(order))]
