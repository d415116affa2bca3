"""Statistics of confidences against libraries, their definitions and simulation."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_statistics import scores

from medtasks_utils.compare.contrast import contrast
from medtasks_utils.statistics.calibration import BINS, Confidences, risks
from medtasks_utils.statistics.intervals import estimate
from medtasks_utils.statistics.metrics import CONFIDENCE_METRICS
from medtasks_utils.statistics.scores import score_of_confidence

METRICS = {metric.name: metric for metric in CONFIDENCE_METRICS if metric.aggregation.logged_as}
SEEDS = st.integers(0, 2**32 - 1)
approx = pytest.approx


def drawn(rng, n, gap=0.0, clusters=None):
    """Answers that are right with their confidence less a gap; equal confidences occur if n is even."""
    confidence = rng.beta(4, 2, n) if n % 2 else rng.choice([0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0], n)
    right = (rng.random(n) < np.clip(confidence - gap, 0, 1)).astype(float)
    return right, confidence, scores(list(map(score_of_confidence, right, confidence)), clusters)


def value(name, given_scores):
    return METRICS[name].aggregation.value(given_scores)


def mean_over_ties(right, confidence, statistic):
    """A statistic of right answers by descending confidence, over many orders of equal ones."""
    rng = np.random.default_rng(0)
    orders = (np.lexsort((rng.random(len(right)), -confidence)) for _ in range(100))
    return np.mean([statistic(right[order]) for order in orders])


def area(ordered):
    return np.mean(1 - ordered.cumsum() / np.arange(1, len(ordered) + 1))


@settings(max_examples=20)
@given(SEEDS, st.sampled_from([41, 60]))
def test_ranks_are_those_of_the_library_and_of_the_definitions(seed, n):
    right, confidence, given_scores = drawn(np.random.default_rng(seed), n)
    if 0 < right.sum() < n:
        from sklearn.metrics import roc_auc_score  # slow to import

        assert value("auroc", given_scores) == approx(roc_auc_score(right, confidence))
    assert value("aurc", given_scores) == approx(mean_over_ties(right, confidence, area), abs=0.03)
    best = area(np.sort(right)[::-1])
    assert value("e_aurc", given_scores) == approx(value("aurc", given_scores) - best)
    surest = mean_over_ties(right, confidence, lambda ordered: ordered[: round(0.8 * n)].mean())
    assert value("acc@80", given_scores) == approx(surest, abs=0.04)
    assert risks(Confidences.of(given_scores))[-1] == approx(1 - right.mean())


@settings(max_examples=10)
@given(SEEDS)
def test_the_parts_of_the_brier_score_make_it_up(seed):
    """Exactly, but for the variances of the means, where each bin has one confidence."""
    right, confidence, given_scores = drawn(np.random.default_rng(seed), 4000, gap=0.1)
    parts = (value(f"brier_{part}", given_scores) for part in ("reliability", "resolution", "uncertainty"))
    reliability, resolution, uncertainty = parts
    assert reliability - resolution + uncertainty == approx(np.mean((right - confidence) ** 2), abs=0.002)
    assert uncertainty == approx(right.mean() * (1 - right.mean()), abs=0.001)


def kumar(right, confidence, rng):
    """The plain error, and twice that less its mean with normal deviations, as by Kumar et al."""
    bins = np.array_split(np.argsort(confidence, kind="stable"), BINS)
    gap = np.array([(right[of] - confidence[of]).mean() for of in bins])
    error = [(right[of] - confidence[of]).std(ddof=1) / np.sqrt(len(of)) for of in bins]
    noisy = np.abs(gap + error * rng.standard_normal((20_000, BINS))).mean()
    return np.abs(gap).mean(), 2 * np.abs(gap).mean() - noisy


def test_ece_is_as_debiased_by_kumar_and_nearer_to_the_truth_than_the_plain_one():
    rng = np.random.default_rng(1)
    plain, ours = [], []
    for _ in range(30):
        right, confidence, given_scores = drawn(rng, 501, gap=0.02)
        of_kumar = kumar(right, confidence, rng)
        ours.append(value("ece", given_scores))
        assert ours[-1] == approx(max(0, of_kumar[1]), abs=0.02)
        plain.append(of_kumar[0])
    assert np.mean(plain) - 0.02 > 1.5 * abs(np.mean(ours) - 0.02)


@pytest.mark.parametrize(("gap", "in_pairs"), [(0.15, True), pytest.param(0.0, False, marks=pytest.mark.slow)])
def test_intervals_of_known_calibration_hold_the_truth(gap, in_pairs):
    """As often as they say, but for chance in 50 draws; measurements/calibration.md has more."""
    rng = np.random.default_rng(2)
    many = drawn(np.random.default_rng(3), 20_001, gap)[2]
    truth = {name: value(name, many) for name in METRICS}
    truth |= {"ece": gap and truth["ece"], "brier_reliability": gap and truth["brier_reliability"]}
    held = dict.fromkeys(METRICS, 0)
    for _ in range(50):
        right, confidence, given_scores = drawn(rng, 301, gap)
        if in_pairs:
            pairs = map(score_of_confidence, np.repeat(right, 2), np.repeat(confidence, 2))
            given_scores = scores(list(pairs), clusters=np.repeat(np.arange(301), 2).tolist())
        for name, metric in METRICS.items():
            found = estimate(given_scores, metric)
            assert found.interval
            held[name] += found.interval.low - 1e-9 <= truth[name] <= found.interval.high + 1e-9
    assert min(held.values()) >= 41, held


def test_two_runs_are_compared_on_the_same_examples():
    right, confidence, surer = drawn(np.random.default_rng(5), 401, gap=0.3)
    honest = scores(list(map(score_of_confidence, right, np.clip(confidence - 0.3, 0, 1))))
    of_ece: Any = contrast(surer, honest, METRICS["ece"])
    assert of_ece.difference < 0 and of_ece.p < 0.001
    paired: Any = contrast(surer, honest, METRICS["aurc"])
    alone: Any = METRICS["aurc"].aggregation.stderr
    assert paired.stderr < min(alone(surer), alone(honest)) / 2
