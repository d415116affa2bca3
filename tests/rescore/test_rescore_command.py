"""``medtasks rescore`` on samples of a real run, with a local judge, faults and kills."""

import json
import re
import shutil
from collections import Counter

import pytest
from commanding import exit_code, one_line
from given import csv_rows, each_row, write_rows
from given import table as rows_of
from judge_server import JudgeServer, sound
from local_server import Fault
from places import as_its_row_says
from running import documents_of, right_answer, saved_samples
from saved_runs import edit_files, edit_lines, in_order, sample_file, save_run
from scripts import whole

from medtasks_utils.judging import make_judge
from medtasks_utils.rescore import find_responses

TASK = "medexqa_clinical_psychology"

test_a_function_of_rescore_returns_what_its_row_says = as_its_row_says("functions_of_rescore")


def explained(doc):
    """Return a right answer to a specialty's first two questions, else a wrong one; each text is different."""
    number = int(doc["id"].rsplit("/", 1)[1])
    letter = "ABCD"[(doc["answer_idx"] + (number > 1)) % 4]
    return f'<think>Say "B", or A?</think>\nThe answer is {letter}.\n\n{doc["id"]} explains, in full.'


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Save a run on the five specialties, and on all as one task: 24 responses with 10 right answers in each."""
    return save_run(tmp_path_factory.mktemp("logs"), explained, ["medexqa", "medexqa_all"]).parent


@pytest.fixture
def run(logs, tmp_path):
    """A copy of it in the test's folder, to edit."""
    return shutil.copytree(logs, tmp_path, dirs_exist_ok=True)


@pytest.fixture
def server():
    with JudgeServer() as server:
        yield server


@pytest.fixture
def rescore(tmp_path, monkeypatch, server):
    """Run the command in this process, with the test's own cache and output."""
    monkeypatch.setenv("JUDGE_API_KEY", "key")

    def run(place, judge="geval", *more):
        words = [
            *("--input_glob", place / "**" / "samples_*.jsonl", "--out_csv_prefix", f"{tmp_path}/out/judged_"),
            *("--model", "judge", "--base", server.url, "--cache", tmp_path / "cache.sqlite3"),
        ]
        return exit_code(["rescore", "--judge", judge, *words, *more])

    return run


def table(folder, judge="geval"):
    return csv_rows(folder / "out" / f"judged_{judge}.csv")


def without_references(lines):
    return [re.sub(rb'("explanation_[12]": )"(\\.|[^"\\])*"', rb'\1""', line) for line in lines]


def with_status(rows, status):
    return [row for row in rows if row["status"] == status]


# ---- what is written


def test_the_scores_are_those_of_a_run_that_judges_itself(tmp_path, server, rescore, capsys):
    judge = {"use_explanations": True, "use_judge": True, "judge_mode": "factscore", "use_coverage": True}
    asked = {"judge_model": "judge", "judge_base_url": server.url, "judge_cache": f"{tmp_path}/cache.sqlite3"}
    save_run(tmp_path / "run", explained, TASK, metadata={"medexqa": {**judge, **asked}})
    calls = len(server.judging)
    assert rescore(tmp_path / "run", "factscore", "--use_coverage", "--json") == 0
    assert len(server.judging) == calls, "the run's own cache answers"
    lines = saved_samples(tmp_path / "run", TASK)[:4]
    for line, row in zip(lines, table(tmp_path, "factscore"), strict=True):
        output = line["judge"] or {}
        shares = [str(line[name] / 100) if output else "" for name in ("support", "coverage")]
        assert [row["support_rate"], row["coverage_rate"]] == shares
        assert row["final_score"] == str(line["explanation"] / 100)
        assert float(row["score"]) == pytest.approx((line["support"] + line["coverage"]) / 2)
        assert json.loads(row["coverage_labels_json"]) == output.get("reference_labels", [])
        labels = {name: value for name, value in output.items() if name not in ("score", "failure", "error")}
        assert json.loads(row["claims_labels_json"]) == labels
    (shown,) = json.loads(capsys.readouterr().out)["scores"]
    few = {"examples": 4, "statuses": {"judged": 2, "wrong": 2}, "few": True, "low": None, "high": None}
    assert shown.items() >= few.items(), "four examples are too few for an interval"
    assert shown["score"] == pytest.approx(sum(line["explanation"] for line in lines) / 4)


