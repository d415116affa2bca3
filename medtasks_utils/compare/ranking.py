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
from numpy.typing import NDArray

from medtasks_utils.compare.family import largest_of
from medtasks_utils.compare.terms import Aggregation, Array, Item, terms_of
from medtasks_utils.intervals import FEWEST

ALPHA = 0.05


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
    runs: Sequence[str],
    rows: Sequence[Sequence[Item]],
    aggregation: Aggregation,
    *,
    higher_is_better: bool = True,
    family: int = 1,
) -> list[Rank]:
    """Rank runs.

    Args:
        rows: for each example a value of each run; None where the metric does not apply.
        aggregation: what makes the metric of such values.
        higher_is_better: whether the largest value is the first.
        family: how many rankings are read together; each has as many times less room for error.

    Returns:
        The first rank first; empty where a run has fewer than ten clusters that count.
    """
    known = [row for row in rows if any(item is not None for item in row)]
    if not known:
        return []
    terms, strata = terms_of(known, aggregation, len(runs))
    counts = np.bincount(strata)
    if min(own.counted for own in terms) < FEWEST or (counts < 2).any():
        return []
    sign = 1.0 if higher_is_better else -1.0
    values = sign * np.array([own.value for own in terms])
    factor = np.sqrt(counts / (counts - 1))[strata]
    influence = np.column_stack([sign * own.influence * factor for own in terms])
    better = surely_better(values, influence, len(strata) - len(counts), ALPHA / family)
    order = [int(i) for i in np.argsort(-values, kind="stable")]
    letters = groups_of(better | better.T, order)
    ranks = [
        Rank(run, sign * float(values[i]), 1 + int(better[:, i].sum()), len(runs) - int(better[i].sum()), letters[i])
        for i, run in enumerate(runs)
    ]
    return [ranks[i] for i in order]


def surely_better(
    values: Array, influence: Array, freedom: int, alpha: float = ALPHA, seed: int = 0
) -> NDArray[np.bool_]:
    """Which runs are better than which (rows than columns), with a chance of at most ``alpha`` that any is not.

    Args:
        values: of each run, larger being better.
        influence: clusters × runs.
        freedom: degrees of freedom of the standard errors.
    """
    first, second = np.triu_indices(len(values), 1)
    covariance = influence.T @ influence
    variance = np.diag(covariance)[first] + np.diag(covariance)[second] - 2 * covariance[first, second]
    scale = max(float(np.diag(covariance).max()), 1e-300)
    steps = [float(np.abs(influence[:, i] - influence[:, j]).max()) for i, j in zip(first, second, strict=True)]
    variance = np.where(variance > 1e-12 * scale, variance + 2 * np.square(steps), 0.0)  # as Bonett and Price's
    difference = values[first] - values[second]
    errors = np.sqrt(variance)
    largest = largest_of(influence, first, second, errors, freedom=freedom, seed=seed)
    reach = float(np.quantile(largest, 1 - alpha)) * errors
    clear = np.abs(difference) > np.maximum(reach, 1e-12)
    better = np.zeros((len(values), len(values)), dtype=bool)
    better[first, second] = clear & (difference > 0)
    better[second, first] = clear & (difference < 0)
    return better


def groups_of(differ: NDArray[np.bool_], order: Sequence[int]) -> list[str]:
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
