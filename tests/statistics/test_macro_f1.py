"""Macro-F1 over classes against scikit-learn and simulation; through the harness, saved samples and a comparison."""

import json
from collections import Counter
from typing import Any

import numpy as np
import pytest
import yaml
from given import TASKS, Row
from hypothesis import given
from hypothesis import strategies as st
from lm_eval.tasks import TaskManager
from numpy.typing import NDArray
from running import Answering
from saved_runs import chance, save_run
from sklearn.metrics import f1_score

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.compare import compare_runs
from medtasks_utils.compare.contrast import Contrast, contrast
from medtasks_utils.report.summary import problems
from medtasks_utils.report.topics import topics_of
from medtasks_utils.results import read_runs
from medtasks_utils.results.samples import _score
from medtasks_utils.statistics.aggregation import MACRO_F1, OverStrata
from medtasks_utils.statistics.intervals import Estimate, estimate
from medtasks_utils.statistics.metrics import ACC, Metric
from medtasks_utils.statistics.score_arrays import MetricScores
from medtasks_utils.statistics.scores import ClassTerms, as_number

METRIC = Metric("macro_f1", MACRO_F1)
NOT_ANSWERED = -1
TERMS = {(t, a): ClassTerms.of(t, None if a == NOT_ANSWERED else a, range(3)) for t in range(3) for a in range(-1, 3)}

Labels = NDArray[Any]
Rng = np.random.Generator


def of_sklearn(truth: Any, answers: Any, weights: Any = None) -> float:
    """Return its macro-F1 over the classes that occur; no answer is no class."""
    labels = sorted({*truth, *answers} - {NOT_ANSWERED, "[invalid]"})
    found = f1_score(truth, answers, labels=labels, average="macro", sample_weight=weights, zero_division=0)
    return float(found)


def scores(truth: Labels, answers: Labels, clusters: Labels | None = None) -> MetricScores:
    """Return the scores of answers of shape ``(n, k)``."""
    rows = [[TERMS[t, a] for a in row] for t, row in zip(truth.tolist(), answers.tolist(), strict=True)]
    n = np.arange(len(rows))
    return MetricScores.of(rows, n if clusters is None else clusters, n * 0)


@given(st.integers(0, 2**32 - 1))
def test_the_value_is_that_of_scikit_learn(seed):
    """For each generation, where classes are missing and answers are lacking too; also by definition."""
    rng = np.random.default_rng(seed)
    n, k, classes = int(rng.integers(1, 40)), int(rng.integers(1, 4)), int(rng.integers(1, 4))
    truth, answers = rng.integers(0, classes, n), rng.integers(-1, classes, (n, k))
    expected = [of_sklearn(truth, answers[:, generation]) for generation in range(k)]
    found = scores(truth, answers)
    assert MACRO_F1.value(found) == pytest.approx(np.mean(expected))
    first = [TERMS[t, a] for t, a in zip(truth.tolist(), answers[:, 0].tolist(), strict=True)]
    assert MACRO_F1.by_definition(first, [""] * n) == pytest.approx(expected[0])
    assert found.values.tolist() == pytest.approx((answers == truth[:, None]).mean(axis=1))


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
    assert ratio.influence == pytest.approx(slopes, abs=1e-8)
    assert ratio.stderr == pytest.approx(np.sqrt(20 / 19 * np.square(slopes).sum()))


def answered(rng: Rng, truth: Labels, difficulty: Labels) -> Labels:
    """Return two answers a question, of which half depend on its difficulty alone."""
    luck = np.where(rng.random((len(truth), 2)) < 0.5, difficulty, rng.random((len(truth), 2)))
    wrong = rng.choice([-1, 0, 1, 2], p=[0.1, 0.4, 0.3, 0.2], size=luck.shape)
    return np.where(luck < np.array([0.9, 0.8, 0.4])[truth][:, None], truth[:, None], wrong)


def drawn(rng: Rng, n: int) -> tuple[Labels, Labels]:
    """Return the truth and the difficulty of n questions, in classes of the sizes that PubMedQA has."""
    return rng.choice(3, n, p=[0.55, 0.34, 0.11]), rng.random((n, 1))


def clustered(truth: Labels, answers: Labels) -> MetricScores:
    """Return the scores where each question is asked twice."""
    return scores(truth.repeat(2), answers.reshape(-1, 1), np.arange(len(truth)).repeat(2))


@pytest.mark.slow
def test_intervals_hold_the_truth_and_tests_keep_their_level():
    """400 draws of two equal models on 150 questions: within three standard errors of 95 % and of 5 %."""
    rng = np.random.default_rng(0)
    truth, difficulty = drawn(rng, 200_000)
    expected = of_sklearn(truth.repeat(2), answered(rng, truth, difficulty).ravel())
    estimates: list[Estimate] = []
    contrasts: list[Contrast | None] = []
    for _ in range(400):
        truth, difficulty = drawn(rng, 150)
        first, second = (clustered(truth, answered(rng, truth, difficulty)) for _ in range(2))
        estimates.append(estimate(first, METRIC))
        contrasts.append(contrast(first, second, METRIC))
    ends = [(found.low, found.high) for found in estimates]
    held = [low <= expected <= high for low, high in ends if low is not None and high is not None]
    assert len(held) == 400 and 0.917 < np.mean(held) < 0.983
    values, errors = np.array([(found.value, found.stderr) for found in estimates], dtype=float).T
    assert errors.mean() == pytest.approx(values.std(), rel=0.1)
    rejected = [found.p < 0.05 for found in contrasts if found is not None and found.p is not None]
    assert len(rejected) == 400 and 0.005 < np.mean(rejected) < 0.083


