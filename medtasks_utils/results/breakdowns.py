"""Metrics over any part of a task's samples, with 95 % confidence intervals: the same numbers as the run's own.

A metric is aggregated as in the run (:mod:`medtasks_utils.statistics`): F1 over verdicts, macro averages over strata,
all else as means, with standard errors clustered where examples share a question.

Intervals of shares are Wilson's (JASA 1927), with the effective number of examples ``p (1 − p) / stderr²`` where they
are clustered (Korn & Graubard, *Survey Methodology* 1998), so that they hold for small groups and at 0 and 1. F1 is
taken by way of ``TP / (TP + FP + FN)``, which is a share (Flores et al., *Journal of Applied Statistics* 2022). Scores
have ``value ± t × stderr``, with one degree of freedom less than there are clusters.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from scipy.special import stdtrit

from medtasks_utils import statistics
from medtasks_utils.results.benchmarks import BENCHMARKS, PERCENT_METRICS, UNBOUNDED_METRICS, Breakdown
from medtasks_utils.results.samples import Sample
from medtasks_utils.statistics import ExampleValue, MacroMean, Mean, Total, Verdict, VerdictRatio

Aggregation = Mean | MacroMean | VerdictRatio | Total

LEVEL = 0.95
_Z = NormalDist().inv_cdf((1 + LEVEL) / 2)
_VERDICT_RATIOS = {
    "f1": statistics.f1,
    "precision": statistics.precision,
    "recall": statistics.recall,
    "accuracy_answered": statistics.accuracy,
}
_COUNTS = ("judge_failures",)


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


def aggregation_of(metric: str) -> Aggregation:
    """How values of a metric are put together."""
    if metric.startswith("macro_"):
        return statistics.macro_mean
    if metric in _COUNTS:
        return statistics.total
    return _VERDICT_RATIOS.get("f1" if metric.startswith("f1_") else metric, statistics.mean)


def item_of(sample: Sample, filter_name: str, metric: str, benchmark: str | None) -> ExampleValue | None:
    """A sample's value, as the aggregations take it; None where the metric does not apply or was not computed."""
    value = sample.metrics.get(filter_name, {}).get(metric)
    if value is None:
        return None
    if benchmark is None:
        return ExampleValue(value)
    known = BENCHMARKS[benchmark]
    cluster = _text(sample, known.cluster)
    stratum = _text(sample, known.stratum)
    is_ratio = isinstance(aggregation_of(metric), VerdictRatio)
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
    return _estimate([item for item in items if item is not None], metric)


def _estimate(items: Sequence[ExampleValue], metric: str) -> Estimate:
    aggregation = aggregation_of(metric)
    value = aggregation(items) if items else statistics.NOT_AVAILABLE
    if value == statistics.NOT_AVAILABLE or math.isnan(value):
        return Estimate(0, None)
    if isinstance(aggregation, Total):
        return Estimate(len(items), value)
    error = aggregation.stderr(items)
    stderr = None if error == statistics.NOT_AVAILABLE else error
    clusters = len({("alone", i) if item.cluster is None else item.cluster for i, item in enumerate(items)})
    low, high = _interval(value, stderr, clusters, metric)
    if isinstance(aggregation, Mean) and clusters == len(items) and all(item in (0.0, 1.0) for item in items):
        low, high = wilson(value, clusters)
    return Estimate(len(items), value, stderr, low, high)


def _interval(value: float, stderr: float | None, clusters: int, metric: str) -> tuple[float | None, float | None]:
    top = 100.0 if metric in PERCENT_METRICS else 1.0
    is_bounded = metric not in UNBOUNDED_METRICS and 0 <= value <= top
    if top != 1.0 or not is_bounded or metric.startswith("macro_"):
        if stderr is None:
            return None, None
        reach = float(stdtrit(clusters - 1, (1 + LEVEL) / 2)) * stderr
        return (max(0.0, value - reach), min(top, value + reach)) if is_bounded else (value - reach, value + reach)
    if aggregation_of(metric) is statistics.f1:
        share = value / (2 - value)
        error = None if stderr is None else stderr * (1 + share) ** 2 / 2  # d share / d F1
        low, high = wilson(share, effective_number(share, error, clusters))
        return 2 * low / (1 + low), 2 * high / (1 + high)
    return wilson(value, effective_number(value, stderr, clusters))


def effective_number(share: float, stderr: float | None, clusters: int) -> float:
    """How many independent examples would have this standard error; the clusters, where it tells nothing."""
    return share * (1 - share) / stderr**2 if stderr and 0 < share < 1 else clusters


def wilson(share: float, number: float) -> tuple[float, float]:
    """Wilson's 95 % interval for a share of ``number`` independent examples."""
    shrunk = number / (number + _Z**2)
    centre = shrunk * share + (1 - shrunk) / 2
    reach = shrunk * _Z * math.sqrt(share * (1 - share) / number + (_Z / number) ** 2 / 4)
    return max(0.0, centre - reach), min(1.0, centre + reach)


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


def abstention(samples: Sequence[Sample], filter_name: str, benchmark: str = "medhallu") -> Abstention:
    """Accuracy and F1 over all examples, and over those answered 0 or 1."""

    def over_all(value: Callable[[Sample], float], undecided: int | None = None) -> list[ExampleValue]:
        cluster = BENCHMARKS[benchmark].cluster
        return [
            ExampleValue(value(sample), _text(sample, cluster), None, verdicts_of(sample, filter_name, undecided))
            for sample in samples
            if filter_name in sample.answers
        ]

    def share_decided(sample: Sample) -> float:
        verdicts = verdicts_of(sample, filter_name)
        return sum(verdict is not None for verdict in verdicts) / max(len(verdicts), 1)

    return Abstention(
        decided=_estimate(over_all(share_decided), "decided"),
        acc=estimate(samples, filter_name, "acc", benchmark),
        acc_decided=estimate(samples, filter_name, "accuracy_answered", benchmark),
        f1=_estimate(over_all(lambda _: 1.0, undecided=0), "f1"),
        f1_decided=estimate(samples, filter_name, "f1", benchmark),
        reward=estimate(samples, filter_name, "reward", benchmark),
    )
