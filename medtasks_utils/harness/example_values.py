"""An example's value of a metric, out of the scores of its generations."""

from __future__ import annotations

import math
from collections.abc import Sequence

from medtasks_utils.benchmarks.base import JudgedScore, Score
from medtasks_utils.scoring import plain
from medtasks_utils.statistics import ExampleValue, Verdict


def combined(scores: Sequence[Score], cluster: str | None, stratum: str | None) -> ExampleValue | None:
    """An example's value of a metric: the mean over its generations; None where the metric applies to none of them."""
    if all(score is None for score in scores):
        return None
    judged = [score for score in scores if isinstance(score, JudgedScore)]
    right, failed = sum(score.right for score in judged), sum(score.value is None for score in judged)
    verdicts = tuple(score if isinstance(score, Verdict) else None for score in scores)
    values = [float(value) for value in map(plain, scores) if value is not None]
    value = sum(values) / len(values) if values else math.nan
    return ExampleValue(value, cluster, stratum, verdicts if any(verdicts) else (), len(values), right, failed)
