"""Aggregations and their standard errors, against independent formulas, scikit-learn and the cluster bootstrap."""

from __future__ import annotations

import json
import math
import pickle
import random
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lm_eval.api.metrics import mean_stderr
from sklearn import metrics

from medtasks_utils.statistics import (
    NOT_AVAILABLE,
    ExampleValue,
    MacroMean,
    Mean,
    Verdict,
    VerdictRatio,
    accuracy,
    f1,
    macro_mean,
    mean,
    precision,
    recall,
)

Verdicts = tuple[Verdict | None, ...]
RATIOS: list[VerdictRatio] = [f1, precision, recall, accuracy]
SKLEARN: dict[str, Callable[[Sequence[int], Sequence[int]], float]] = {
    "f1": lambda target, predicted: float(metrics.f1_score(target, predicted, zero_division=0)),
    "precision": lambda target, predicted: float(metrics.precision_score(target, predicted, zero_division=0)),
    "recall": lambda target, predicted: float(metrics.recall_score(target, predicted, zero_division=0)),
    "accuracy": lambda target, predicted: float(metrics.accuracy_score(target, predicted)),
}


def example(verdict: Verdict | None, cluster: str | None = None) -> ExampleValue | None:
    """What a task returns for one generation: None where nothing applies."""
    return None if verdict is None else ExampleValue(float(verdict[0] == verdict[1]), cluster, None, (verdict,))


def random_verdicts(count: int, seed: int, dropped: float = 0.2) -> list[Verdict | None]:
    draw = random.Random(seed)
    return [
        None if draw.random() < dropped else Verdict(draw.randrange(2), int(draw.random() < 0.6)) for _ in range(count)
    ]


def paired_verdicts(pairs: int, seed: int) -> list[tuple[str, Verdict | None]]:
    """Two examples a question, with targets 0 and 1, whose answers depend on a difficulty that they share."""
    draw = random.Random(seed)
    examples: list[tuple[str, Verdict | None]] = []
    for pair in range(pairs):
        skill = draw.choice([0.35, 0.9])
        for target in (0, 1):
            right = draw.random() < skill
            verdict = None if draw.random() < 0.15 else Verdict(target, target if right else 1 - target)
            examples.append((str(pair), verdict))
    return examples


# ---- means

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=50)


@settings(deadline=None)
@given(VALUES)
def test_the_mean_and_its_error_are_the_harness_s(values: list[float]) -> None:
    assert mean(values) == pytest.approx(sum(values) / len(values), rel=1e-12, abs=1e-9)
    assert mean.stderr(values) == pytest.approx(mean_stderr(values), rel=1e-9, abs=1e-9)
    assert mean.stderr([ExampleValue(value) for value in values]) == mean.stderr(values)


def test_the_error_of_independent_zeros_and_ones_is_the_harness_s_to_the_last_digits() -> None:
    values = [float(random.Random(7).random() < 0.7) for _ in range(1000)]
    values[:300] = [0.0] * 300
    assert mean.stderr(values) == pytest.approx(mean_stderr(values), rel=1e-14)


def test_examples_to_which_a_metric_does_not_apply_are_left_out() -> None:
    assert mean([1.0, None, 0.0, None, 0.0]) == pytest.approx(1 / 3)
    assert mean.stderr([1.0, None, 0.0, None, 0.0]) == mean.stderr([1.0, 0.0, 0.0])
    for nothing in ([], [None], [None, None]):
        assert (
            mean(nothing) == mean.stderr(nothing) == macro_mean(nothing) == macro_mean.stderr(nothing) == NOT_AVAILABLE
        )
    assert mean([1.0]) == 1.0
    assert mean.stderr([1.0]) == NOT_AVAILABLE


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0, 100), st.sampled_from("abcdefg")), min_size=2, max_size=60))
def test_the_clustered_error_is_the_textbook_s(items: list[tuple[float, str]]) -> None:
    values = np.array([value for value, _ in items])
    clusters = np.array([cluster for _, cluster in items])
    names = np.unique(clusters)
    if len(names) < 2:
        assert mean.stderr([ExampleValue(*item) for item in items]) == NOT_AVAILABLE
        return
    residual = values - values.mean()
    sums = np.array([residual[clusters == name].sum() for name in names])
    expected = math.sqrt(len(names) / (len(names) - 1) * (sums**2).sum()) / len(values)
    assert mean.stderr([ExampleValue(*item) for item in items]) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_the_clustered_error_is_the_bootstrap_s() -> None:
    examples = [(cluster, float(v.target == v.predicted)) for cluster, v in paired_verdicts(400, 3) if v]
    items = [ExampleValue(value, cluster) for cluster, value in examples]
    numerators, denominators = cluster_sums([(c, value, 1.0) for c, value in examples])
    assert mean.stderr(items) == pytest.approx(bootstrap(numerators, denominators), rel=0.06)
    assert float(mean.stderr(items)) > 1.1 * float(mean.stderr([float(item) for item in items]))  # pairs are alike


