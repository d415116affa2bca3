"""Macro-F1 over classes against scikit-learn: its value through the harness, its standard error, its marks."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from medtasks_utils.harness.aggregates import ExampleScore, HarnessAggregation
from medtasks_utils.results.samples import _score
from medtasks_utils.statistics.aggregation import MACRO_F1, OverStrata
from medtasks_utils.statistics.intervals import estimate
from medtasks_utils.statistics.metrics import Metric
from medtasks_utils.statistics.score_arrays import MetricScores, concatenate
from medtasks_utils.statistics.scores import ClassTerms, as_number

METRIC = Metric("macro_f1", MACRO_F1)
approx = pytest.approx
NOT_ANSWERED = -1


def of_sklearn(truth: Any, answers: Any, weights: Any = None) -> float:
    """Return its macro-F1 over the classes that occur; no answer is no class."""
    labels = sorted({*truth, *answers} - {NOT_ANSWERED})
    found = f1_score(truth, answers, labels=labels, average="macro", sample_weight=weights, zero_division=0)
    return float(found)


def terms(truth: Any, answers: Any, classes: int = 3) -> list[list[ClassTerms]]:
    """Return the terms of answers of shape ``(n, k)``."""
    return [
        [ClassTerms.of(t, None if answer == NOT_ANSWERED else answer, range(classes)) for answer in row]
        for t, row in zip(truth.tolist(), answers.tolist(), strict=True)
    ]


def scores(truth: Any, answers: Any, clusters: Any = None, classes: int = 3) -> MetricScores:
    n = np.arange(len(truth))
    return MetricScores.of(terms(truth, answers, classes), n if clusters is None else clusters, n * 0)


@given(st.integers(0, 2**32 - 1))
def test_the_value_is_that_of_scikit_learn(seed):
    """Of each generation, where classes are missing and answers are lacking too; of tasks it is the mean of theirs."""
    rng = np.random.default_rng(seed)
    tasks, expected = [], []
    for _ in range(2):
        n, k, classes = int(rng.integers(1, 40)), int(rng.integers(1, 4)), int(rng.integers(1, 4))
        truth, answers = rng.integers(0, classes, n), rng.integers(-1, classes, (n, k))
        expected.append(np.mean([of_sklearn(truth, answers[:, generation]) for generation in range(k)]))
        own = terms(truth, answers, classes)
        assert HarnessAggregation(MACRO_F1)(map(ExampleScore, own)) == approx(expected[-1])
        tasks.append(scores(truth, answers, classes=classes))
        assert tasks[-1].values.tolist() == approx((answers == truth[:, None]).mean(axis=1))
    group = concatenate(tasks, tasks_are_strata=True)
    assert OverStrata(MACRO_F1).value(group) == approx(np.mean(expected))


def test_the_standard_error_is_the_linearised_one_of_clusters():
    """A cluster's influence is the derivative of scikit-learn's value by the cluster's weight."""
    rng = np.random.default_rng(1)
    truth, answers, clusters = rng.integers(0, 3, 60), rng.integers(-1, 3, (60, 1)), np.repeat(np.arange(20), 3)
    ratio = MACRO_F1.ratio(scores(truth, answers, clusters))
    step = 1e-5
    slopes = []
    for cluster in range(20):
        up, down = (of_sklearn(truth, answers[:, 0], 1 + sign * step * (clusters == cluster)) for sign in (1, -1))
        slopes.append((up - down) / (2 * step))
    assert ratio.influence == approx(slopes, abs=1e-8)
    assert ratio.stderr == approx(np.sqrt(20 / 19 * np.square(slopes).sum()))


def test_a_rare_class_costs_degrees_of_freedom():
    """Satterthwaite's, but not fewer than ten, and never more than there are clusters less one."""
    truth = np.array([0] * 100 + [1] * 100 + [2] * 4)
    answers = np.where(np.arange(204) % 3 == 0, 0, truth)[:, None]
    rare, common = scores(truth, answers), scores(truth[:200], answers[:200])
    assert (estimate(rare, METRIC).few, estimate(common, METRIC).few) == (True, False)
    assert MACRO_F1.ratio(rare).degrees_of_freedom == 10
    ratio = MACRO_F1.ratio(common)
    assert ratio.degrees_of_freedom == ratio.informative_clusters < 199
    assert MACRO_F1.ratio(scores(truth[95:105], answers[95:105])).degrees_of_freedom == 9


def test_scores_are_read_as_they_were_logged():
    for answer, number in ((0, 1), (1, 0), (None, 0)):
        logged = ClassTerms.of(0, answer, range(3))
        read = _score(json.loads(json.dumps(logged)))
        assert read == logged and isinstance(read, ClassTerms)
        assert as_number(logged) == number