def test_each_response_has_its_row_its_line_and_its_count(tmp_path, server, rescore, capsys):
    """Two models judge two responses to each of three questions, of which the last has no reference.

    The table has the scores that each model gives an explanation, what is printed, and the rows.
    """
    scores, errors, out, *expected = rows_of("whole_rescore")
    texts = iter(row["completion"] for row in expected)
    options = {"medexqa": {"repeats": 2}}
    results = save_run(tmp_path / "run", lambda doc: next(texts), TASK, metadata=options, limit=3)
    log = sample_file(results, TASK)
    edit_lines(log, lambda lines: [*lines[:2], *without_references(lines[2:])])

    def answer(request):
        model, prompt = request["model"], whole(request["messages"])
        score = next((by[model] for text, by in scores.items() if text in prompt), 0)
        return "Prose." if score is None else json.dumps({"final_score": score, "by": model})

    server.answer = answer
    name = f"org/model {results.stem.removeprefix('results_')}"
    for words in ([], ["--verbose"]):
        assert rescore(tmp_path / "run", "geval", "--model", "a,b", *words) == 0
        printed = capsys.readouterr()
        said = [line.replace(name, "RUN") for line in printed.err.split("\n") if line[:6] in ("judged", "failed")]
        assert said == [line for line in errors if words or line[0] == "f"]
    found, docs = table(tmp_path), documents_of(TASK)
    shown = printed.out.replace(name, "RUN").replace(str(tmp_path), "FOLDER")
    assert [" ".join(line.split()) for line in shown.split("\n") if line] == out
    judge = f"{make_judge('g-eval').signature}|model:a+b"
    of_all = {"run_file": str(log), "run": name, "task": TASK, "model": "a,b", "judge": judge}
    for row, values in zip(found, expected, strict=True):
        doc = docs[int(values["example"][-1])]
        references = "" if doc is docs[2] else f"{doc['explanation_1']}\n{doc['explanation_2']}"
        about = {"specialty": "clinical_psychology", "question": doc["question"], "references": references}
        row["judge_model_output"] = json.loads(row["judge_model_output"])
        assert row == {**of_all, **about, **dict(zip("ABCD", doc["options"], strict=True)), **values}


# ---- going on


def test_both_judges_write_a_table_each_and_a_second_start_asks_for_what_failed(
    logs, tmp_path, server, rescore, capsys
):
    server.answer = lambda request: "Splendid."
    assert rescore(logs, "both") == 1
    capsys.readouterr()
    server.answer = lambda request: (
        "Splendid, 95 points." if "clinical_psychology/test/0" in whole(request["messages"]) else sound(request)
    )
    assert rescore(logs, "both", "--json") == 0
    for judge, columns in rows_of("judge_columns"):
        rows = table(tmp_path, judge)
        assert [*rows[0]] == columns and len(rows) == 48
        failed, again = with_status(rows, "failed")
        assert failed["example"] == again["example"] == "clinical_psychology/test/0", "of two tasks"
        assert {row["coverage_rate"] for row in rows if "coverage_rate" in row} <= {""}
    judged = [float(row["score"]) for row in with_status(table(tmp_path), "judged")]
    for score in json.loads(capsys.readouterr().out)["scores"]:
        assert score["low"] < score["score"] < score["high"]
        assert (score["examples"], score["statuses"]) == (48, {"judged": 18, "failed": 2, "wrong": 28})
        assert score["judge"] != "g-eval" or score["score"] == pytest.approx(sum(judged) / 18 * 20 / 48)
    calls, server.answer = len(server.judging), sound
    assert rescore(logs) == 0 and len(server.judging) == calls + 1
    assert with_status(table(tmp_path), "failed") == []


