"""The scores of one response under one metric."""

import math
from collections.abc import Hashable, Iterable
from typing import NamedTuple


class JudgedScore(NamedTuple):
    """The score of a metric for which a judge reads right answers alone.

    Attributes:
        right: whether the answer is right.
        value: 0 for a wrong answer; None if the judge failed.
    """

    right: bool
    value: float | None


class ClassTerms(tuple[tuple[float, float], ...]):
    """The terms of every class's F1 in one response: a pair ``(2 × true positive, predicted + actual)`` for each class.

    ``Σ 2 TP / Σ (predicted + actual)`` over responses is the F1 of the class.
    """

    @classmethod
    def of(cls, truth: Hashable, answer: Hashable | None, classes: Iterable[Hashable]) -> "ClassTerms":
        """Return the terms of a response.

        Args:
            truth: the right class.
            answer: the predicted class; None where no answer was found, which predicts no class.
            classes: all classes, in an order that is the same for all examples of a benchmark.
        """
        return cls((2.0 * (truth == answer == name), float((truth == name) + (answer == name))) for name in classes)


Score = float | tuple[float, float] | JudgedScore | ClassTerms | None
"""A metric's score of one response: a number; a numerator and a denominator; such a pair for each class; the score of
a judge; or None where the metric does not apply."""


def as_number(score: Score) -> float | None:
    """Return a score as one number; None if there is none."""
    if isinstance(score, JudgedScore):
        return score.value
    if isinstance(score, ClassTerms):
        ratios = [top / bottom for top, bottom in score if bottom]
        return math.fsum(ratios) / len(ratios) if ratios else None
    if isinstance(score, tuple):
        return score[0] / score[1] if score[1] else None
    return score


def scores_to_log(scores: dict[str, list[Score]]) -> dict[str, list[Score]]:
    """Return the scores of those metrics for which one number an example is not enough to aggregate them later.

    These are the metrics with several generations, with judged scores, or with numerators and denominators.

    Args:
        scores: by metric, the scores of one example's generations.
    """
    to_log = {}
    for name, generations in scores.items():
        has_terms = any(isinstance(score, tuple) for score in generations)
        if has_terms or len(generations) > 1:
            to_log[name] = generations
    return to_log