def cluster_sums(rows: list[tuple[str, float, float]]) -> tuple[Any, Any]:
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for cluster, numerator, denominator in rows:
        sums[cluster][0] += numerator
        sums[cluster][1] += denominator
    table = np.array(list(sums.values()))
    return table[:, 0], table[:, 1]


def bootstrap(numerators: Any, denominators: Any, draws: int = 4000) -> float:
    """Standard deviation of the ratio over resamples of whole clusters."""
    count = len(numerators)
    weights = np.random.default_rng(0).multinomial(count, [1 / count] * count, size=draws)
    return float(((weights @ numerators) / (weights @ denominators)).std(ddof=1))


# ---- F1 and its kin


@pytest.mark.parametrize("ratio", RATIOS, ids=repr)
@pytest.mark.parametrize("seed", range(5))
def test_ratios_are_scikit_learn_s_over_what_is_kept(ratio: VerdictRatio, seed: int) -> None:
    verdicts = random_verdicts(2000, seed)
    kept = [verdict for verdict in verdicts if verdict]
    assert 0 < len(kept) < len(verdicts)
    expected = SKLEARN[repr(ratio)]([v.target for v in kept], [v.predicted for v in kept])
    assert ratio(map(example, verdicts)) == pytest.approx(expected, rel=1e-12)


@settings(deadline=None)
@given(st.lists(st.none() | st.builds(Verdict, st.integers(0, 1), st.integers(0, 1)), max_size=12))
def test_ratios_of_a_few_verdicts_are_scikit_learn_s(verdicts: list[Verdict | None]) -> None:
    kept = [verdict for verdict in verdicts if verdict]
    for ratio in RATIOS:
        expected = SKLEARN[repr(ratio)]([v.target for v in kept], [v.predicted for v in kept]) if kept else 0.0
        assert ratio(map(example, verdicts)) == pytest.approx(expected)
        error = ratio.stderr(map(example, verdicts))
        assert error == NOT_AVAILABLE or float(error) >= 0


@pytest.mark.parametrize("ratio", RATIOS, ids=repr)
def test_nothing_kept_is_zero_and_no_crash(ratio: VerdictRatio) -> None:
    for nothing in ([], [None], [None] * 10, [ExampleValue(0.0, "a")]):
        assert ratio(nothing) == 0.0
        assert ratio.stderr(nothing) == NOT_AVAILABLE


def test_all_negative_is_zero() -> None:
    items = [example(Verdict(0, 0), str(i)) for i in range(5)]
    assert (f1(items), precision(items), recall(items), accuracy(items)) == (0.0, 0.0, 0.0, 1.0)
    assert f1.stderr(items) == NOT_AVAILABLE


@pytest.mark.parametrize("ratio", RATIOS, ids=repr)
def test_errors_of_ratios_are_the_cluster_bootstrap_s(ratio: VerdictRatio) -> None:
    examples = paired_verdicts(1000, 11)
    rows = [(cluster, ratio.numerator(v), ratio.denominator(v)) for cluster, v in examples if v]
    items = [example(verdict, cluster) for cluster, verdict in examples]
    assert ratio.stderr(items) == pytest.approx(bootstrap(*cluster_sums(rows)), rel=0.06)


def test_the_error_of_accuracy_is_that_of_the_mean() -> None:
    items = [example(verdict, cluster) for cluster, verdict in paired_verdicts(100, 5)]
    assert accuracy(items) == mean(items)
    assert accuracy.stderr(items) == pytest.approx(mean.stderr(items), rel=1e-12)


def test_errors_are_computed_in_milliseconds() -> None:
    items = [example(verdict, cluster) for cluster, verdict in paired_verdicts(9000, 2)]
    started = time.perf_counter()
    for ratio in RATIOS:
        ratio.stderr(items)
    assert time.perf_counter() - started < 5.0  # of 18,000 examples; resampling scikit-learn takes minutes


# ---- several generations


def test_with_several_generations_a_ratio_is_the_mean_over_them() -> None:
    first, second = random_verdicts(300, 1), random_verdicts(300, 2)
    both = [ExampleValue(0.0, str(i), None, pair) for i, pair in enumerate(zip(first, second, strict=True))]
    for ratio in RATIOS:
        expected = sum(float(ratio(map(example, each))) for each in (first, second)) / 2
        assert ratio(both) == pytest.approx(expected, rel=1e-12)


def test_the_same_generation_twice_is_no_more_certain() -> None:
    verdicts = random_verdicts(200, 4)
    once = [ExampleValue(0.0, str(i), None, (verdict,)) for i, verdict in enumerate(verdicts)]
    twice = [ExampleValue(0.0, str(i), None, (verdict, verdict)) for i, verdict in enumerate(verdicts)]
    for ratio in RATIOS:
        assert ratio(once) == ratio(twice)
        assert ratio.stderr(once) == pytest.approx(ratio.stderr(twice), rel=1e-12)