# ---- bad input


@each_row("refused_by_rescore")
def test_bad_input_is_one_clear_line_before_anything_is_judged(name, edits, flags, ends, run, server, rescore, capsys):
    """The table is then the one that was there, or says why nothing was judged."""
    code, says, statuses = ends
    edit_files(run, edits)
    write_rows([{"status": "earlier", "error": "no reference"}], run / "out" / "judged_geval.csv")
    server.answer = lambda request: Fault(404)
    assert rescore(run, "geval", *flags) == code
    said = capsys.readouterr()
    assert says in (said.out or one_line(said.err)) and server.judging == []
    rows = table(run)
    assert Counter(row["status"] for row in rows) == statuses and all("no reference" in row["error"] for row in rows)


def test_wrong_answers_and_none_to_judge_in_two_runs_of_a_model_are_no_failure(tmp_path, rescore, capsys):
    for name in "ab":
        log = sample_file(save_run(tmp_path / name, lambda doc: "", TASK, limit=1), TASK)
    edit_lines(log, lambda lines: [*without_references(lines), b"{"])
    assert rescore(tmp_path) == 0
    captured = capsys.readouterr()
    assert rescore(tmp_path / "a", "geval", "--model", "a,b") == 0
    assert "skipped: " not in capsys.readouterr().out
    assert [row["judge"].rpartition("|")[2] for row in table(tmp_path)] == ["model:a+b"]
    assert f"warning: {log.name}" in captured.err
    _, *rows = captured.out.splitlines()[:3]
    assert [row.split()[-7:] for row in rows] == [["0.00", *"–10100"], ["–", *"–00001"]]


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
    (log,) = tmp_path.rglob("samples_*")
    before, all_d = rb'"filtered_resps": \[[^]]*\]', b'"filtered_resps": ["D", "D", "D", "D"]'
    edit_lines(log, lambda lines: [re.sub(before, all_d, line) if b"flexible" in line else line for line in lines])
    assert {response.given for response in find_responses([str(tmp_path)], "flexible-extract").found} == {"D"}


def test_the_right_choice_is_judged_at_whatever_letter_it_was_shown(tmp_path):
    orders = ["DCBA", "ABCD"]
    log = sample_file(save_run(tmp_path, right_answer, TASK, metadata={"medexqa": {"repeats": 2}}), TASK)
    edit_lines(log, in_order(*orders))
    found = find_responses([str(tmp_path)], "strict-match").found
    assert {response.needs_judge for response in found} == {True}
    docs = documents_of(TASK)
    assert [response.given for response in found] == [order[doc["answer_idx"]] for doc in docs for order in orders]
    options = [[*response.case.options] for response in found]
    assert options == [[doc["options"]["ABCD".index(letter)] for letter in order] for doc in docs for order in orders]


def test_samples_of_other_tasks_are_left_out_and_said(tmp_path):
    def answer(doc):
        return 0.0 if "continuation" in doc else "The answer is A."

    save_run(tmp_path, answer, ["medexqa_be", "medexqa_biomedical_engineering_logits", "medmcqa_openmed"])
    responses = find_responses([str(tmp_path / "*" / "*.jsonl")], "strict-match")
    assert {response.task for response in responses.found} == {"medexqa_biomedical_engineering"}
    other, logits = sorted(responses.problems, key=lambda problem: "logits" in problem)
    assert "samples of medmcqa_openmed are left out, since they have no explanations to judge" in other
    assert "no answers of the filter strict-match" in logits and "log-likelihoods" in logits
    assert find_responses([str(tmp_path / "*" / "*engineering_2*.jsonl")], "strict-match").problems == []
