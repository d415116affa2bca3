"""Metrics over parts of a run: over the whole they are the run's own, and their intervals cover."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from saved_runs import right_in, save_run
from scipy.stats import binomtest

from medtasks_utils.benchmarks import cards, metric_of
from medtasks_utils.benchmarks.medcalc_bench.benchmark import OF_ABSTAINING
from medtasks_utils.intervals import wilson
from medtasks_utils.metrics import OF_TOOLS
from medtasks_utils.report.outcomes import (
    FORM,
    RIGHT,
    STRICT_ONLY,
    UNANSWERED,
    UNSURE,
    WRONG,
    outcome,
    outcomes,
    shares,
)
from medtasks_utils.results import Run, Sample, TaskRun, read_runs
from medtasks_utils.results.breakdowns import (
    abstention,
    break_down,
    by_way_found,
    cross_table,
    estimate,
    group_samples,
    verdicts_of,
)

FILTERS = ("strict-match", "flexible-extract")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """All benchmarks answered once, and repeatedly; explanations and letters scored too."""
    folder = tmp_path_factory.mktemp("runs")
    lexical = {"use_explanations": True, "explanation_metrics": ["rougeL", "bleu"]}
    save_run(folder / "once", right_in(0.6), metadata={"medexqa": lexical})
    generations = {name: {"repeats": 3} for name in cards()}
    count = iter(range(10**6))
    answers = [right_in(0.6, salt) for salt in "abc"]
    save_run(folder / "thrice", lambda doc: answers[next(count) % 3](doc), metadata=generations)
    save_run(folder / "logits", lambda doc: -len(doc["question"]) % 7, tasks="medexqa_logits")
    return read_runs([folder / name for name in ("once", "thrice", "logits")])


def tasks_of(runs: list[Run]) -> list[TaskRun]:
    return [task for run in runs for task in run.tasks.values()]


def samples_of(runs: list[Run], task: str = "medhallu") -> list[Sample]:
    return runs[0].tasks[task].samples


# ---- the run's own numbers


def test_over_all_samples_every_metric_is_the_harness_s(runs: list[Run]) -> None:
    compared = 0
    for task in tasks_of(runs):
        for (metric, filter_name), (value, stderr) in task.metrics.items():
            found = estimate(task.samples, filter_name, metric, task.benchmark)
            assert found.value == pytest.approx(value, abs=1e-12), (task.task, metric)
            assert found.stderr == (None if stderr is None else pytest.approx(stderr, abs=1e-12)), (task.task, metric)
            compared += 1
    assert compared > 100


def test_intervals_hold_the_value_within_the_metric_s_range(runs: list[Run]) -> None:
    for task in tasks_of(runs):
        for metric, filter_name in task.metrics:
            found = estimate(task.samples, filter_name, metric, task.benchmark)
            if found.value is None or found.low is None or found.high is None:
                continue
            assert found.low - 1e-9 <= found.value <= found.high + 1e-9
            lowest, highest = metric_of(metric, task.benchmark).range
            assert lowest is None or found.low >= lowest
            assert highest is None or found.high <= highest
            if found.n > 1 and metric in ("acc", "f1", "answered"):
                assert found.low < found.high, "an interval has a width even where all are right"


def test_groups_divide_the_examples(runs: list[Run]) -> None:
    task = runs[0].tasks["medcalc_bench"]
    for breakdown in cards()["medcalc_bench"].breakdowns:
        groups = break_down(task.samples, breakdown, "strict-match", ["acc"], task.benchmark)
        assert sum(found.n for found in groups.values()) == len(task.samples)
        right = sum(found.n * (found.value or 0) for found in groups.values())
        assert right / len(task.samples) == pytest.approx(task.metrics["acc", "strict-match"].value)
        assert list(groups) == sorted(groups)
    by_category = cards()["medcalc_bench"].breakdowns[0]
    categories = break_down(task.samples, by_category, "strict-match", ["acc"], task.benchmark)
    for (_, category), found in categories.items():
        assert found.value == pytest.approx(task.metrics[f"acc_{category}", "strict-match"].value)


def test_f1_by_difficulty_is_the_run_s_own(runs: list[Run]) -> None:
    for run in runs[:2]:
        task = run.tasks["medhallu"]
        groups = break_down(task.samples, cards()["medhallu"].breakdowns[0], "flexible-extract", ["f1"], "medhallu")
        for (_, level), found in groups.items():
            value, stderr = task.metrics[f"f1_{level}", "flexible-extract"]
            assert found.value == pytest.approx(value) and found.stderr == pytest.approx(stderr)


def test_kinds_of_hallucination_leave_the_true_answers_out(runs: list[Run]) -> None:
    breakdown = cards()["medhallu"].breakdowns[1]
    groups = group_samples(samples_of(runs), lambda sample: breakdown.key(sample.doc))
    assert sum(map(len, groups.values())) == len(samples_of(runs)) // 2
    assert all(sample.target == "1" for group in groups.values() for sample in group)


def test_every_benchmark_names_metrics_and_fields_that_are_there(runs: list[Run]) -> None:
    for task in runs[0].tasks.values():
        known = cards()[task.benchmark or ""]
        there = {metric for metric, _ in task.metrics}
        named = {*known.compared, *(metric.name for metric in known.metrics)}
        of_scorers = {"meteor", "bertscore", "support", "coverage", "judge_failures"}
        assert named - there <= of_scorers | {metric.name for metric in (*OF_TOOLS, *OF_ABSTAINING)}
        assert there <= {metric.name for metric in known.metrics}
        for breakdown in known.breakdowns:
            assert set(breakdown.metrics) <= there
            assert any(breakdown.key(sample.doc) for sample in task.samples)
        for field in (known.cluster, known.stratum, *known.prompt_fields):
            assert field is None or all(field in sample.doc for sample in task.samples)
        if known.answers:
            given_answers = {answer for sample in task.samples for answer in sample.answers["strict-match"]}
            assert given_answers <= known.answers.keys()


# ---- what was answered


def test_ways_of_finding_account_for_every_example(runs: list[Run]) -> None:
    for task in tasks_of(runs[:2]):
        for filter_name in FILTERS:
            groups = by_way_found(task.samples, filter_name, "acc", task.benchmark)
            assert sum(found.n for found in groups.values()) == len(task.samples)
            unanswered = sum(sample.answers[filter_name][0] == "[invalid]" for sample in task.samples)
            assert (groups["none"].n if "none" in groups else 0) == unanswered
            if "none" in groups and len(task.samples[0].responses) == 1:
                assert groups["none"].value == 0


def test_the_cross_table_holds_the_confusion_matrix(runs: list[Run]) -> None:
    task = runs[0].tasks["medhallu"]
    table = cross_table(task.samples, "strict-match")
    hits, false_alarms = table["1", "1"], table["0", "1"]
    assert hits / (hits + false_alarms) == pytest.approx(task.metrics["precision", "strict-match"].value)
    assert sum(table.values()) == len(task.samples)
    unsure = table["0", "2"] + table["1", "2"]
    assert unsure / len(task.samples) == pytest.approx(task.metrics["unsure_rate", "strict-match"].value)


def test_outcomes_tell_form_from_knowledge(runs: list[Run]) -> None:
    for task in runs[0].tasks.values():
        counts = Counter(outcomes(task.samples))
        n = len(task.samples)
        assert sum(counts.values()) == n
        strict, flexible = counts[RIGHT] + counts[STRICT_ONLY], counts[RIGHT] + counts[FORM]
        assert strict / n == pytest.approx(task.metrics["acc", "strict-match"].value)
        assert flexible / n == pytest.approx(task.metrics["acc", "flexible-extract"].value)


def test_a_tie_of_generations_is_half_right_and_half_what_the_others_are() -> None:
    def sample(strict: float, flexible: float, answered: float = 1.0, unsure: float = 0.0) -> Sample:
        metrics: dict[str, float | None] = {"acc": flexible, "answered": answered, "unsure_rate": unsure}
        return Sample(0, "", {}, [], [""] * 4, "1", {}, {"strict-match": {"acc": strict}, "flexible-extract": metrics})

    assert shares(sample(0.5, 0.5)) == {RIGHT: 0.5, WRONG: 0.5}
    assert shares(sample(0.25, 0.5, answered=0.75, unsure=0.25)) == {
        RIGHT: 0.25,
        FORM: 0.25,
        UNSURE: 0.25,
        UNANSWERED: 0.25,
    }
    assert shares(sample(0.75, 0.5, answered=0.5)) == {RIGHT: 0.5, STRICT_ONLY: 0.25, UNANSWERED: 0.25}
    ties = [sample(0.5, 0.5), sample(0.5, 0.5), sample(0.75, 0.75)]
    assert outcomes(ties) == {RIGHT: 1.75, WRONG: 1.25}
    assert [outcome(each) for each in (*ties, sample(1, 1), sample(0, 1), sample(0, 0))] == [None] * 3 + [
        RIGHT,
        FORM,
        WRONG,
    ]
    assert outcomes([Sample(0, "", {}, [], [""], "1", {}, {"none": {"em": 1.0}})]) == {}


def test_abstaining_costs_what_undecided_examples_would_have_brought(runs: list[Run]) -> None:
    samples = samples_of(runs)
    found = abstention(samples, "strict-match", "medhallu")
    decided = [sample for sample in samples if sample.answers["strict-match"][0] in ("0", "1")]
    right = sum(sample.answers["strict-match"][0] == sample.target for sample in decided)
    table = Counter((sample.target, sample.answers["strict-match"][0]) for sample in samples)
    hallucinated = sum(sample.target == "1" for sample in samples)
    assert found.decided.value == pytest.approx(len(decided) / len(samples)) and len(decided) < len(samples)
    assert found.acc.value == pytest.approx(right / len(samples))
    assert found.acc_decided.value == pytest.approx(right / len(decided))
    assert found.f1.value == pytest.approx(2 * table["1", "1"] / (hallucinated + table["1", "1"] + table["0", "1"]))
    assert found.f1_decided.value == pytest.approx(runs[0].tasks["medhallu"].metrics["f1", "strict-match"].value)
    assert found.reward.value == pytest.approx(runs[0].tasks["medhallu"].metrics["reward", "strict-match"].value)


def test_no_samples_make_no_estimate() -> None:
    assert estimate([], "strict-match", "acc", "medmcqa").value is None
    assert estimate([], "strict-match", "f1", "medhallu").value is None
    assert abstention([], "strict-match", "medhallu").f1.value is None
    assert not outcomes([]) and not by_way_found([], "strict-match", "acc", "medmcqa")


def test_a_target_that_is_no_verdict_makes_none() -> None:
    sample = Sample(0, "", {}, [], [""], "", answers={"strict-match": ["1"]})
    assert verdicts_of(sample, "strict-match") == (None,)


# ---- intervals


@given(right=st.integers(0, 60), more=st.integers(0, 60))
def test_wilson_is_scipy_s(right: int, more: int) -> None:
    n = right + more
    if n:
        interval = binomtest(right, n).proportion_ci(method="wilson")
        assert wilson(right / n, n) == pytest.approx((interval.low, interval.high), abs=1e-9)


def medhallu_samples(rows: int, rng: random.Random, hit: float = 0.8, false_alarm: float = 0.3) -> list[Sample]:
    """Two examples a row, whose answers share half their luck: so they are dependent."""
    samples: list[Sample] = []
    for row in range(rows):
        luck = rng.random()
        for target in (0, 1):
            own = luck if rng.random() < 0.5 else rng.random()
            flagged = own < (hit if target else false_alarm)
            answer = "2" if rng.random() < 0.15 else str(int(flagged))
            value = float(answer == str(target))
            verdict = None if answer == "2" else value
            samples.append(
                Sample(
                    doc_id=len(samples),
                    doc_hash=f"{row}-{target}",
                    doc={"row": str(row), "shown": "", "difficulty": "easy"},
                    messages=[],
                    responses=[""],
                    target=str(target),
                    answers={"strict-match": [answer]},
                    metrics={"strict-match": {"acc": value, "f1": verdict, "precision": verdict}},
                )
            )
    return samples


@pytest.mark.slow
def test_intervals_cover_the_truth() -> None:
    """Of 300 draws with clustered examples, some 95 % of the intervals hold the value of a very large sample."""
    metrics = ("acc", "f1", "precision")
    large = medhallu_samples(15_000, random.Random(1))
    truth = {metric: estimate(large, "strict-match", metric, "medhallu").value or 0.0 for metric in metrics}
    for rows in (15, 60):
        covered: Counter[str] = Counter()
        for draw in range(300):
            samples = medhallu_samples(rows, random.Random(draw + 2))
            for metric in metrics:
                found = estimate(samples, "strict-match", metric, "medhallu")
                assert found.low is not None and found.high is not None
                covered[metric] += found.low <= truth[metric] <= found.high
        assert all(0.92 <= covered[metric] / 300 <= 0.99 for metric in metrics), (rows, covered)


def test_standard_errors_are_the_cluster_bootstrap_s() -> None:
    samples = medhallu_samples(150, random.Random(3))
    by_row = list(group_samples(samples, lambda sample: str(sample.doc["row"])).values())
    rng = np.random.default_rng(0)
    for metric in ("acc", "f1"):
        drawn = []
        for _ in range(300):
            chosen = rng.integers(0, len(by_row), len(by_row))
            resampled = [sample for index in chosen for sample in by_row[index]]
            drawn.append(estimate(resampled, "strict-match", metric, "medhallu").value or 0.0)
        error = estimate(samples, "strict-match", metric, "medhallu").stderr
        assert error == pytest.approx(np.std(drawn), rel=0.15)
