"""What the real harness saves, selects, caches, repeats and averages."""

import json
import math
import pickle
import random
from itertools import cycle
from statistics import fmean
from typing import Any
from unittest.mock import Mock

import pytest
import scipy
from given import GENERATION_TASKS, each_row, table
from local_server import LocalServer
from places import at
from running import (
    Scripted,
    documents_of,
    evaluate,
    load,
    manager,
    model_of,
    right_answer,
    saved_results,
    saved_samples,
    shown,
)
from saved_runs import save_run
from scripts import as_answer

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.facts import UNANSWERED
from medtasks_utils.errors import MedtasksError
from medtasks_utils.harness.aggregates import ExampleScore

FILTERS = ("strict-match", "flexible-extract")
OF_ENDS = {"cut", "acc_finished"}


def mixed(doc, attempt=0):
    """Return a right, wrong, unsure, malformed, cut or empty response, depending on the document."""
    chance = random.Random(f"{attempt}:{doc.get('id')}{doc.get('row')}{doc.get('row_number')}{doc.get('shown')}")
    others = [
        "<think>It is \\boxed{1} <answer>1</answer> A",
        "",
        "\\boxed{2}",
        "I cannot say \\boxed{",
        "\\boxed{1} <answer>1</answer> B",
    ]
    return chance.choices([right_answer(doc), *others], [45, 15, 10, 10, 10, 10])[0]


def metric(result, task, name, filter_name="strict-match"):
    return result["results"][task][f"{name},{filter_name}"]


# ---- what is reported and saved


@each_row("metrics")
def test_every_metric_and_everything_about_each_example_is_saved(task, names, tmp_path):
    """The table has some of the metrics."""
    save_run(tmp_path, mixed, tasks=task, metadata={})
    result, saved, docs = saved_results(tmp_path), saved_samples(tmp_path, task), documents_of(task)
    keys = [key for key in result["results"][task] if "," in key]
    reported = {key.split(",")[0].removesuffix("_stderr") for key in keys}
    assert OF_ENDS | {*names} <= reported
    assert {metric(result, task, name) for name in OF_ENDS} == {"N/A"}  # a scripted model has none
    assert reported <= result["higher_is_better"][task].keys()
    assert result["n-samples"][task] == dict.fromkeys(("original", "effective"), len(docs))
    for filter_name in FILTERS:
        chosen = [sample for sample in saved if sample["filter"] == filter_name]
        scores = [sample["acc"] for sample in chosen]
        assert metric(result, task, "acc", filter_name) == pytest.approx(fmean(scores))
        if task == "medhallu":  # two examples of each row
            scores = [fmean(pair) for pair in zip(scores[::2], scores[1::2], strict=True)]
        assert metric(result, task, "acc_stderr", filter_name) == pytest.approx(scipy.stats.sem(scores))
        for place, (sample, doc) in enumerate(zip(chosen, docs, strict=True)):
            assert shown(sample["doc"]) == doc and {*sample["metrics"]} == reported <= sample.keys()
            target = doc.get("answer_letter", doc.get("ground_truth", sample["target"]))
            known = {"doc_id": place, "resps": [[mixed(doc)]], "ended": ["unknown"], "tokens": [None], "target": target}
            assert sample.items() >= known.items()
            arguments = sample["arguments"]["gen_args_0"]
            assert json.loads(arguments["arg_0"])[-1]["role"] == "user"
            assert arguments["arg_1"]["do_sample"] is False
            (answer,) = sample["filtered_resps"]
            assert (answer == UNANSWERED) == (sample["answered"] == 0) and (sample["acc"] == 0 or sample["answered"])


def test_only_characters_that_no_file_can_hold_are_replaced(tmp_path):
    nasty = ["\ud800 lone", "end\ud800", "\ud83d\ude00 pair", "\x00\x07\x1b[31m", "\ufeffbom", "\u2028\r"]
    answers = iter(nasty * 10)
    save_run(tmp_path, lambda doc: next(answers) + " \\boxed{A}", tasks="medmcqa_openmed")
    saved = saved_samples(tmp_path, "medmcqa_openmed")
    replies = [sample["resps"][0][0].removesuffix(" \\boxed{A}") for sample in saved[: len(nasty)]]
    assert replies == ["\ufffd lone", "end\ufffd", "😀 pair", *nasty[3:]]
    assert {sample["filtered_resps"][0] for sample in saved} == {"A"}


@each_row("evaluations")
def test_what_a_run_makes_of_replies_is_what_its_row_says(name, task, server, replies, settings, facts, caplog):
    """Replies come in turn, and begin anew; RIGHT is a right answer, and numbers are log-likelihoods, also by letter.

    They are those of a server if its arguments are given. Facts are what stands at places of the result or the error,
    the requests and the log.
    """
    left = cycle(replies)

    def answer(doc):
        reply = next(left)
        if isinstance(reply, dict):
            return reply[doc["continuation"][-1]]
        return reply.replace("RIGHT", right_answer(doc)) if isinstance(reply, str) else reply

    with LocalServer(lambda request: as_answer(next(left))) as served:
        model = Scripted(answer) if server is None else model_of(served, num_concurrent=1, **server)
        try:
            known = evaluate(task, model, **settings)
        except MedtasksError as error:
            known = {"error": str(error)}
    known |= {"requests": served.requests, "logged": caplog.text}
    for place, expected in facts:
        assert at(place, expected, known) == expected


