"""Metrics over any part of a task's samples, with 95 % confidence intervals: the same numbers as the run's own.

A metric is aggregated as in the run (:mod:`medtasks_utils.statistics`): F1 over verdicts, macro averages over strata,
all else as means, with standard errors clustered where examples share a question. Intervals are made by
:mod:`medtasks_utils.intervals`.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from medtasks_utils import statistics
from medtasks_utils.benchmarks import cards, metric_of
from medtasks_utils.benchmarks.base import Benchmark, Breakdown
from medtasks_utils.intervals import FEWEST, confidence_interval, of_mean, wider
from medtasks_utils.metrics import Metric
from medtasks_utils.planning import Spread, detectable, spread_of_clusters, variance_within
from medtasks_utils.results.samples import Sample
from medtasks_utils.statistics import ExampleValue, MacroMean, Size, Total, Verdict, VerdictRatio


@dataclass(frozen=True)
class Estimate:
    """A metric over some samples.

    Attributes:
        n: examples that the metric applies to.
        value: in the metric's own unit (0–1, or 0–100 for explanations); None where it applies to none.
        stderr: None for fewer than two independent examples.
        low: lower end of the 95 % confidence interval, None where there is none.
        high: its upper end.
        clusters: independent examples, or clusters of examples, that count in it; None where that is not known.
        informative: how many of them the interval rests on (:func:`medtasks_utils.statistics.informative_clusters`).
    """

    n: int
    value: float | None
    stderr: float | None = None
    low: float | None = None
    high: float | None = None
    clusters: int | None = None
    informative: float | None = None

    @property
    def is_of_too_few(self) -> bool:
        """Whether its interval rests on fewer than ten informative clusters."""
        return self.value is not None and self.informative is not None and self.informative < FEWEST

    @property
    def detectable(self) -> float | None:
        """The smallest true difference to a run with as large and independent errors that is found four times of five.

        The examples being the same, errors mostly agree, and smaller differences are found.
        """
        if self.stderr is None or not self.clusters or self.clusters < 2:
            return None
        return detectable(math.sqrt(2) * self.stderr, self.clusters - 1)


def items_of(
    samples: Iterable[Sample | None], filter_name: str, metric: str, benchmark: str | None, stratum: str | None = None
) -> list[ExampleValue | None]:
    """Samples' values, as the aggregations take them, all in one ``stratum`` if it is given.

    None where there is no sample, the metric does not apply, or it was not computed.
    """
    key = filter_name, metric, benchmark
    facts = metric_of(metric, benchmark)
    card = cards()[benchmark] if benchmark else None
    found: list[ExampleValue | None] = []
    for sample in samples:
        if sample is not None and key not in sample.values:
            sample.values[key] = _item_of(sample, filter_name, facts, card)
        item = None if sample is None else sample.values[key]
        found.append(item if item is None or stratum is None else item.in_stratum(stratum))
    return found


def _item_of(sample: Sample, filter_name: str, metric: Metric, card: Benchmark | None) -> ExampleValue | None:
    metrics = sample.metrics.get(filter_name, {})
    value, generations, right, failed = metrics.get(metric.name), len(sample.answers.get(filter_name, ())), 0, 0
    if metric.is_judged and metric.name in metrics and metrics.get("judge_failures") is not None:
        right, failed = round((metrics.get("acc") or 0.0) * generations), round(metrics["judge_failures"] or 0.0)
    if value is None and not failed:
        return None
    if card is None:
        return ExampleValue(value or 0.0)
    verdicts = verdicts_of(sample, filter_name) if isinstance(metric.aggregation, VerdictRatio) else ()
    return ExampleValue(
        math.nan if value is None else value,
        _text(sample, card.cluster),
        _text(sample, card.stratum),
        verdicts,
        (generations or 1) - failed,
        right,
        failed,
    )


def blank_of(sample: Sample, benchmark: str | None) -> ExampleValue:
    """What stands for a sample to which a metric does not apply, where a place has to be kept: it counts nothing."""
    card = cards()[benchmark] if benchmark else None
    cluster, stratum = (_text(sample, getattr(card, name, None)) for name in ("cluster", "stratum"))
    return ExampleValue(math.nan, cluster, stratum, (), 0)


def _text(sample: Sample, field: str | None) -> str | None:
    return None if field is None or sample.doc.get(field) is None else str(sample.doc[field])


def verdicts_of(sample: Sample, filter_name: str, undecided: int | None = None) -> tuple[Verdict | None, ...]:
    """A verdict for each generation.

    Args:
        sample: one with the target 0 or 1; with any other there are no verdicts.
        undecided: what an answer other than 0 and 1 counts as; None for no verdict.
    """
    given = [int(answer) if answer in ("0", "1") else undecided for answer in sample.answers[filter_name]]
    if sample.target not in ("0", "1"):
        return (None,) * len(given)
    return tuple(None if predicted is None else Verdict(int(sample.target), predicted) for predicted in given)


def estimate(samples: Iterable[Sample], filter_name: str, metric: str, benchmark: str | None) -> Estimate:
    """A metric over samples, with its confidence interval."""
    items = items_of(samples, filter_name, metric, benchmark)
    return estimate_of([item for item in items if item is not None], metric_of(metric, benchmark))


def estimate_of(items: Sequence[ExampleValue], metric: Metric) -> Estimate:
    """A metric over examples' values, with its confidence interval."""
    if isinstance(metric.aggregation, Total):
        return Estimate(len(items), metric.aggregation(items)) if items else Estimate(0, None)
    value, error, size, informative = metric.aggregation.summary(items)
    if not items or value == statistics.NOT_AVAILABLE:
        return Estimate(0, None)
    stderr = None if error == statistics.NOT_AVAILABLE else error
    low, high = _interval(items, metric, value, stderr, size)
    return Estimate(len(items), value, stderr, low, high, size.clusters, informative)


