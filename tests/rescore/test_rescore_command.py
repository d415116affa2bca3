"""``medtasks rescore`` as users start it: over a real run's samples, a local judge, faults and kills."""

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from commanding import one_line
from given import Row, csv_rows, error_line
from judge_server import JudgeServer, sound
from local_server import Fault
from running import saved_samples
from saved_runs import save_run
from scripts import whole

from medtasks_utils.__main__ import main
from medtasks_utils.errors import MedtasksError
from medtasks_utils.rescore import find_responses

TASK = "medexqa_clinical_psychology"
RATES = ("support", "coverage")


def explained(doc: Row) -> str:
    """A right answer to the first two questions of a specialty, a wrong one to the others; every text is another."""
    number = int(doc["id"].rsplit("/", 1)[1])
    letter = "ABCD"[(doc["answer_idx"] + (number > 1)) % 4]
    return f'<think>Say "B", or A?</think>\nThe answer is {letter}.\n\n{doc["id"]} explains, in full.'


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """A run over the five specialties: 24 responses with 10 right answers."""
    return save_run(tmp_path_factory.mktemp("logs"), explained, "medexqa").parent


@pytest.fixture
def server():
    with JudgeServer() as server:
        yield server


@pytest.fixture
def rescore(tmp_path, monkeypatch, server):
    """The command in this process, with a cache and an output of the test's own."""
    monkeypatch.setenv("JUDGE_API_KEY", "key")

    def run(place, judge="geval", *more):
        words = [
            *("--input_glob", str(place / "**" / "samples_*.jsonl"), "--out_csv_prefix", f"{tmp_path}/out/judged_"),
            *("--model", "judge", "--base", server.url, "--cache", str(tmp_path / "cache.sqlite3")),
        ]
        return main(["rescore", "--judge", judge, *words, *more])

    return run


def table(folder: Path, judge: str = "geval") -> list[dict[str, str]]:
    return csv_rows(folder / "out" / f"judged_{judge}.csv")


def with_status(rows: Sequence[dict[str, str]], status: str) -> list[dict[str, str]]:
    return [row for row in rows if row["status"] == status]


# ---- what is written


def test_the_scores_are_those_of_a_run_that_judges_itself(tmp_path, server, rescore, capsys):
    judge = {"use_explanations": True, "use_judge": True, "judge_mode": "factscore", "judge_model": "judge"}
    where = {"use_coverage": True, "judge_base_url": server.url, "judge_cache": str(tmp_path / "cache.sqlite3")}
    save_run(tmp_path / "run", explained, TASK, metadata={"medexqa": {**judge, **where}})
    calls = len(server.judging)
    assert rescore(tmp_path / "run", "factscore", "--use_coverage", "--json") == 0
    assert len(server.judging) == calls, "the run's own cache answers"
    lines = saved_samples(tmp_path / "run", TASK)
    in_run = {line["doc"]["id"]: line["explanation"] for line in lines if line["filter"] == "strict-match"}
    for line in lines:
        rates = [(line["judge"] or dict.fromkeys(RATES, 0.0))[name] for name in RATES]
        assert [line[name] for name in RATES] == rates and line["explanation"] == pytest.approx(sum(rates) / 2)
    assert {row["example"]: float(row["score"]) for row in table(tmp_path, "factscore")} == pytest.approx(in_run)
    (told,) = json.loads(capsys.readouterr().out)["scores"]
    assert told["score"] == pytest.approx(sum(in_run.values()) / 4)
    assert (told["examples"], told["statuses"]) == (4, {"judged": 2, "wrong": 2})
    assert told["few"] and (told["low"], told["high"]) == (None, None)  # four examples are too few for an interval


# ---- going on


def test_both_judges_write_a_table_each_and_a_second_start_makes_no_call(logs, tmp_path, server, rescore, capsys):
    assert rescore(logs, "both") == 0
    first = ["run_file", "specialty", "question", "A", "B", "C", "D", "answer", "completion"]
    theirs = {
        "geval": ["judge_model_output", "judge_score"],
        "factscore": ["claims_labels_json", "support_rate", "coverage_labels_json", "coverage_rate", "final_score"],
    }
    before = {judge: table(tmp_path, judge) for judge in theirs}
    for judge, own in theirs.items():
        names = [*first, *own, "references", "error"]
        assert list(before[judge][0])[: len(names)] == names and len(before[judge]) == 24
    for row in before["geval"]:
        assert row["given"] == row["answer"] if row["status"] == "judged" else row["score"] == "0.0"
        assert row["completion"].endswith(f"{row['example']} explains, in full.") and "<think>" in row["completion"]
        assert row["references"].count("\n") == 1 and row["A"] and row["run_file"].startswith(str(logs))
    judged = with_status(before["geval"], "judged")
    assert (len(judged), len(with_status(before["geval"], "wrong"))) == (10, 14)
    for row in judged:
        output = json.loads(row["judge_model_output"])
        assert output["final_score"] == float(row["score"]) == pytest.approx(100 * float(row["judge_score"]))
        prompts = [whole(request["messages"]) for request in server.judging]
        (request,) = [text for text in prompts if "final_score" in text and row["question"] in text]
        assert "<think>" not in request
    assert {row["coverage_rate"] for row in before["factscore"]} == {""}
    shown, calls = capsys.readouterr().out, len(server.requests)
    (tmp_path / "out" / "judged_geval.csv").unlink()
    server.answer = lambda request: Fault(500)
    assert rescore(logs, "both") == 0
    assert len(server.requests) == calls and capsys.readouterr().out == shown
    for judge, rows in before.items():
        assert table(tmp_path, judge) == rows


