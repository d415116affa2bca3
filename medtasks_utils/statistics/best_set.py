"""Find the runs that may be the best: a 95 % confidence set of the run with the highest true value.

A run is excluded if another one is significantly better on the same examples. The test is one-sided, and covers the
differences from all other runs jointly (max-t, with a critical value simulated from the joint influences of the runs).
The best run is excluded in at most 5 % of rankings. Excluding any other run is correct, so the statement *another run
is better* is simultaneously valid for all excluded runs.
"""

import math
from collections.abc import Sequence

import numpy as np

from .ratio import ALPHA, MIN_CLUSTERS, Ratio
from .score_arrays import Array

_DRAWS = 10_000


def best_set(benchmarks: Sequence[Sequence[Ratio]], *, ascending: bool = False) -> list[bool] | None:
    """Return for each of k runs whether it may be the best; None if this cannot be decided.

    Each run needs a value, a standard error and at least ten clusters on each benchmark.

    Args:
        benchmarks: for each benchmark, the runs' ratios over the same examples and clusters. Runs are ranked by their
            means over the benchmarks, which are assumed to be independent of each other.
        ascending: True if smaller values are better.
    """
    sign = (-1 if ascending else 1) / len(benchmarks)
    values = one_more = np.zeros(len(benchmarks[0]))
    influences, freedom = [], math.inf
    for ratios in benchmarks:
        for ratio in ratios:
            if ratio.value is None or ratio.scaled_influence is None or ratio.clusters < MIN_CLUSTERS:
                return None
            freedom = min(freedom, ratio.degrees_of_freedom)
        values = values + sign * np.array([ratio.value for ratio in ratios])
        variances = [ratio.variance_of_one_more(1.0, of_example=True) for ratio in ratios]
        one_more = one_more + sign**2 * np.array(variances)
        influences.append(sign * np.array([ratio.scaled_influence for ratio in ratios]).T)
    return may_be_best(values, np.vstack(influences), one_more, freedom)


def may_be_best(values: Array, influence: Array, one_more: Array, freedom: float) -> list[bool]:
    """Return for each of k runs whether no other run is significantly better.

    Args:
        values: the runs' values, of which higher ones are better; shape ``(k,)``.
        influence: the influence of each cluster on the values, scaled so that the squares sum to the variances of the
            values; shape ``(G, k)``.
        one_more: the variance that one more example would add to each value; shape ``(k,)``.
        freedom: the degrees of freedom of the standard errors.
    """
    rng = np.random.default_rng(0)
    covariance = influence.T @ influence
    draws = rng.multivariate_normal(np.zeros(len(values)), covariance, _DRAWS, method="eigh")
    draws *= np.sqrt(freedom / rng.chisquare(freedom, _DRAWS))[:, None]
    result = []
    for run in range(len(values)):
        errors = np.linalg.norm(influence - influence[:, [run]], axis=0)
        simulated = (draws - draws[:, [run]]) / np.where(errors > 1e-12, errors, np.inf)  # 0 for the run itself
        limit = np.quantile(simulated.max(axis=1), 1 - ALPHA)
        with_one_more = np.sqrt(errors**2 + one_more + one_more[run])
        result.append(bool((values - values[run] <= limit * with_one_more).all()))
    return result
