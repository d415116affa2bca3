"""The harness's habits hold: what it saves, selects, caches, repeats and averages, in runs of the real evaluator."""

from __future__ import annotations

import json
import math
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from conftest import (
    BENCHMARKS,
    GENERATION_TASKS,
    Row,
    Scripted,
    documents,
    evaluate,
    load,
    plain_stderr,
    right_answer,
    saved_results,
    saved_samples,
    shown,
    write_rows,
)
from lm_eval.loggers import EvaluationTracker

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.base import UNANSWERED
from medtasks_utils.harness.task import MedTask

FILTERS = ("strict-match", "flexible-extract")
METRICS = {
    "medmcqa_openmed": {"acc", "answered", "format", "one_box"},
    "medexqa_all": {"acc", "macro_acc", "answer_accuracy", "answered"},
    "medexqa_clinical_psychology": {"acc", "answer_accuracy", "answered"},
    "medcalc_bench": {"acc", "answered", "by_calculator"}
    | {f"acc_{c}" for c in ("lab_test", "physical", "date", "dosage", "risk", "severity", "diagnosis")},
    "medhallu": {"acc", "reward", "answered", "unsure_rate", "accuracy_answered", "precision", "recall"}
    | {"f1", "f1_easy", "f1_medium", "f1_hard"},
}


def mixed(doc: Row, attempt: int = 0) -> str:
    """Right, wrong, unsure, malformed, truncated and empty responses, by the document."""
    kind = random.Random(f"{attempt}:{doc.get('id')}{doc.get('row')}{doc.get('row_number')}{doc.get('shown')}").random()
    if kind < 0.45:
        return right_answer(doc)
    if kind < 0.6:
        return "<think>It is \\boxed{1} <answer>1</answer> A"
    if kind < 0.7:
        return ""
    if kind < 0.8:
        return "\\boxed{2}"
    if kind < 0.9:
        return "I cannot say \\boxed{"
    return "\\boxed{1} <answer>1</answer> B"


def metric(result: dict[str, Any], task: str, name: str, filter_name: str = "strict-match") -> Any:
    return result["results"][task][f"{name},{filter_name}"]


def stderr(result: dict[str, Any], task: str, name: str, filter_name: str = "strict-match") -> Any:
    return result["results"][task][f"{name}_stderr,{filter_name}"]


# ---- what is reported


@pytest.mark.parametrize("task", METRICS)
def test_every_metric_under_both_filters_with_its_standard_error_and_direction(task: str) -> None:
    result = evaluate(task, mixed)
    keys = [key for key in result["results"][task] if "," in key]
    assert {key.split(",")[1] for key in keys} == set(FILTERS)
    for filter_name in FILTERS:
        for name in METRICS[task]:
            value, error = metric(result, task, name, filter_name), stderr(result, task, name, filter_name)
            assert isinstance(value, float)
            assert isinstance(error, float)
            assert 0 <= value <= (100 if name == "answer_accuracy" else 1)
            assert error >= 0
    assert {key.split(",")[0].removesuffix("_stderr") for key in keys} == METRICS[task]
    assert METRICS[task] <= result["higher_is_better"][task].keys()
    assert all(
        better == (name not in ("unsure_rate", "judge_failures"))
        for name, better in result["higher_is_better"][task].items()
    )
    assert result["versions"][task] >= 1
    assert result["n-samples"][task] == {"original": len(load(task).eval_docs), "effective": len(load(task).eval_docs)}


@pytest.mark.parametrize("task", GENERATION_TASKS)
def test_right_answers_score_one_and_empty_ones_nothing(task: str) -> None:
    result = evaluate(task)
    for filter_name in FILTERS:
        assert metric(result, task, "acc", filter_name) == metric(result, task, "answered", filter_name) == 1.0
        assert stderr(result, task, "acc", filter_name) == 0.0
    result = evaluate(task, lambda doc: "")
    for filter_name in FILTERS:
        assert metric(result, task, "acc", filter_name) == metric(result, task, "answered", filter_name) == 0.0


def mixed_or_likelihood(doc: Row) -> Any:
    return len(doc["question"]) % 7 if "continuation" in doc else mixed(doc)


# ---- samples


def run_and_save(folder: Path, task: str, answer: Any = mixed, **settings: Any) -> list[Row]:
    """The saved samples of a run, written by the harness's own tracker as under ``--output_path --log_samples``."""
    result = evaluate(task, answer, metadata=settings.pop("metadata", {}), **settings)
    tracker = EvaluationTracker(output_path=str(folder))
    samples = result.pop("samples")
    tracker.save_results_aggregated(results=result, samples=samples)
    tracker.save_results_samples(task_name=task, samples=samples[task])
    assert saved_results(folder)["results"][task].keys() == result["results"][task].keys()
    return saved_samples(folder, task)