def test_failures_are_recorded_left_out_of_the_mean_and_tried_again(logs, tmp_path, server, rescore, capsys):
    def prose_for_some(request):
        return "Splendid, 95 points." if "clinical_psychology/test/0" in whole(request["messages"]) else sound(request)

    server.answer = prose_for_some
    assert rescore(logs, "both") == 0
    for judge in ("geval", "factscore"):
        (failed,) = with_status(table(tmp_path, judge), "failed")
        assert failed["example"] == "clinical_psychology/test/0" and failed["error"]
        assert (failed["score"], failed["failure"]) == ("", "unreadable")
    captured = capsys.readouterr()
    assert "clinical_psychology/test/0" in captured.err
    head, first, *_ = captured.out.split("\n")
    assert head.split() == ["score", "stderr", "examples", "judged", "wrong", "failed", "skipped"]
    assert first.split()[-5:] == ["24", "9", "14", "1", "0"]
    calls, server.answer = len(server.judging), sound
    assert rescore(logs) == 0 and len(server.judging) == calls + 1
    assert with_status(table(tmp_path), "failed") == []


# ---- bad input


def test_bad_input_is_one_clear_line_before_anything_is_judged(logs, server, rescore, capsys):
    for flag, value, message in (
        ("--input_glob", "/nowhere/samples_*.jsonl", "no file matches --input_glob"),
        ("--out_csv_prefix", "/dev/null/x_", "cannot be written"),
        ("--key_var", "NO_SUCH_VARIABLE", "no variable of the given name is set"),
    ):
        assert rescore(logs, "geval", flag, value) == 1
        assert message in one_line(capsys.readouterr().err)
    assert server.judging == []


def test_samples_without_explanations_are_named_and_judging_nothing_fails(logs, tmp_path, rescore, capsys):
    save_run(tmp_path / "other", lambda doc: "A", "medmcqa_openmed")
    folder = error_line(MedtasksError, find_responses, [str(tmp_path)], "strict-match")
    assert rescore(tmp_path) == 1
    for error in (folder, one_line(capsys.readouterr().err)):
        assert "(tasks: medmcqa_openmed)" in error and error.count(str(tmp_path)) == 1
    for log in shutil.copytree(logs, tmp_path / "bare").glob("samples_*.jsonl"):
        log.write_text(re.sub(r'("explanation_[12]": )"(\\.|[^"\\])*"', r'\1""', log.read_text()))
    assert rescore(tmp_path / "bare") == 1
    assert len(with_status(table(tmp_path), "skipped")) == 24


# ---- which responses are found


def test_each_generation_is_a_response_with_its_own_answer(tmp_path):
    calls = iter(range(1000))

    def sometimes(doc):
        return f"The answer is {'ABCD'[next(calls) % 4]}."

    save_run(tmp_path, sometimes, "medexqa_be", metadata={"medexqa": {"repeats": 4}})
    found = find_responses([str(tmp_path)], "strict-match").found
    assert [response.generation for response in found] == [0, 1, 2, 3] * 4
    assert all(response.text == f"The answer is {response.given}." for response in found)
    assert [response.example for response in found if response.needs_judge] == [one.example for one in found[::4]]


def test_samples_of_other_tasks_are_left_out_and_said(tmp_path):
    save_run(
        tmp_path,
        lambda doc: "The answer is A." if "continuation" not in doc else -1.0,
        ["medexqa_be", "medexqa_biomedical_engineering_logits", "medmcqa_openmed"],
    )
    responses = find_responses([str(tmp_path / "*" / "*.jsonl")], "strict-match")
    assert {response.task for response in responses.found} == {"medexqa_biomedical_engineering"}
    other, logits = sorted(responses.problems, key=lambda problem: "logits" in problem)
    assert "samples of medmcqa_openmed are left out, since they have no explanations to judge" in other
    assert "no answers of the filter strict-match" in logits and "log-likelihoods" in logits


def test_sleep_ms_is_the_pause_after_each_call(logs, rescore, monkeypatch, capsys):
    def told(found, judges, settings, *more):
        raise MedtasksError(f"pause {settings.pause:g} s, {settings.max_retries} retries")

    monkeypatch.setattr("medtasks_utils.rescore.rescore", told)
    assert rescore(logs, "geval", "--sleep_ms", "250", "--max_retries", "3") == 1
    assert "pause 0.25 s, 3 retries" in one_line(capsys.readouterr().err)
