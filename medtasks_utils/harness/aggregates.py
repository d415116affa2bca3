"""Adapt our aggregations to lm_eval, which calls them with the values that ``process_results`` returned."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from medtasks_utils.statistics.aggregation import Aggregation
from medtasks_utils.statistics.score_arrays import MetricScores, integer_codes
from medtasks_utils.statistics.scores import Score, as_number
from medtasks_utils.writing import JsonObject

UNDEFINED = "N/A"
"""The text in results files for an undefined value or standard error, as in lm_eval."""


class ExampleScore(float):
    """A metric's scores for one example, with the example's cluster and stratum.

    As a number, for lm_eval and sample logs, it is the mean over the generations with a score, or NaN if none has one.

    Attributes:
        scores: the score of each generation; for a metric such as ``maj@k``, a single score for all of them.
        cluster: a key shared by examples that are not independent; None if this example is independent.
        stratum: the key of the example's stratum for macro averages; None if there are no strata.
    """

    scores: tuple[Score, ...]
    cluster: str | None
    stratum: str | None

    def __new__(cls, scores: Sequence[Score], cluster: str | None = None, stratum: str | None = None) -> "ExampleScore":  # noqa: D102
        values = [value for score in scores if (value := as_number(score)) is not None]
        self = super().__new__(cls, math.fsum(values) / len(values) if values else math.nan)
        self.scores, self.cluster, self.stratum = tuple(scores), cluster, stratum
        return self

    def __getnewargs__(self) -> Any:  # for pickle, when several processes exchange scores
        return self.scores, self.cluster, self.stratum


def combined(scores: Sequence[Score], cluster: str | None, stratum: str | None) -> ExampleScore | None:
    """Combine the scores of an example's generations; return None if the metric applies to none of them."""
    return None if all(score is None for score in scores) else ExampleScore(scores, cluster, stratum)


class HarnessAggregation:
    """An aggregation that the harness can call with a list of scores, one per example.

    A score is None if the metric does not apply to the example.
    """

    def __init__(self, aggregation: Aggregation) -> None:
        self.aggregation = aggregation

    def __call__(self, items: Iterable[float | None]) -> float:
        """Return the metric's value over the examples; NaN, which lm_eval can average, if the value is undefined."""
        value = self.aggregation.value(_as_scores(items))
        return math.nan if value is None else value

    def stderr(self, items: Iterable[float | None]) -> float | str:
        """Return the standard error of the value; "N/A" if the error is undefined, as for fewer than two clusters."""
        stderr = self.aggregation.stderr(_as_scores(items))
        return UNDEFINED if stderr is None else stderr

    def __repr__(self) -> str:
        return self.aggregation.name


def _as_scores(items: Iterable[float | None]) -> MetricScores:
    """Convert scores other than None to arrays; a plain number counts as the score of an independent example."""
    known = [item if isinstance(item, ExampleScore) else ExampleScore([item]) for item in items if item is not None]
    clusters = integer_codes(item.cluster for item in known)
    strata = integer_codes(item.stratum or "" for item in known)
    return MetricScores.of([item.scores for item in known], clusters, strata)


def without_nan(metrics: JsonObject) -> JsonObject:
    """Return metrics with "N/A" in place of NaN, which JSON lacks."""
    return {name: UNDEFINED if value != value else value for name, value in metrics.items()}
