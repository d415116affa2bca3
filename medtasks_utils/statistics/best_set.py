"""Find the runs that may be the best: a 95 % confidence set of the run with the highest true value.

A run leaves the set if another one is better on the same examples, by a one-sided test of its differences from all
others together (max-t, whose critical value is simulated from the joint influences of the runs). The best run leaves it
in at most 5 % of rankings. Every other run that leaves it is rightly left out, so *another run is better* holds for all
of these together.
"""

from collections.abc import Sequence

import numpy as np

from .ratio import ALPHA, MIN_CLUSTERS, Ratio
from .score_arrays import Array

_DRAWS = 10_000


def best_set(benchmarks: Sequence[Sequence[Ratio]], *, ascending: bool = False) -> list[bool] | None:
    """Return for each of k runs whether it may be the best; None if there are too few examples to tell.

    Args:
        benchmarks: for each benchmark, the runs' ratios over the same examples and clusters. Runs are ranked by their
            means over the benchmarks, whose examples are independent.
        ascending: True if smaller values are better.
    """
    ratios = [ratio for of_runs in benchmarks for ratio in of_runs]
    if any(ratio.value is None or ratio.clusters < MIN_CLUSTERS for ratio in ratios):
        return None
    if any(ratio.scaled_influence is None for ratio in ratios):
        return None
    sign = (-1 if ascending else 1) / len(benchmarks)
    values = sign * np.sum([[ratio.value or 0.0 for ratio in of_runs] for of_runs in benchmarks], axis=0)
    stacked = [np.column_stack([np.asarray(ratio.scaled_influence) for ratio in of_runs]) for of_runs in benchmarks]
    influence = sign * np.vstack(stacked)
    one_more = [[ratio.variance_of_one_more(1.0, of_example=True) for ratio in of_runs] for of_runs in benchmarks]
    freedom = min(ratio.degrees_of_freedom for ratio in ratios)
    return may_be_best(values, influence, sign**2 * np.sum(one_more, axis=0), freedom)


def may_be_best(values: Array, influence: Array, one_more: Array, freedom: float) -> list[bool]:
    """Return for each of k runs whether none is better.

    Args:
        values: the runs' values, of which higher ones are better; shape ``(k,)``.
        influence: the influence of each cluster on them, whose squares sum to their variances; shape ``(G, k)``.
        one_more: the variance that one more example would add to each; shape ``(k,)``.
        freedom: the degrees of freedom of the standard errors.
    """
    rng = np.random.default_rng(0)
    covariance = influence.T @ influence
    draws = rng.multivariate_normal(np.zeros(len(values)), covariance, _DRAWS, method="eigh")
    draws *= np.sqrt(freedom / rng.chisquare(freedom, _DRAWS))[:, None]
    found = []
    for run in range(len(values)):
        others = np.arange(len(values)) != run
        errors = np.linalg.norm(influence[:, others] - influence[:, [run]], axis=0)
        simulated = (draws[:, others] - draws[:, [run]]) / np.where(errors > 1e-12, errors, np.inf)
        limit = np.quantile(simulated.max(axis=1, initial=0.0), 1 - ALPHA)
        with_one_more = np.sqrt(errors**2 + one_more[others] + one_more[run])
        found.append(bool(((values[others] - values[run]) <= limit * with_one_more).all()))
    return found
