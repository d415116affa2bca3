"""Rank two or more runs on each benchmark, with simultaneous confidence intervals.

All pairs are compared together: the critical value is the quantile of the largest ``|t|`` over all pairs, simulated
from the multivariate t distribution with the correlations of the estimates (Hothorn, Bretz & Westfall, *Biometrical
Journal* 2008). The interval of a run's rank extends from one more than the number of significantly better runs to the
number of runs that are not significantly worse. All intervals of a ranking hold together with 95 % confidence (Klein,
Wright & Wieczorek, *JRSS C* 2020; Mogstad, Romano, Shaikh & Wilhelm, *Review of Economic Studies* 2024). The critical
value comes from the estimates' own standard errors. It is applied to standard errors to which the variance of one more
example in each run is added, so that runs with few wrong answers are not separated by a standard error that rests on
few examples. Groups are maximal sets of runs without a significant difference, shown as letters (Piepho, *Journal of
Computational and Graphical Statistics* 2004).
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from string import ascii_letters
from typing import NamedTuple

import numpy as np
import scipy

from medtasks_utils.compare.pairing import common_scores
from medtasks_utils.statistics.metrics import Metric
from medtasks_utils.statistics.ratio import ALPHA, MIN_CLUSTERS, Ratio
from medtasks_utils.statistics.score_arrays import Mask, concatenate

from .topics import Topic

_DRAWS = 20_000


def ranks(topics: Sequence[Topic]) -> dict[tuple[str, str], list["Rank"]]:
    """Rank the comparable runs with samples by the first metric of each topic; return the ranks by topic and filter.

    The ranks use the examples that all of these runs have. Each topic is ranked by itself. It is left out if fewer than
    two runs are comparable, or if its metric has no better direction; its list is empty if there are too few examples.
    """
    result = {}
    for topic in topics:
        for name in topic.filters:
            values = topic.values[name, topic.headline[0]]
            runs = [run for run in topic.rankable if topic.runs.index(run) not in values.incomparable]
            if len(runs) > 1 and values.metric.higher_is_better is not None:
                result[topic.name, name] = ranking(
                    runs,
                    _ratios(topic, runs, name, values.metric),
                    highest=values.metric.range[1] or 1.0,
                    ascending=not values.metric.higher_is_better,
                )
    return result


def _ratios(topic: Topic, runs: Sequence[str], filter_name: str, metric: Metric) -> list[Ratio]:
    """Return the metric of each run as a ratio, over the examples that all of the runs have."""
    tasks_by_run = [sorted(topic.results[run].tasks, key=lambda task: task.task) for run in runs]
    by_task = [common_scores(tasks, filter_name, metric.name) for tasks in zip(*tasks_by_run, strict=True)]
    by_run = [concatenate(parts, tasks_are_strata=topic.is_group) for parts in zip(*by_task, strict=True)]
    in_runs = np.any if metric.aggregation.over_decided else np.all
    applies = in_runs([scores.applies for scores in by_run], axis=0)
    ratio = partial(metric.aggregation.ratio, over_strata=topic.is_group)
    return [ratio(replace(scores, applies=applies)) for scores in by_run]


# ---- a single ranking


class Rank(NamedTuple):
    """The rank of a run, as a 95 % confidence interval.

    Attributes:
        run: the name of the run.
        best: the best rank in the interval; 1 is first.
        worst: the worst rank in the interval.
        groups: letters; runs that share a letter do not differ significantly.
    """

    run: str
    best: int
    worst: int
    groups: str


def ranking(
    runs: Sequence[str], ratios: Sequence[Ratio], *, highest: float = 1.0, ascending: bool = False
) -> list[Rank]:
    """Rank k runs by a metric.

    Args:
        runs: the names of the runs.
        ratios: the metric of each run, all over the same n examples.
        highest: the largest value that an example can have.
        ascending: True if smaller values are better.

    Returns:
        The k ranks, best first; empty if any run has no standard error, or fewer than ten clusters that count.
    """
    counting = [ratio for ratio in ratios if ratio.clusters >= MIN_CLUSTERS]
    scaled = [ratio.scaled_influence for ratio in counting if ratio.scaled_influence is not None]
    if len(scaled) < len(runs):
        return []
    values, influence = np.array([ratio.value for ratio in ratios]), np.column_stack(scaled)
    values = -values if ascending else values
    first, second = np.triu_indices(len(runs), 1)
    gaps = influence[:, first] - influence[:, second]
    errors = np.linalg.norm(gaps, axis=0)
    covariance = influence.T @ influence
    rng, freedom = np.random.default_rng(0), min(ratio.degrees_of_freedom for ratio in ratios)
    normal = rng.multivariate_normal(np.zeros(len(runs)), covariance, _DRAWS, method="eigh")  # it may be singular
    is_constant = errors <= 1e-6 * np.sqrt(covariance.max())
    distance = np.abs(normal[:, first] - normal[:, second]) / np.where(is_constant, np.inf, errors)
    largest = distance.max(axis=1, initial=0.0) / np.sqrt(rng.chisquare(freedom, _DRAWS) / freedom)
    # One more example is assumed to be right or wrong in all k generations: near the ceiling, they rarely differ.
    one_more = np.array([ratio.variance_of_one_more(highest, of_example=True) for ratio in ratios])
    critical = np.quantile(largest, 1 - ALPHA)
    reach = critical * np.sqrt(np.square(errors) + one_more[first] + one_more[second])
    better = values[:, None] - values > scipy.spatial.distance.squareform(reach)  # row i: runs that i beats
    best, worst = 1 + better.sum(axis=0), len(runs) - better.sum(axis=1)
    order = np.argsort(-values, kind="stable").tolist()
    letters = groups_of(better | better.T, order)
    return [Rank(runs[i], int(best[i]), int(worst[i]), letters[i]) for i in order]


def groups_of(differ: Mask, order: Sequence[int]) -> list[str]:
    """Return the letters of each run's groups, which are maximal sets of runs without a significant difference.

    Args:
        differ: True for each pair of runs that differ significantly; symmetric, shape ``(k, k)``.
        order: the indices of the runs, the best first, which is the order of the letters; groups after the 52nd have
            no letter.
    """
    groups = [frozenset(order)]
    for pair in combinations(order, 2):
        if differ[pair]:
            split = [group for group in groups if group.issuperset(pair)]
            groups = [group for group in groups if group not in split]
            parts = [group - {run} for run in pair for group in split]
            for part in sorted(parts, key=len, reverse=True):
                if not any(part <= group for group in groups):
                    groups.append(part)
    groups.sort(key=lambda group: sorted(map(order.index, group)))
    letters = dict(zip(groups, ascii_letters, strict=False))
    return ["".join(letter for group, letter in letters.items() if run in group) for run in range(len(order))]
