"""Judges in a run of MedExQA: gating, means, failures, samples; what is known before the model runs; the key."""

import json
import re
from pathlib import Path

import pytest
from commanding import exit_code, one_line
from given import error_line
from judge_server import JudgeServer, geval_reply, sound
from judging_cases import no_keys_and_no_waits
from local_server import Fault, LocalServer
from running import Scripted, evaluate, load, samples, saved_results
from scripts import in_turn, refusal, whole

from medtasks_utils.errors import MedtasksError

TASK = "medexqa_clinical_psychology"
SCORES = {f"clinical_psychology/test/{index}": 10 * (index + 1) for index in range(4)}
"""What the judge says of each example."""


__all__ = ["no_keys_and_no_waits"]


def options(server, folder, **more):
    judge = {"judge_model": "judge", "judge_base_url": server.url, "judge_cache": str(folder / "cache.sqlite3")}
    return {"medexqa": {"use_explanations": True, "use_judge": True, "judge_mode": "g-eval", **judge, **more}}


def right(doc):
    return f"<think>C?</think>The answer is {doc['answer_letter']}. Because of {doc['id']}."


def right_or_wrong(doc):
    """Wrong for every other document."""
    wrong = "ABCD"[(doc["answer_idx"] + 1) % 4]
    return right(doc) if int(doc["id"][-1]) % 2 else f"<think>{doc['answer_letter']}!</think>The answer is {wrong}."


def by_id(request):
    """G-Eval by the id that the explanation names."""
    text = whole(request["messages"])
    if "final_score" not in text:
        return sound(request)
    (name,) = [name for name in SCORES if f"Because of {name}." in text]
    return json.dumps(geval_reply(SCORES[name]))


# ---- scores


def test_the_judges_score_is_the_explanation_of_a_right_answer_and_a_wrong_one_costs_no_call(tmp_path):
    with JudgeServer(by_id) as server:
        metadata = options(server, tmp_path, mcq_weight=0.25, explanation_weight=0.75)
        result = evaluate(TASK, right_or_wrong, metadata=metadata)
        again = evaluate(TASK, right_or_wrong, metadata=metadata)
        assert len(server.requests) == 2 + 1  # once for both filters, and not for the wrong; and the check
    assert again["results"] == result["results"]
    for filter_name in ("strict-match", "flexible-extract"):
        for sample in samples(result, filter_name):
            score = SCORES[sample["doc"]["id"]] if sample["acc"] else 0.0
            assert sample["explanation"] == score
            assert sample["combined"] == pytest.approx(25 * sample["acc"] + 0.75 * score)
            assert sample["judge_failures"] == 0
            assert "rougeL" not in sample and "support" not in sample
            judgement = {"score": score, "failure": None, "error": None, **geval_reply(score)}
            assert sample["judge"] == (judgement if sample["acc"] else None)
    metadata = result["configs"][TASK]["metadata"]
    assert metadata["scorers"]["g-eval"].endswith("|model:judge")
    assert "|scorers:g-eval#" in metadata["signature"]["strict-match"]
    means = result["results"][TASK]
    assert means["judge_failures,strict-match"] == 0
    assert means["explanation,strict-match"] == pytest.approx((20 + 40) / 4)


def test_calls_in_flight_are_shared_among_processes(tmp_path):
    with JudgeServer() as server:
        task = load(TASK, **options(server, tmp_path, judge_concurrency=6))
        for processes, calls in (1, 6), (3, 2), (9, 1):
            task.build_all_requests(world_size=processes)
            assert task.scorer._settings.concurrency == calls


def test_a_judge_that_judged_nothing_ends_the_run_with_1_after_the_scores_are_saved(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")

    def answer(request):
        return "Prose." if "final_score" in whole(request["messages"]) else sound(request)

    with JudgeServer(answer) as judge, LocalServer(lambda request: "The answer is A. Since it is so.") as server:
        metadata = json.dumps(options(judge, tmp_path))
        assert exit_code([*server.run_of(TASK), "--output_path", tmp_path, "--metadata", metadata]) == 1
    out, errors = capsys.readouterr()
    assert re.search(f"{TASK}: the judge failed on every .* replies kept in .*: 4; run the same", one_line(errors))
    assert "explanation –" in map(str.strip, out.splitlines())
    assert "acc,strict-match" in saved_results(tmp_path)["results"][TASK]


def test_a_judge_without_a_reference_in_any_row_is_an_error_before_the_model_is_asked(data, tmp_path):
    (data / "medexqa/test").mkdir()
    (data / "medexqa/test/clinical_psychologist_test.tsv").write_text("Q\tA\tB\tC\tD\t\t\tA\n")
    model = Scripted(right)
    with JudgeServer(sound) as server, pytest.raises(MedtasksError, match="no example has a reference explanation"):
        evaluate(TASK, model, data, metadata=options(server, tmp_path))
    assert not model.prompts


# ---- before the model runs


def test_a_mistake_about_the_judge_is_an_error_before_the_model_runs(tmp_path):
    no_reply = [Fault(200, "<html></html>")] * 3
    answers = in_turn(refusal(404, "The model `judge` does not exist."), *no_reply, Fault(403))
    model = Scripted(right)
    keyless = {"medexqa": {"use_explanations": True, "use_judge": True, "judge_mode": "g-eval"}}
    with JudgeServer(answers) as server:
        for metadata, match in (
            (options(server, tmp_path), f"judge at {server.url}.*The model `judge` does not exist.*serve this model"),
            (options(server, tmp_path), f"judge at {server.url}.*base URL"),
            (options(server, tmp_path), "on purpose.*JUDGE_API_KEY if set"),
            (keyless, "needs an API key: set JUDGE_API_KEY or OPENAI_API_KEY"),
            (options(server, Path("/proc/none")), "cannot write the judge.s cache"),
        ):
            assert re.search(match, error_line(MedtasksError, evaluate, TASK, model, metadata=metadata))
    assert model.prompts == []
