"""Define the kinds of score that a response can have."""

import math
from collections.abc import Hashable, Iterable
from typing import NamedTuple


class JudgedScore(NamedTuple):
    """The score of a metric whose judge is asked only about responses with a right answer.

    Attributes:
        right: True if the answer is right.
        value: the judge's score; 0 for a wrong answer, None if the judge failed.
    """

    right: bool
    value: float | None


class ClassTerms(tuple[tuple[float, float], ...]):
    """The terms of F1 in one response: a pair ``(2 × true positive, predicted + actual)`` for each class.

    ``Σ 2 TP / Σ (predicted + actual)`` over responses is the F1 of a class.
    """

    @classmethod
    def of(cls, truth: Hashable, answer: Hashable | None, classes: Iterable[Hashable]) -> "ClassTerms":
        """Compute the terms of a response.

        Args:
            truth: the right class.
            answer: the predicted class; None for an unanswered response, which predicts no class.
            classes: all classes, in the same order for all examples of a benchmark.
        """
        return cls((2.0 * (truth == answer == name), float((truth == name) + (answer == name))) for name in classes)


Score = float | tuple[float, float] | JudgedScore | ClassTerms | None
"""A metric's score of one response: a number; a numerator and a denominator; such a pair for each class; the score of
a judge; or None if the metric does not apply."""


def as_number(score: Score) -> float | None:
    """Convert a score to one number; None if it has no value."""
    if isinstance(score, JudgedScore):
        return score.value
    if isinstance(score, ClassTerms):
        ratios = [top / bottom for top, bottom in score if bottom]
        return math.fsum(ratios) / len(ratios) if ratios else None
    if isinstance(score, tuple):
        return score[0] / score[1] if score[1] else None
    return score


def scores_to_log(scores: dict[str, list[Score]]) -> dict[str, list[Score]]:
    """Return the scores of those metrics that cannot be aggregated later from one number per example.

    These are metrics with several generations, scores of judges, or numerators and denominators.

    Args:
        scores: by metric, the scores of one example's generations.
    """
    return {
        name: generations
        for name, generations in scores.items()
        if len(generations) > 1 or any(isinstance(score, tuple) for score in generations)
    }