# ---- selection


def test_a_limit_of_medexqa_all_takes_from_all_specialties():
    docs = documents_of("medexqa_all")
    parts = {name: [doc for doc in docs if doc["specialty"] == name] for name in {doc["specialty"] for doc in docs}}
    assert {doc["specialty"] for doc in docs[:5]} == parts.keys()
    for name, part in parts.items():
        alone = documents_of(f"medexqa_{name}")
        assert [doc["id"] for doc in part] == [doc["id"] for doc in alone]


def test_predict_only_saves_the_samples_and_scores_nothing(monkeypatch):
    for benchmark in benchmarks().values():
        for method in ("scores", "batch_scorer"):
            monkeypatch.setattr(benchmark, method, Mock(side_effect=AssertionError("scored")))
    for task in ("medhallu", "medexqa_clinical_psychology_logits"):
        result = evaluate(
            task, lambda doc: ord(doc["continuation"][-1]) if "continuation" in doc else mixed(doc), predict_only=True
        )
        assert {key.split(",")[0] for key in result["results"][task] if "," in key} <= {"bypass", "bypass_stderr"}
        logged, docs = result["samples"][task], documents_of(task)
        assert [shown(sample["doc"]) for sample in logged][: len(docs)] == docs


# ---- caches


def asked(task, metadata=None, **settings):
    model = Scripted()
    evaluate(task, model, metadata=metadata, **settings)
    return model.prompts, model.generation_kwargs


def test_cached_requests_are_those_of_the_same_run_only(tmp_path, monkeypatch):
    monkeypatch.setattr("lm_eval.caching.cache.PATH", str(tmp_path))
    variations = table("request_caches")
    fresh = [asked(task, metadata, **settings) for task, metadata, settings in variations]
    for _ in range(2):  # once filling the cache, once reading it
        for (task, metadata, settings), expected in zip(variations, fresh, strict=True):
            assert asked(task, metadata, cache_requests=True, **settings) == expected, (task, metadata, settings)
    assert len(list(tmp_path.iterdir())) >= len(variations) - 2  # a limit is cut from the whole
    monkeypatch.setattr(Scripted, "tokenizer_name", "another")
    monkeypatch.setattr(Scripted, "apply_chat_template", lambda *given, **settings: "of another template")
    assert {*asked("medhallu", cache_requests=True)[0]} == {"of another template"}


# ---- groups


def test_groups_are_plain_means_of_their_tasks():
    specialties = manager().load(["medexqa"])["tasks"]
    sizes = {name: list(range(2 + index % 3)) for index, name in enumerate(specialties)}
    repeated: Any = {"samples": sizes, "metadata": {"medexqa": {"repeats": 2}}}
    attempts = random.Random(1)
    for group, some, names, settings in (
        ("medexqa", specialties, ("acc", "answer_accuracy", "answered", "maj@k"), repeated),
        ("medtasks", GENERATION_TASKS, ("acc",), {}),
    ):
        result = evaluate(group, lambda doc: mixed(doc, attempts.random()), **settings)
        members = result["group_subtasks"][group]
        assert {*some} <= {*members}
        for filter_name in FILTERS:
            for name in names:
                values = [metric(result, member, name, filter_name) for member in members]
                errors = [metric(result, member, f"{name}_stderr", filter_name) for member in members]
                assert metric(result, group, name, filter_name) == pytest.approx(sum(values) / len(members))
                assert metric(result, group, f"{name}_stderr", filter_name) == pytest.approx(
                    math.hypot(*errors) / len(members)
                )


# ---- several processes


def test_scores_reach_other_processes_with_what_aggregations_need():
    again = pickle.loads(pickle.dumps(ExampleScore([1.0, None, 0.5], "a", "b")))
    assert (again, again.scores, again.cluster, again.stratum) == (0.75, (1.0, None, 0.5), "a", "b")
    assert math.isnan(ExampleScore([None]))


def test_responses_that_pad_a_rank_are_dropped():
    """Under several processes the harness repeats a rank's last request until all ranks have as many."""
    for repeats in (1, 2):
        task = load("medhallu", medhallu={"repeats": repeats})
        task.build_all_requests(limit=4)
        for instance in task.instances:
            instance.resps = [f"\\boxed{{{instance.doc['target']}}}"]
        task.instances[-1].resps += ["\\boxed{2}"] * 3
        task.apply_filters()
        assert [len(instance.resps) for instance in task.instances] == [1] * 4 * repeats
        for instance in task.instances:
            scores = task.process_results(instance.doc, [instance.filtered_resps["strict-match"]] * repeats)
            assert (scores["acc"], scores["unsure_rate"]) == (1, 0)