@pytest.mark.parametrize("task", METRICS)
def test_saved_samples_hold_everything_about_each_example(tmp_path: Path, task: str) -> None:
    samples = run_and_save(tmp_path, task)
    docs = documents(load(task))
    assert len(samples) == 2 * len(docs)
    for filter_name in FILTERS:
        chosen = [sample for sample in samples if sample["filter"] == filter_name]
        assert [shown(sample["doc"]) for sample in chosen] == docs
        assert [sample["doc_id"] for sample in chosen] == list(range(len(docs)))
        for sample in chosen:
            assert sample["resps"] == [[mixed(sample["doc"])]]
            assert len(sample["filtered_resps"]) == 1
            assert set(sample["metrics"]) == METRICS[task]
            assert METRICS[task] <= sample.keys()
            assert sample["target"] == sample["doc"].get(
                "answer_letter", sample["doc"].get("ground_truth", sample["target"])
            )
            arguments = sample["arguments"]["gen_args_0"]
            assert json.loads(arguments["arg_0"])[-1]["role"] == "user"
            assert arguments["arg_1"]["do_sample"] is False
            if sample["acc"] == 1:
                assert sample["filtered_resps"][0] != UNANSWERED
            if sample["answered"] == 0:
                assert sample["filtered_resps"] == [UNANSWERED]


def test_what_no_file_could_hold_is_replaced_and_nothing_else_is(tmp_path: Path) -> None:
    nasty = [
        "\ud800 lone",
        "mid\udfffdle",
        "end\ud800",
        "\ud83d\ude00 pair",
        "\x00\x07\x1b[31m",
        "\ufeffbom",
        "\u2028\r",
    ]
    answers = iter(nasty * 10)
    samples = run_and_save(tmp_path, "medmcqa_openmed", lambda doc: next(answers) + " \\boxed{A}")
    saved = [sample["resps"][0][0].removesuffix(" \\boxed{A}") for sample in samples[: len(nasty)]]
    assert saved == ["\ufffd lone", "mid\ufffddle", "end\ufffd", "😀 pair", *nasty[4:]]
    assert {sample["filtered_resps"][0] for sample in samples} == {"A"}


# ---- selection


def test_a_limit_of_medexqa_all_takes_from_all_specialties() -> None:
    docs = documents(load("medexqa_all"))
    parts = {name: [doc for doc in docs if doc["specialty"] == name] for name in {doc["specialty"] for doc in docs}}
    assert {doc["specialty"] for doc in docs[:5]} == parts.keys()
    for name, part in parts.items():
        alone = documents(load(f"medexqa_{name}"))
        assert [doc["id"] for doc in part] == [doc["id"] for doc in alone]


@pytest.mark.parametrize("task", [*GENERATION_TASKS, "medexqa_clinical_psychology_logits"])
def test_predict_only_saves_the_samples_and_scores_nothing(task: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_scoring(*arguments: Any) -> Any:
        raise AssertionError("scored")

    for benchmark in benchmarks().values():
        monkeypatch.setattr(type(benchmark), "score", no_scoring)
        monkeypatch.setattr(type(benchmark), "batch_scorer", no_scoring)
    result = evaluate(task, mixed_or_likelihood, predict_only=True)
    assert {key.split(",")[0] for key in result["results"][task] if "," in key} <= {"bypass", "bypass_stderr"}
    logged = result["samples"][task]
    assert [shown(sample["doc"]) for sample in logged][: len(load(task).eval_docs)] == documents(load(task))
    if task in GENERATION_TASKS:
        assert {sample["filter"] for sample in logged} == set(FILTERS)
        assert all(sample["resps"] == [[mixed(sample["doc"])]] for sample in logged)
    assert all("acc" not in sample for sample in logged)


# ---- caches


@pytest.fixture
def request_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("lm_eval.caching.cache.PATH", str(tmp_path / "requests"))
    return tmp_path / "requests"


def asked(task: str, metadata: dict[str, Any] | None = None, **settings: Any) -> tuple[list[str], list[Any]]:
    model = Scripted()
    evaluate(task, model, metadata=metadata, **settings)
    return model.prompts, model.generation_kwargs


VARIATIONS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("medhallu", {}, {}),
    ("medhallu", {"medhallu": {"use_knowledge": True}}, {}),
    ("medhallu", {"medhallu": {"difficulty": "hard"}}, {}),
    ("medhallu", {"medhallu": {"repeats": 2}}, {}),
    ("medhallu", {}, {"limit": 5}),
    ("medhallu", {}, {"samples": {"medhallu": [0, 3]}}),
    ("medhallu", {}, {"gen_kwargs": "temperature=0.9"}),
    ("medhallu", {}, {"system_instruction": "Be brief."}),
    ("medhallu", {}, {"apply_chat_template": False}),
    ("medcalc_bench", {}, {}),
    ("medcalc_bench", {"medcalc_bench": {"one_shot": True}}, {}),
    ("medcalc_bench", {"medcalc_bench": {"system_prompt": "Compute."}}, {}),
    ("medmcqa_openmed", {}, {}),
    ("medmcqa_openmed", {}, {"num_fewshot": 2}),
]