def _interval(
    items: Sequence[ExampleValue], metric: Metric, value: float, stderr: float | None, size: Size
) -> tuple[float | None, float | None]:
    if isinstance(metric.aggregation, MacroMean):
        of_part = replace(metric, aggregation=statistics.mean)
        parts: dict[str | None, list[ExampleValue]] = defaultdict(list)
        for item in items:
            parts[item.stratum].append(item)
        estimates = [estimate_of(part, of_part) for part in parts.values()]
        return wider(of_means(value, estimates), confidence_interval(metric, value, stderr, size))
    if metric.unit == "number" and all(0 <= item <= 1 for item in items):  # such as a reward
        metric = replace(metric, unit="share")
    return confidence_interval(metric, value, stderr, size)


def of_means(value: float, parts: Sequence[Estimate]) -> tuple[float | None, float | None]:
    """The interval of the unweighted mean of independent parts."""
    return of_mean(value, [(part.value or 0.0, part.low, part.high) for part in parts])


def repeats_of(examples: Iterable[Sequence[Sample]], filter_name: str, benchmark: str | None) -> Spread | None:
    """Where the variance of accuracy comes from; None without repeats, or with different numbers of them.

    Args:
        examples: of each its sample in one run, or those in two runs, of whose difference the variance is then.
    """
    numbers: set[int] = set()
    known: list[list[ExampleValue]] = []
    for samples in examples:
        items = [item for item in items_of(samples, filter_name, "acc", benchmark) if item is not None]
        if len(items) == len(samples):
            known.append(items)
            numbers.update(len(sample.answers[filter_name]) for sample in samples)
    if len(numbers) != 1 or min(numbers) < 2:
        return None
    number = min(numbers)
    rows = []
    for index, items in enumerate(known):
        cluster = ("alone", index) if items[0].cluster is None else items[0].cluster
        rows.append((cluster, items[-1] - sum(items[:-1]), variance_within(items, number)))
    return spread_of_clusters(rows, number)


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
    samples: Iterable[Sample], breakdown: Breakdown, filter_name: str, metrics: Iterable[str], benchmark: str | None
) -> dict[tuple[str, str], Estimate]:
    """Metrics by group of a breakdown, such as accuracy by subject: an estimate for each metric and group."""
    groups = group_samples(samples, lambda sample: breakdown.key(sample.doc)).items()
    return {
        (metric, name): estimate(group, filter_name, metric, benchmark) for metric in metrics for name, group in groups
    }


def by_way_found(
    samples: Iterable[Sample], filter_name: str, metric: str, benchmark: str | None
) -> dict[str, Estimate]:
    """A metric by how the (first) answer was found, such as ``box`` or ``none``; empty for runs that do not say."""

    def way(sample: Sample) -> str | None:
        return sample.way_found(filter_name)

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
        decided=estimate_of(over_all(share_decided), Metric("decided")),
        acc=estimate(samples, filter_name, "acc", benchmark),
        acc_decided=estimate(samples, filter_name, "accuracy_answered", benchmark),
        f1=estimate_of(over_all(lambda _: 1.0, undecided=0), metric_of("f1", benchmark)),
        f1_decided=estimate(samples, filter_name, "f1", benchmark),
        reward=estimate(samples, filter_name, "reward", benchmark),
    )
