"""What a filter read out of a response, and what scoring makes of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from medtasks_utils.benchmarks.card import UNANSWERED
from medtasks_utils.statistics import ExampleValue, Verdict


class JudgedScore(NamedTuple):
    """A score that only right answers are judged for: a wrong one's is 0, and None stands for a judge that failed."""

    right: bool
    value: float | None


Score = float | Verdict | JudgedScore | None
"""A metric's value on one response: a number, a verdict for F1 and its kin, or None where it does not apply."""


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


def combined(scores: Sequence[Score], cluster: str | None, stratum: str | None) -> ExampleValue | None:
    """An example's value of a metric: the mean over its generations; None where the metric applies to none of them."""
    if all(score is None for score in scores):
        return None
    right = failed = 0
    if any(isinstance(score, JudgedScore) for score in scores):
        judged = [score for score in scores if isinstance(score, JudgedScore)]
        right, failed = sum(score.right for score in judged), sum(score.value is None for score in judged)
        scores = [score.value for score in judged]
    verdicts = tuple(score if isinstance(score, Verdict) else None for score in scores)
    values = [
        float(score.target == score.predicted) if isinstance(score, Verdict) else float(score)
        for score in scores
        if isinstance(score, Verdict | float | int)
    ]
    value = sum(values) / len(values) if values else math.nan
    return ExampleValue(value, cluster, stratum, verdicts if any(verdicts) else (), len(values), right, failed)
