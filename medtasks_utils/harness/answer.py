"""What a filter read out of a response, and what scoring makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from medtasks_utils.aggregation import Example
from medtasks_utils.benchmarks.card import UNANSWERED
from medtasks_utils.metrics import JudgedScore, Score

__all__ = ["Answer", "JudgedScore", "Score", "combined", "logged"]


class Answer(str):
    """What a filter read out of one response: the text that the samples show, and the value behind it.

    Attributes:
        value: what scoring compares; None if no answer was found.
        response: the whole response.
        scores: further metrics of this response, put there by ``score_batch``.
        details: what the logged sample tells of this response besides; every answer of a task has the same names, and
            values are what JSON can hold. ``found_by`` is always among them: ``box``, ``tag``, ``key`` (of JSON),
            ``letter`` (stated), ``option_text``, ``statement`` (of a value or verdict), ``fuzzy`` (similarity to an
            option), or ``none``.
    """

    value: Any
    response: str
    scores: dict[str, Score]
    details: dict[str, Any]

    def __new__(cls, value: Any, response: str = "", shown: str | None = None, found_by: str = "statement") -> Answer:
        """An answer that shows as ``shown``, or as its value."""
        self = super().__new__(cls, UNANSWERED if value is None else str(value) if shown is None else shown)
        self.value = value
        self.response = response
        self.scores = {}
        self.details = {"found_by": "none" if value is None else found_by}
        return self


def combined(scores: Sequence[Score], cluster: str | None, stratum: str | None) -> Example | None:
    """An example's value of a metric: the mean over its generations; None where the metric applies to none of them."""
    return None if all(score is None for score in scores) else Example(scores, cluster, stratum)


def logged(scores: dict[str, list[Score]]) -> dict[str, list[Score]]:
    """Of a metric's scores by name, those of which a number does not say all: several, ratios, and judged ones."""
    return {name: own for name, own in scores.items() if len(own) > 1 or any(isinstance(score, tuple) for score in own)}