def test_few_of_one_class_are_marked():
    truth = np.array([0] * 100 + [1] * 100 + [2] * 4)
    answers = np.where(np.arange(204) % 3 == 0, 0, truth)[:, None]
    assert estimate(scores(truth, answers), METRIC).few
    assert not estimate(scores(truth[:200], answers[:200]), METRIC).few


def test_scores_are_read_as_they_were_logged():
    for terms in TERMS.values():
        read = _score(json.loads(json.dumps(terms)))
        assert read == terms and isinstance(read, ClassTerms)
    assert as_number(TERMS[0, 0]) == 1 and as_number(TERMS[0, 1]) == as_number(TERMS[0, NOT_ANSWERED]) == 0


# ---- a run of the harness

SPECIALTIES = yaml.safe_load((TASKS / "medexqa" / "medexqa.yaml").read_text())["task"]
GROUP = (
    f"group: by_specialty\ntask: {SPECIALTIES}\naggregate_metric_list: [{{metric: macro_f1, weight_by_size: false}}]\n"
)


def letters(share: float, salt: str) -> Answering:
    """Return a model that is right in a share of its generations, and else names any letter or none."""
    asked: Counter[str] = Counter()

    def answer(doc: Row) -> str:
        asked[repr(doc)] += 1
        luck = chance(doc, f"{salt}{asked[repr(doc)]}")
        return (
            f"The choice is {doc['answer_letter']}"
            if luck < share
            else ("The choice is B", "", "D.")[int(99 * luck) % 3]
        )

    return answer


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two runs of MedExQA, as it would be with macro-F1 over the letters, of two generations an example."""
    folder, benchmark = tmp_path_factory.mktemp("macro_f1"), type(benchmarks()["medexqa"])
    (folder / "group.yaml").write_text(GROUP)
    own = benchmark.score

    def score(self, answer, example, options):
        found = own(self, answer, example, options)
        terms = ClassTerms.of(example["answer_letter"], answer.value, "ABCD")
        return found._replace(values={**found.values, "macro_f1": terms, "macro_macro_f1": terms})

    def manager(metadata, data):
        return TaskManager(include_path=[str(TASKS), str(folder)], include_defaults=False, metadata=metadata)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("running.manager", manager)
        patch.setattr(benchmark, "score", score)
        more = METRIC, Metric("macro_macro_f1", OverStrata(MACRO_F1))
        patch.setattr(benchmark, "metrics", (*benchmark.metrics, *more))
        patch.setattr(benchmark, "metrics_of", lambda self, task, options: [ACC, *more])
        metadata = {"medtasks_data": "sample", "medexqa": {"use_explanations": False, "repeats": 2}}
        for name, share in (("a", 0.8), ("b", 0.2)):
            save_run(folder / name, letters(share, name), ["by_specialty", "medexqa_all"], f"org/{name}", metadata)
        first, second = read_runs([folder / "a", folder / "b"])
        yield first, second


def test_the_harness_reports_what_scikit_learn_says(runs):
    for run in runs:
        for name in (*SPECIALTIES, "medexqa_all"):
            samples = run.tasks[name].samples
            truth = [sample.target for sample in samples]
            generations = zip(*(sample.answers["strict-match"] for sample in samples), strict=True)
            expected = np.mean([of_sklearn(truth, answers) for answers in generations])
            assert run.tasks[name].metrics["macro_f1", "strict-match"].value == pytest.approx(expected)
        of_tasks = [run.tasks[name].metrics["macro_f1", "strict-match"].value for name in SPECIALTIES]
        assert run.groups["by_specialty"].metrics["macro_f1", "strict-match"].value == pytest.approx(np.mean(of_tasks))


def test_saved_samples_give_the_reported_numbers(runs):
    for run in runs:
        for task in run.tasks.values():
            for metric in ("macro_f1", "macro_macro_f1"):
                ratio = task.metric(metric).aggregation.ratio(task.scores("strict-match", metric))
                assert (ratio.value, ratio.stderr) == pytest.approx(task.metrics[metric, "strict-match"])
    assert all("empty replies" in problem for problem in problems(runs))
    by_name = {unit.name: unit for unit in topics_of(runs)}
    for unit, metric in (("by_specialty", "macro_f1"), ("medexqa_all", "macro_f1"), ("medexqa_all", "macro_macro_f1")):
        found = by_name[unit].estimate("a", "strict-match", metric)
        reported = by_name[unit].results["a"].metrics[metric, "strict-match"]
        assert found.value is not None and found.low is not None and found.high is not None
        assert found.low < found.value < found.high <= 1
        assert (found.value, found.stderr) == pytest.approx(reported)


def test_two_runs_are_compared_by_it(runs):
    lines = compare_runs(*runs, metrics=["macro_f1", "macro_macro_f1"]).differences
    whole = {(line.task, line.metric.name): line.contrast for line in lines if line.breakdown is None}
    for unit, metric in (("by_specialty", "macro_f1"), ("medexqa_all", "macro_f1"), ("medexqa_all", "macro_macro_f1")):
        a, b = (
            (run.groups[unit] if unit in run.groups else run.tasks[unit]).metrics[metric, "strict-match"].value
            for run in runs
        )
        found = whole[unit, metric]
        assert (found.a, found.b, found.difference) == pytest.approx((a, b, b - a))
        assert found.low is not None and found.high is not None and found.low < found.difference < found.high
        assert found.test == "t" and found.p is not None and found.p < 0.05
