"""Count the outcomes of examples, to separate points lost to knowledge from points lost to the form of the answer."""

import numpy as np

from medtasks_utils.benchmarks.facts import Abstention
from medtasks_utils.filters import FLEXIBLE, STRICT
from medtasks_utils.results import Sample
from medtasks_utils.statistics.score_arrays import Array

from .topics import RunResult

ENDED = {
    "right": "right",
    "form": "right, wrong form",
    "wrong": "wrong",
    "unsure": "unsure",
    "none": "no answer",
    "cut": "cut off, no answer",
}
"""The outcomes of examples, in the order of the bars. *cut* means unanswered at the token limit."""


def outcome_of(sample: Sample, filter_name: str, abstention: Abstention | None) -> str | None:
    """Return the outcome of an example under a filter, as named in the page's links to samples.

    Returns:
        ``right``, or the first reason for a loss: ``form``, ``cut``, ``none`` (no answer), ``unsure``, ``wrong``; None
        if the example is not scored.
    """
    best = FLEXIBLE if FLEXIBLE in sample.metrics else filter_name
    under_filter, values = sample.metrics.get(filter_name, {}), sample.metrics.get(best, {})
    right = under_filter.get("acc")
    if right is None:
        return None
    answered = values.get("answered")
    is_unanswered = answered is not None and answered < 1
    reasons = {
        "right": right == 1,
        "form": (values.get("acc") or 0) > right,
        "cut": is_unanswered and bool(sample.metrics.get(STRICT, {}).get("cut")),
        "none": is_unanswered,
        "unsure": abstention is not None and bool(values.get(abstention.rate_metric)),
    }
    return next((name for name, holds in reasons.items() if holds), "wrong")


def outcomes(result: RunResult, filter_name: str) -> dict[str, float]:
    """Return the number of scored examples by outcome under a filter, in the order of :data:`ENDED`.

    With repeats, the numbers are expected values for one generation: two right generations of four count as half a
    right example. Since only each filter's share of right generations is known, the filters' right generations are
    assumed to overlap as much as possible.
    """
    filters, abstention = result.tasks[0].filters, result.tasks[0].facts.abstention
    best = FLEXIBLE if FLEXIBLE in filters else filters[0]
    is_scored = ~np.isnan(result.metric_scores(best, "acc").values)

    def rates(filter_name: str, metric: str) -> Array:
        return result.metric_scores(filter_name, metric).values[is_scored]

    flexible, strict = rates(best, "acc"), rates(STRICT, "acc")
    strict = np.where(np.isnan(strict), flexible, strict)
    right = strict if filter_name == STRICT else flexible
    form = np.maximum(flexible - right, 0)
    not_right = 1 - np.maximum(flexible, strict)
    abstained = np.nan_to_num(rates(best, abstention.rate_metric)) if abstention else np.zeros(len(right))
    unsure = np.minimum(not_right, abstained)
    unanswered = np.minimum(not_right - unsure, 1 - np.nan_to_num(rates(best, "answered"), nan=1.0))
    cut = np.minimum(unanswered, np.nan_to_num(rates(STRICT, "cut")))
    wrong = 1 - right - form - unsure - unanswered
    shares = right, form, wrong, unsure, unanswered - cut, cut
    return {name: round(share.clip(min=0).sum(), 6) for name, share in zip(ENDED, shares, strict=True)}
