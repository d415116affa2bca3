"""Define the kinds of score that a response can have."""

import math
from collections.abc import Sequence
from typing import NamedTuple


class JudgedScore(NamedTuple):
    """The score of a metric whose judge sees only responses with a right answer.

    Attributes:
        right: True if the answer is right.
        value: the judge's score; 0 for a wrong answer, None if the judge failed.
    """

    right: bool
    value: float | None


class ConfidenceTerms(tuple[tuple[float, float], ...]):
    """The score of an answer with a confidence: the terms ``(right, 1)`` and ``(confidence, 1)``."""


def score_of_confidence(right: float, confidence: float) -> ConfidenceTerms:
    """Return the score of an answer with a confidence: the terms ``(right, 1)`` and ``(confidence, 1)``.

    Both arguments are from 0 to 1; ``right`` is a fraction if the vote is tied.
    """
    return ConfidenceTerms(((right, 1.0), (confidence, 1.0)))


Score = float | tuple[float, float] | JudgedScore | ConfidenceTerms | None
"""A metric's score of one response: a number, a numerator with its denominator, the two such pairs of a confidence, or
a judge's score; None if the metric does not apply."""


def terms_of(score: Score) -> Sequence[tuple[float, float]]:
    """Return one numerator and denominator, or the two pairs of a confidence; empty if the score has no value."""
    value = score.value if isinstance(score, JudgedScore) else score
    if isinstance(value, ConfidenceTerms):
        return value
    if value is None or value != value:
        return ()
    return (value if isinstance(value, tuple) else (value, 1.0),)


def as_number(score: Score) -> float | None:
    """Convert a score to one number, the mean of its ratios; None if it has no value, or all denominators are 0."""
    ratios = [numerator / denominator for numerator, denominator in terms_of(score) if denominator]
    return math.fsum(ratios) / len(ratios) if ratios else None


def scores_to_log(scores: dict[str, list[Score]]) -> dict[str, list[Score]]:
    """Return an example's scores that one number per example could not represent in a later aggregation.

    These are scores of more than one generation, scores by judges, and numerators with denominators.
    """
    return {
        name: generations
        for name, generations in scores.items()
        if len(generations) > 1 or isinstance(generations[0], tuple)
    }
