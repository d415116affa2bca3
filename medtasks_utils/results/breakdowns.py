"""Metrics over any part of a task's samples, with 95 % confidence intervals: the same numbers as the run's own.

A metric is aggregated as in the run (:mod:`medtasks_utils.statistics`): F1 over verdicts, macro averages over strata,
all else as means, with standard errors clustered where examples share a question. Intervals are made by
:mod:`medtasks_utils.intervals`.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from medtasks_utils import statistics
from medtasks_utils.benchmarks import cards, metric_of
from medtasks_utils.benchmarks.card import Breakdown
from medtasks_utils.intervals import confidence_interval, wilson
from medtasks_utils.metrics import Metric
from medtasks_utils.results.samples import Sample
from medtasks_utils.statistics import ExampleValue, Mean, Total, Verdict, VerdictRatio


@dataclass(frozen=True)
class Estimate:
    """A metric over some samples.

    Attributes:
        n: examples that the metric applies to.
        value: in the metric's own unit (0–1, or 0–100 for explanations); None where it applies to none.
        stderr: None for fewer than two independent examples.
        low: lower end of the 95 % confidence interval, None where there is none.
        high: its upper end.
    """

    n: int
    value: float | None
    stderr: float | None = None
    low: float | None = None
    high: float | None = None


def item_of(sample: Sample, filter_name: str, metric: str, benchmark: str | None) -> ExampleValue | None:
    """A sample's value, as the aggregations take it; None where the metric does not apply or was not computed."""
    value = sample.metrics.get(filter_name, {}).get(metric)
    if value is None:
        return None
    if benchmark is None:
        return ExampleValue(value)
    card = cards()[benchmark]
    cluster = _text(sample, card.cluster)
    stratum = _text(sample, card.stratum)
    is_ratio = isinstance(metric_of(metric, benchmark).aggregation, VerdictRatio)
    verdicts = verdicts_of(sample, filter_name) if is_ratio else ()
    return ExampleValue(value, cluster, stratum, verdicts)


def _text(sample: Sample, field: str | None) -> str | None:
    return None if field is None or sample.doc.get(field) is None else str(sample.doc[field])


def verdicts_of(sample: Sample, filter_name: str, undecided: int | None = None) -> tuple[Verdict | None, ...]:
    """A verdict for each generation.

    Args:
        sample: one with the target 0 or 1; with any other there are no verdicts.
        filter_name: whose answers to take.
        undecided: what an answer other than 0 and 1 counts as; None for no verdict.
    """
    given = [int(answer) if answer in ("0", "1") else undecided for answer in sample.answers[filter_name]]
    if sample.target not in ("0", "1"):
        return (None,) * len(given)
    return tuple(None if predicted is None else Verdict(int(sample.target), predicted) for predicted in given)


def estimate(samples: Iterable[Sample], filter_name: str, metric: str, benchmark: str | None) -> Estimate:
    """A metric over samples, with its confidence interval."""
    items = [item_of(sample, filter_name, metric, benchmark) for sample in samples]
    return _estimate([item for item in items if item is not None], metric_of(metric, benchmark))


def _estimate(items: Sequence[ExampleValue], metric: Metric) -> Estimate:
    value = metric.aggregation(items) if items else statistics.NOT_AVAILABLE
    if value == statistics.NOT_AVAILABLE or math.isnan(value):
        return Estimate(0, None)
    if isinstance(metric.aggregation, Total):
        return Estimate(len(items), value)
    error = metric.aggregation.stderr(items)
    stderr = None if error == statistics.NOT_AVAILABLE else error
    clusters = len({("alone", i) if item.cluster is None else item.cluster for i, item in enumerate(items)})
    low, high = confidence_interval(metric, value, stderr, clusters)
    if isinstance(metric.aggregation, Mean) and clusters == len(items) and all(item in (0.0, 1.0) for item in items):
        low, high = wilson(value, clusters)
    return Estimate(len(items), value, stderr, low, high)


# ---- groups


def group_samples(samples: Iterable[Sample], key: Callable[[Sample], str | None]) -> dict[str, list[Sample]]:
    """Samples by group, groups in alphabetical order; those whose key is None are left out."""
    groups: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        name = key(sample)
        if name is not None:
            groups[name].append(sample)
    return {name: groups[name] for name in sorted(groups)}


def break_down(
    samples: Iterable[Sample], breakdown: Breakdown, filter_name: str, metric: str, benchmark: str | None
) -> dict[str, Estimate]:
    """A metric by group of a breakdown, such as accuracy by subject."""
    groups = group_samples(samples, lambda sample: breakdown.key(sample.doc))
    return {name: estimate(group, filter_name, metric, benchmark) for name, group in groups.items()}


def by_way_found(
    samples: Iterable[Sample], filter_name: str, metric: str, benchmark: str | None
) -> dict[str, Estimate]:
    """A metric by how the (first) answer was found, such as ``box`` or ``none``; empty for runs that do not say."""

    def way(sample: Sample) -> str | None:
        return next(iter(sample.found_by.get(filter_name, ())), None)

    return {
        name: estimate(group, filter_name, metric, benchmark) for name, group in group_samples(samples, way).items()
    }


def cross_table(samples: Iterable[Sample], filter_name: str) -> Counter[tuple[str, str]]:
    """How often each answer was given where each was right, over all generations: by (target, answer)."""
    return Counter((sample.target, answer) for sample in samples for answer in sample.answers.get(filter_name, ()))


# ---- abstaining


@dataclass(frozen=True)
class Abstention:
    """What leaving examples undecided costs, or gains.

    Attributes:
        decided: the share of examples with a decision.
        acc: accuracy over all, an undecided example being wrong.
        acc_decided: accuracy over the decided ones.
        f1: F1 over all, an undecided example counting as not flagged.
        f1_decided: F1 over the decided ones, as the benchmark reports it.
        reward: the benchmark's reward.
    """

    decided: Estimate
    acc: Estimate
    acc_decided: Estimate
    f1: Estimate
    f1_decided: Estimate
    reward: Estimate


def abstention(samples: Sequence[Sample], filter_name: str, benchmark: str) -> Abstention:
    """Accuracy and F1 over all examples, and over those answered 0 or 1."""

    def over_all(value: Callable[[Sample], float], undecided: int | None = None) -> list[ExampleValue]:
        cluster = cards()[benchmark].cluster
        return [
            ExampleValue(value(sample), _text(sample, cluster), None, verdicts_of(sample, filter_name, undecided))
            for sample in samples
            if filter_name in sample.answers
        ]

    def share_decided(sample: Sample) -> float:
        verdicts = verdicts_of(sample, filter_name)
        return sum(verdict is not None for verdict in verdicts) / max(len(verdicts), 1)

    return Abstention(
        decided=_estimate(over_all(share_decided), Metric("decided")),
        acc=estimate(samples, filter_name, "acc", benchmark),
        acc_decided=estimate(samples, filter_name, "accuracy_answered", benchmark),
        f1=_estimate(over_all(lambda _: 1.0, undecided=0), metric_of("f1", benchmark)),
        f1_decided=estimate(samples, filter_name, "f1", benchmark),
        reward=estimate(samples, filter_name, "reward", benchmark),
    )
