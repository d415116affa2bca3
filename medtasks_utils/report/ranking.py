"""Rank two or more runs on each benchmark, by the p-values that ``medtasks compare`` prints for each pair of them.

The p-values of all pairs on a benchmark are corrected together (Holm's method), so those of two runs stay as they are.
The interval of a run's rank extends from one more than the number of significantly better runs to the number of runs
that are not significantly worse. All intervals of a ranking hold together with 95 % confidence (Klein, Wright &
Wieczorek, *JRSS C* 2020; Mogstad, Romano, Shaikh & Wilhelm, *Review of Economic Studies* 2024). Groups are maximal sets
of runs without a significant difference, shown as letters (Piepho, *Journal of Computational and Graphical Statistics*
2004).
"""

from collections.abc import Sequence
from itertools import combinations
from string import ascii_letters
from typing import NamedTuple

import numpy as np

from medtasks_utils.compare.contrast import Contrast
from medtasks_utils.compare.families import group_difference
from medtasks_utils.compare.task_pair import TaskPair
from medtasks_utils.statistics.ratio import ALPHA, holm
from medtasks_utils.statistics.score_arrays import Mask

from .topics import Topic


def ranks(topics: Sequence[Topic]) -> dict[tuple[str, str], list["Rank"]]:
    """Rank the comparable runs with samples by the first metric of each topic; return the ranks by topic and filter.

    Each topic is ranked by itself. It is left out if fewer than two runs are comparable, or if its metric has no better
    direction; its list is empty if there are too few examples.
    """
    result = {}
    for topic in topics:
        for name in topic.filters:
            values = topic.values[name, topic.headline[0]]
            has_filter = (run for run in topic.rankable if name in topic.results[run].filters)
            runs = [run for run in has_filter if topic.runs.index(run) not in values.incomparable]
            if len(runs) > 1 and values.metric.higher_is_better is not None:
                pairs = [_contrast(topic, *pair, name, values.metric.name) for pair in combinations(runs, 2)]
                result[topic.name, name] = ranking(runs, pairs, ascending=not values.metric.higher_is_better)
    return result


def _contrast(topic: Topic, a: str, b: str, filter_name: str, metric: str) -> Contrast | None:
    """Return the contrast of a topic's metric between two runs; None if the metric applies to no example."""
    tasks_of_b = {task.task: task for task in topic.results[b].tasks}
    pairs = tuple(TaskPair(task, tasks_of_b[task.task], filter_name) for task in topic.results[a].tasks)
    found = group_difference(topic.name, pairs, metric) if topic.is_group else pairs[0].difference(metric)
    return found.contrast if found else None


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


def ranking(runs: Sequence[str], contrasts: Sequence[Contrast | None], *, ascending: bool = False) -> list[Rank]:
    """Rank k runs by a metric.

    Args:
        runs: the names of the runs.
        contrasts: the contrast of each pair of runs, in the order of ``itertools.combinations``.
        ascending: True if smaller values are better.

    Returns:
        The k ranks, best first; empty if a pair has no interval, since too few clusters count in one of the runs.
    """
    known = [contrast for contrast in contrasts if contrast and contrast.interval]
    p_values = [contrast.p for contrast in known if contrast.p is not None]
    if not p_values or len(p_values) < len(contrasts):
        return []
    sign = -1 if ascending else 1
    values = sign * np.array([known[0].a, *(contrast.b for contrast in known[: len(runs) - 1])])
    better = np.zeros((len(runs), len(runs)), dtype=bool)  # row i: runs that i beats
    for (i, j), contrast, p in zip(combinations(range(len(runs)), 2), known, holm(p_values), strict=True):
        better[(j, i) if sign * contrast.difference > 0 else (i, j)] = p < ALPHA
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
