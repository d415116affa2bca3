"""Samples of runs saved before version 0.3, whose lines lack cluster, stratum and the scores of single generations.

What they lack is read out of documents, answers and means, as far as these tell: of several generations, means alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from medtasks_utils.benchmarks.base import Benchmark
from medtasks_utils.results.samples import Sample
from medtasks_utils.statistics.metrics import OF_REPEATS, JudgedScore, Metric, Score

_OF_REPEATS = {metric.name for metric in OF_REPEATS}
_RATIOS: dict[str, Callable[[int, int], tuple[float, float]]] = {
    "f1": lambda target, given: (2 * (target & given), target + given),
    "precision": lambda target, given: (target & given, given),
    "recall": lambda target, given: (target & given, target),
    "accuracy": lambda target, given: (target == given, 1),
}
"""By the first word of the metric's name: what a decision adds to numerator and denominator."""


def complete(samples: Sequence[Sample], card: Benchmark) -> None:
    """Add what the samples lack."""
    for sample in samples:
        sample.cluster, sample.stratum = (
            None if field is None or sample.doc.get(field) is None else str(sample.doc[field])
            for field in (card.cluster, card.stratum)
        )
        for filter_name, metrics in sample.metrics.items():
            found = {
                name: _scores(sample, filter_name, card.metric(name) or Metric(name), value)
                for name, value in metrics.items()
                if name not in _OF_REPEATS
            }
            sample.scores[filter_name] = {name: scores for name, scores in found.items() if scores is not None}


def _scores(sample: Sample, filter_name: str, metric: Metric, value: float | None) -> Sequence[Score] | None:
    """A metric's scores; None where the mean says all."""
    answers, metrics = sample.answers.get(filter_name, []), sample.metrics[filter_name]
    number = len(answers) or 1
    if metric.is_judged and metrics.get("judge_failures") is not None:
        right, failed = round((metrics.get("acc") or 0.0) * number), round(metrics["judge_failures"] or 0.0)
        judged = right - failed
        each = (value or 0.0) * (number - failed) / judged if judged else 0.0
        of_right = [JudgedScore(True, each)] * judged + [JudgedScore(True, None)] * failed
        return None if value is None and not failed else [*of_right, *[JudgedScore(False, 0.0)] * (number - right)]
    if value is not None and metric.is_ratio:
        pair = _RATIOS[metric.name.split("_")[0]]
        decided = [answer in ("0", "1") and sample.target in ("0", "1") for answer in answers]
        return [
            pair(int(sample.target), int(answer)) if is_decided else None
            for answer, is_decided in zip(answers, decided, strict=True)
        ]
    return None if value is None or number == 1 else [value] * number