def test_cached_requests_are_those_of_the_same_run_only(request_cache: Path) -> None:
    fresh = [asked(task, metadata, **settings) for task, metadata, settings in VARIATIONS]
    for _ in range(2):  # once filling the cache, once reading it
        for (task, metadata, settings), expected in zip(VARIATIONS, fresh, strict=True):
            assert asked(task, metadata, cache_requests=True, **settings) == expected, (task, metadata, settings)
    assert len(list(request_cache.iterdir())) >= len(VARIATIONS) - 2  # a limit is cut from the whole


def test_cached_requests_are_used(request_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = asked("medmcqa_openmed", cache_requests=True)
    built: list[Row] = []
    original = MedTask.doc_to_text

    def watched(self: MedTask, doc: Row, *rest: Any) -> Any:
        built.append(doc)
        return original(self, doc, *rest)

    monkeypatch.setattr(MedTask, "doc_to_text", watched)
    assert asked("medmcqa_openmed", cache_requests=True) == expected
    assert len(built) <= 1  # the harness renders the first document of every task it makes
    assert asked("medmcqa_openmed") == expected
    assert len(built) > 16


# ---- repeats


def attempts() -> Scripted:
    """A model whose k-th response to the same document differs from its first."""
    counts: dict[str, int] = defaultdict(int)

    def answer(doc: Row) -> str:
        key = json.dumps(doc, sort_keys=True)
        counts[key] += 1
        return mixed(doc, counts[key])

    return Scripted(answer)


@pytest.mark.parametrize("task", GENERATION_TASKS)
def test_repeats_are_averaged_within_each_example(task: str) -> None:
    benchmark = next(name for name in BENCHMARKS if task.startswith(name))
    options = {"repeats": 4}
    model = attempts()
    result = evaluate(task, model, metadata={benchmark: options})
    docs = documents(load(task))
    assert len(model.prompts) == 4 * len(docs)
    single = load(task)
    for filter_name, read in (
        ("strict-match", single.benchmark.strict),
        ("flexible-extract", single.benchmark.flexible),
    ):
        logged = [sample for sample in result["samples"][task] if sample["filter"] == filter_name]
        means = []
        for doc, sample in zip(docs, logged, strict=True):
            answers = [read(response, doc, single.options) for (response,) in sample["resps"]]
            assert len(answers) == 4
            assert sample["filtered_resps"] == answers
            means.append(
                sum(single.benchmark.score(answer, doc, single.options).values["acc"] for answer in answers) / 4
            )
            assert sample["acc"] == means[-1]
        assert len(set(means)) > 2
        assert metric(result, task, "acc", filter_name) == pytest.approx(sum(means) / len(means))
        if task != "medhallu":  # its examples are clustered by row; see below
            assert stderr(result, task, "acc", filter_name) == pytest.approx(plain_stderr(means))


# ---- groups


@pytest.mark.parametrize("repeats", [1, 2])
def test_the_macro_average_is_the_plain_mean_of_the_five_specialties(repeats: int) -> None:
    members = [f"medexqa_{name}" for name in sorted({doc["specialty"] for doc in documents(load("medexqa_all"))})]
    assert len(members) == 5
    result = evaluate(
        "medexqa",
        attempts(),
        metadata={"medexqa": {"repeats": repeats}},
        samples={name: list(range(2 + index % 3)) for index, name in enumerate(members)},
    )
    assert len({result["n-samples"][name]["effective"] for name in members}) > 1, "sizes differ, weights do not"
    for filter_name in FILTERS:
        for name in ("acc", "answer_accuracy", "answered"):
            values = [metric(result, member, name, filter_name) for member in members]
            errors = [stderr(result, member, name, filter_name) for member in members]
            assert metric(result, "medexqa", name, filter_name) == pytest.approx(sum(values) / 5)
            assert stderr(result, "medexqa", name, filter_name) == pytest.approx(
                math.sqrt(sum(error**2 for error in errors)) / 5
            )
    assert "medexqa" in result["groups"]


def test_medtasks_is_the_plain_mean_of_the_four_benchmarks() -> None:
    result = evaluate("medtasks", mixed)
    for filter_name in FILTERS:
        values = [metric(result, task, "acc", filter_name) for task in GENERATION_TASKS]
        errors = [stderr(result, task, "acc", filter_name) for task in GENERATION_TASKS]
        assert metric(result, "medtasks", "acc", filter_name) == pytest.approx(sum(values) / 4)
        assert stderr(result, "medtasks", "acc", filter_name) == pytest.approx(math.sqrt(sum(e**2 for e in errors)) / 4)


# ---- several processes


def test_responses_that_pad_a_rank_are_dropped() -> None:
    """Under several processes the harness repeats a rank's last request until all ranks have as many."""
    for repeats in (1, 2):
        task = load("medhallu", medhallu={"repeats": repeats})
        task.build_all_requests(limit=4)
        for instance in task.instances:
            instance.resps = [f"\\boxed{{{instance.doc['target']}}}"]
        task.instances[-1].resps += ["\\boxed{2}"] * 3
        task.apply_filters()
        assert len(task.instances) == 4 * repeats
        for instance in task.instances:
            assert len(instance.resps) == 1
            scores = task.process_results(instance.doc, [instance.filtered_resps["strict-match"]] * repeats)
            assert scores["acc"] == 1.0
            assert scores["unsure_rate"] == 0.0


# ---- MedHallu's detection metrics


def detection(doc: Row, rng: random.Random) -> tuple[str, str | None]:
    """A response and the verdict in it, None for unsure, malformed and truncated ones."""
    verdict = doc["target"] if rng.random() < 0.7 else "10"[int(doc["target"])]
    return rng.choice(
        [
            (f"\\boxed{{{verdict}}}", verdict),
            (f"<think>\\boxed{{2}}</think> \\boxed{{\\text{{{verdict}}}}}", verdict),
            (f"\\boxed{{2}} or rather $\\boxed{{({verdict})}}$.", verdict),
            ("\\boxed{2}", None),
            ("\\boxed{3}", None),
            ("", None),
            (f"<think>It is \\boxed{{{verdict}}}", None),
            (f"\\boxed{{{verdict}", None),
        ]
    )


def check_against_scikit_learn(data: Path | str, metadata: dict[str, Any]) -> None:
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is the reference")
    rng = random.Random(7)
    served: list[tuple[Row, str | None]] = []

    def answer(doc: Row) -> str:
        response, verdict = detection(doc, rng)
        served.append((doc, verdict))
        return response

    result = evaluate("medhallu", answer, data=data, metadata=metadata)
    assert len(served) == len(load("medhallu", data, **metadata).eval_docs)

    def kept(difficulty: str | None = None) -> tuple[list[int], list[int]]:
        pairs = [
            (int(doc["target"]), int(verdict))
            for doc, verdict in served
            if verdict is not None and difficulty in (None, doc["difficulty"])
        ]
        return [target for target, _ in pairs], [verdict for _, verdict in pairs]

    assert 0 < len(kept()[0]) < len(served)
    assert metric(result, "medhallu", "f1") == pytest.approx(metrics.f1_score(*kept()))
    assert metric(result, "medhallu", "precision") == pytest.approx(metrics.precision_score(*kept()))
    assert metric(result, "medhallu", "recall") == pytest.approx(metrics.recall_score(*kept()))
    assert metric(result, "medhallu", "accuracy_answered") == pytest.approx(metrics.accuracy_score(*kept()))
    for difficulty in ("easy", "medium", "hard"):
        assert metric(result, "medhallu", f"f1_{difficulty}") == pytest.approx(metrics.f1_score(*kept(difficulty)))
    for name in ("f1", "precision", "recall", "accuracy_answered"):
        assert 0 < stderr(result, "medhallu", name) < 0.5


@pytest.mark.parametrize("options", [{}, {"pairing": "sampled"}, {"subset": "pqa_artificial"}])
def test_detection_metrics_equal_scikit_learns(data: Path, options: dict[str, Any]) -> None:
    rows: list[Row] = [
        {
            "Question": f"Question {index}?",
            "Knowledge": [],
            "Ground Truth": "True.",
            "Difficulty Level": ("easy", "medium", "hard")[index % 3],
            "Hallucinated Answer": "False.",
            "Category of Hallucination": "Incomplete Information",
        }
        for index in range(200)
    ]
    for subset in ("pqa_labeled", "pqa_artificial"):
        write_rows(rows, data / "medhallu" / f"{subset}.jsonl")
    check_against_scikit_learn(data, {"medhallu": options})


# ---- loading


def test_tasks_of_the_harness_itself_keep_their_standard_errors() -> None:
    """Aggregations that bring none of their own are asked for it as before."""
    from lm_eval import evaluator_utils
    from lm_eval.api.metrics import mean, perplexity

    values = [0.0, 1.0, 1.0, 0.0, 1.0]
    assert evaluator_utils.stderr_for_metric(mean, 100)(values) == pytest.approx(plain_stderr(values))
    assert evaluator_utils.stderr_for_metric(perplexity, 0) is None
    assert evaluator_utils.stderr_for_metric(sum, 100) is None
