"""Compute the accuracy of a saved run under a token budget, with longer replies counted as wrong.

This shows the effect of cutting this run's replies, not the accuracy of a model that is instructed to think less.
"""

from bisect import bisect_left
from dataclasses import replace

import numpy as np

from medtasks_utils.filters import STRICT
from medtasks_utils.statistics.intervals import estimate
from medtasks_utils.statistics.score_arrays import Array, MetricScores
from medtasks_utils.writing import JsonObject

from .run import Run, TaskRun

NOTE = "the effect of cutting the replies of this run; a model that is instructed to think less may differ"
_ALMOST_ALL = 0.99


def budgets_of(run: Run) -> list[JsonObject]:
    """Return the strict :func:`budget_curve` of each task that has such a curve, with the task's name as ``task``."""
    curves = [(name, budget_curve(task)) for name, task in run.tasks.items()]
    return [{"task": name, **curve} for name, curve in curves if curve]


def budget_curve(task: TaskRun, filter_name: str = STRICT) -> JsonObject | None:
    """Compute a task's accuracy as a function of the token budget of a reply.

    Returns:
        None if no reply is right, or the number of tokens of a right reply is unknown. Otherwise a dict: ``points``
        contains, for each budget (``tokens``), ``acc`` and its interval's ends ``low`` and ``high``, from 0 to 1.
        Budgets are powers of two from 32 up to, but not including, the length of the longest right reply, followed by
        the length of the longest reply. ``almost_all`` is the smallest budget that reaches 99 % of the accuracy.
        ``per_right_answer`` is the number of tokens of all replies of known length divided by the number of right
        replies, and ``note`` explains the numbers.
    """
    metric, scores = task.metric("acc"), task.metric_scores(filter_name, "acc")
    tokens = _tokens_of(task, scores)
    is_right = scores.numerators[..., 0] > 0
    if not is_right.any() or np.isnan(tokens[is_right]).any():
        return None
    longest = int(tokens[is_right].max())
    smaller_budgets = [2**exponent for exponent in range(5, (longest - 1).bit_length())]
    points = []
    for budget in [*smaller_budgets, int(np.nanmax(tokens))]:
        of_budget = estimate(_within(scores, tokens, budget), metric)
        points.append({"tokens": budget, "acc": of_budget.value, "low": of_budget.low, "high": of_budget.high})
    value = metric.aggregation.value(scores) or 0.0
    candidates = np.unique(tokens[is_right]).astype(int).tolist()
    place = bisect_left(
        candidates,
        _ALMOST_ALL * value,
        key=lambda budget: metric.aggregation.value(_within(scores, tokens, budget)) or 0,
    )
    per_right_answer = np.nansum(tokens) / is_right.sum()
    return {"points": points, "almost_all": candidates[place], "per_right_answer": per_right_answer, "note": NOTE}


def _tokens_of(task: TaskRun, scores: MetricScores) -> Array:
    """Return the number of tokens of each generation, shape ``(n, k)``; NaN if unknown."""
    tokens: Array = np.full(scores.counted.shape, np.nan)
    generations = tokens.shape[-1]
    for place, sample in enumerate(task.samples):
        counts = sample.tokens[:generations]  # None becomes NaN
        tokens[place, : len(counts)] = counts
    return tokens


def _within(scores: MetricScores, tokens: Array, budget: int) -> MetricScores:
    """Return the scores with replies that exceed the budget, or have an unknown length, counted as wrong."""
    return replace(scores, numerators=np.where(tokens[..., None] <= budget, scores.numerators, 0.0))
