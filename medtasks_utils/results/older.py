"""Samples of runs saved before version 0.3, whose lines lack cluster, stratum and the scores of single generations.

What they lack is read out of documents, answers and means, as far as these tell: of several generations, means alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from medtasks_utils.benchmarks.base import Benchmark
from medtasks_utils.benchmarks.medhallu.benchmark import RATIOS, ratios_of
from medtasks_utils.results.samples import Sample
from medtasks_utils.statistics.metrics import OF_REPEATS, JudgedScore, Metric, Score

_OF_REPEATS = {metric.name for metric in OF_REPEATS}


def complete(samples: Sequence[Sample], card: Benchmark) -> None:
    """Add what the samples lack."""
    for sample in samples:
        sample.cluster, sample.stratum = (
            None if value is None else str(value)
            for value in (field and sample.doc.get(field) for field in (card.cluster, card.stratum))
        )
        for filter_name, metrics in sample.metrics.items():
            for name, value in metrics.items():
                facts = card.metric(name) or Metric(name)
                found = None if name in _OF_REPEATS else _scores(sample, filter_name, facts, value)
                if found is not None:
                    sample.scores[filter_name][name] = found


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
    if metric.is_ratio and value is not None:
        ratio = metric.name if metric.name in RATIOS else "f1"  # of one difficulty
        decided = ("0", "1")
        return [
            ratios_of(int(sample.target), int(answer))[ratio]
            if answer in decided and sample.target in decided
            else None
            for answer in answers
        ]
    return None if value is None or number == 1 else [value] * number