def test_independent_generations_are_more_certain() -> None:
    generations = [random_verdicts(300, seed, dropped=0.0) for seed in range(4)]
    one = [ExampleValue(0.0, str(i), None, (verdict,)) for i, verdict in enumerate(generations[0])]
    four = [ExampleValue(0.0, str(i), None, verdicts) for i, verdicts in enumerate(zip(*generations, strict=True))]
    for ratio in RATIOS:
        assert float(ratio.stderr(four)) == pytest.approx(float(ratio.stderr(one)) / 2, rel=0.25)


def test_a_generation_without_any_decision_has_no_ratio() -> None:
    once = [ExampleValue(1.0, str(i), None, (Verdict(1, i % 2),)) for i in range(4)]
    items = [ExampleValue(1.0, item.cluster, None, (*item.verdicts, None)) for item in once]
    assert f1(items) == f1(once) == pytest.approx(2 / 3)
    assert f1.stderr(items) == f1.stderr(once) != 0


# ---- macro averages


def strata(sizes: dict[str, int], seed: int = 0) -> list[ExampleValue]:
    draw = random.Random(seed)
    return [
        ExampleValue(float(draw.random() < 0.3 + 0.1 * len(name)), None, name)
        for name, size in sizes.items()
        for _ in range(size)
    ]


def test_the_macro_mean_weighs_strata_alike() -> None:
    items = strata({"a": 10, "bb": 400, "cccc": 90})
    groups = [[item for item in items if item.stratum == name] for name in ("a", "bb", "cccc")]
    assert macro_mean(items) == pytest.approx(sum(sum(group) / len(group) for group in groups) / 3, rel=1e-12)
    errors = [mean_stderr([float(value) for value in group]) for group in groups]
    assert macro_mean.stderr(items) == pytest.approx(math.sqrt(sum(error**2 for error in errors)) / 3, rel=1e-9)
    assert macro_mean(items) != pytest.approx(float(mean(items)), abs=1e-3)


def test_one_stratum_is_a_mean() -> None:
    items = strata({"a": 50})
    assert macro_mean(items) == mean(items)
    assert macro_mean.stderr(items) == mean.stderr(items)


def test_a_stratum_of_one_has_no_error() -> None:
    items = strata({"a": 50, "b": 1})
    assert macro_mean(items) == pytest.approx((float(mean(items[:50])) + items[50]) / 2)
    assert macro_mean.stderr(items) == NOT_AVAILABLE


# ---- what the harness does with them


@settings(deadline=None)
@given(st.randoms(use_true_random=False), st.integers(0, 50))
def test_the_order_makes_no_difference_to_the_last_bit(shuffler: random.Random, seed: int) -> None:
    draw = random.Random(seed)
    items: list[float | None] = [
        None
        if draw.random() < 0.1
        else ExampleValue(
            draw.random() * 10 ** draw.randrange(-8, 8),
            draw.choice(["p", "q", "r", "s", "t"]),
            draw.choice(["x", "y", "zz"]),
            tuple(random_verdicts(2, draw.randrange(1000))),
        )
        for _ in range(80)
    ]
    shuffled = list(items)
    shuffler.shuffle(shuffled)
    aggregations: list[Mean | MacroMean | VerdictRatio] = [mean, macro_mean, *RATIOS]
    for aggregation in aggregations:
        assert aggregation(items) == aggregation(shuffled)
        assert aggregation.stderr(items) == aggregation.stderr(shuffled)


def test_a_value_is_a_number_to_whoever_reads_it_and_survives_pickling() -> None:
    value = ExampleValue(0.25, "row 7", "BE", (Verdict(1, 0), None), 3, 2, 1)
    assert value == 0.25
    assert json.dumps({"acc": value}) == '{"acc": 0.25}'
    assert repr(value) == "0.25"
    copy = pickle.loads(pickle.dumps(value))
    assert type(copy) is ExampleValue
    assert (copy, copy.cluster, copy.stratum, copy.verdicts) == (0.25, "row 7", "BE", (Verdict(1, 0), None))
    assert (copy.valid, copy.right, copy.failed) == (3, 2, 1)
    plain = pickle.loads(pickle.dumps(ExampleValue(1.0)))
    assert (plain, plain.cluster, plain.stratum, plain.verdicts) == (1.0, None, None, ())


def test_aggregations_have_names() -> None:
    assert [repr(aggregation) for aggregation in (mean, macro_mean, *RATIOS)] == [
        "mean",
        "macro mean",
        "f1",
        "precision",
        "recall",
        "accuracy",
    ]
    assert isinstance(macro_mean, MacroMean)
