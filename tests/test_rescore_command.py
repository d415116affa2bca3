"""``medtasks rescore`` as users start it: over a real run's samples, a local judge, faults and kills."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import clean_environment
from judge_server import Fault, JudgeServer, sound, whole
from local_server import Held
from rescore_logs import explained, run_harness, sample, write_log

from medtasks_utils.__main__ import main
from medtasks_utils.rescore.run import JudgedRow

CANARY = "sk-canary-0123456789abcdef"
WORTH = {"FULLY_SUPPORTED": 100.0, "PARTIALLY_SUPPORTED": 50.0, "NOT_SUPPORTED": 0.0}


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run over the five specialties: 20 responses with 10 right answers."""
    return run_harness(tmp_path_factory.mktemp("logs"), ["medexqa"], explained)


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer() as server:
        yield server


Command = Callable[..., int]


@pytest.fixture
def rescore(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: JudgeServer) -> Command:
    """The command in this process, with a cache and an output of the test's own."""
    monkeypatch.setenv("JUDGE_API_KEY", CANARY)

    def run(place: Path, judge: str = "geval", *more: str) -> int:
        return main(["rescore", "--judge", judge, *arguments(place, tmp_path, server), *more])

    return run


def arguments(place: Path, folder: Path, server: JudgeServer) -> list[str]:
    return [
        *("--input_glob", str(place / "**" / "samples_*.jsonl"), "--out_csv_prefix", str(folder / "out" / "judged_")),
        *("--model", "judge", "--base", server.url, "--cache", str(folder / "cache.sqlite3")),
    ]


def table(folder: Path, judge: str = "geval") -> list[JudgedRow]:
    with (folder / "out" / f"judged_{judge}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def with_status(rows: Sequence[JudgedRow], status: str) -> list[JudgedRow]:
    return [row for row in rows if row["status"] == status]


# ---- what is written


def test_geval_writes_a_row_for_each_response_with_all_that_the_judge_said(
    logs: Path, tmp_path: Path, server: JudgeServer, rescore: Command
) -> None:
    assert rescore(logs) == 0
    rows = table(tmp_path)
    assert Counter(row["status"] for row in rows) == {"judged": 10, "wrong": 10}
    assert len(server.judging) == 10, "a wrong answer costs no call"
    for row in rows:
        assert row["given"] == row["answer"] if row["status"] == "judged" else row["score"] == "0.0"
        assert row["completion"].endswith(f"{row['example']} explains, in full.") and "<think>" in row["completion"]
        assert row["references"].count("\n") == 1 and row["A"] and row["run_file"].startswith(str(logs))
    for row in with_status(rows, "judged"):
        output = json.loads(row["judge_model_output"])
        assert output["final_score"] == float(row["score"])
        assert float(row["judge_score"]) == pytest.approx(float(row["score"]) / 100)
        (request,) = [each for each in server.judging if row["question"] in whole(each["messages"])]
        assert json.loads(str(sound(request))) == output
        assert "<think>" not in whole(request["messages"])
        assert (row["calls"], row["prompt_tokens"], row["completion_tokens"]) == ("1", "7", "3")


@pytest.mark.parametrize("coverage", [False, True])
def test_factscore_writes_claims_with_labels_and_rates(
    coverage: bool, logs: Path, tmp_path: Path, server: JudgeServer, rescore: Command
) -> None:
    assert rescore(logs, "factscore", *(["--use_coverage"] if coverage else [])) == 0
    judged = with_status(table(tmp_path, "factscore"), "judged")
    assert len(judged) == 10
    assert len(server.judging) == 10 * (21 if coverage else 7)
    for row in judged:
        said = json.loads(row["claims_labels_json"])
        rates = []
        for prefix, rate in (("", "support"), ("reference_", "coverage")):
            labels = said.get(f"{prefix}labels", [])
            assert len(labels) == (12 * coverage if prefix else 6)
            if labels:
                rates.append(sum(WORTH[label] for label in labels) / len(labels))
            assert row[f"{rate}_rate"] == ("" if not labels else str(rates[-1] / 100))
        assert float(row["score"]) == pytest.approx(sum(rates) / len(rates))


@pytest.mark.parametrize(("mode", "judge"), [("g-eval", "geval"), ("factscore", "factscore")])
def test_the_scores_are_those_of_a_run_that_judges_itself(
    mode: str, judge: str, tmp_path: Path, server: JudgeServer, rescore: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = {"judge_model": "judge", "judge_base_url": server.url, "judge_cache": str(tmp_path / "cache.sqlite3")}
    tasks = ["medexqa_clinical_psychology"]
    logs = run_harness(
        tmp_path / "run", tasks, explained, use_explanations=True, use_judge=True, judge_mode=mode, **settings
    )
    calls = len(server.judging)
    assert calls == (2 if judge == "geval" else 14)
    assert rescore(logs, judge) == 0
    assert len(server.judging) == calls, "the run's own cache answers"
    (path,) = logs.glob("samples_*.jsonl")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    in_run = {line["doc"]["id"]: line["explanation"] for line in lines if line["filter"] == "strict-match"}
    assert {row["example"]: float(row["score"]) for row in table(tmp_path, judge)} == pytest.approx(in_run)
    assert f"{sum(in_run.values()) / 4:.2f}" in capsys.readouterr().out


# ---- going on


def test_both_judges_write_a_table_each_and_a_second_start_makes_no_call(
    logs: Path,
    tmp_path: Path,
    server: JudgeServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("JUDGE_API_KEY", CANARY)
    command = ["rescore", *arguments(logs, tmp_path, server)]
    assert main(command) == 0, "both is the default"
    first = ["run_file", "specialty", "question", "A", "B", "C", "D", "answer", "completion"]
    theirs = {
        "geval": ["judge_model_output", "judge_score"],
        "factscore": ["claims_labels_json", "support_rate", "coverage_labels_json", "coverage_rate", "final_score"],
    }
    before = {judge: table(tmp_path, judge) for judge in theirs}
    for judge, own in theirs.items():
        names = [*first, *own, "references", "error"]
        assert list(before[judge][0])[: len(names)] == names and len(before[judge]) == 20
    shown, calls = capsys.readouterr().out, len(server.requests)
    (tmp_path / "out" / "judged_geval.csv").unlink()
    server.answer = lambda request: Fault(500)
    assert main(command) == 0
    assert len(server.requests) == calls and capsys.readouterr().out == shown
    assert {judge: without_cost(table(tmp_path, judge)) for judge in theirs} == {
        judge: without_cost(rows) for judge, rows in before.items()
    }


def test_the_summary_is_of_the_table(
    logs: Path, tmp_path: Path, rescore: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    rescore(logs, "geval", "--json")
    scores = [float(row["score"]) for row in table(tmp_path)]
    (told,) = json.loads(capsys.readouterr().out)["scores"]
    assert told["score"] == pytest.approx(sum(scores) / 20) and told["low"] < told["score"] < told["high"]
    assert (told["examples"], told["statuses"]) == (20, {"judged": 10, "wrong": 10})


def without_cost(rows: Sequence[JudgedRow]) -> list[JudgedRow]:
    return [{name: cell for name, cell in row.items() if name != "calls"} for row in rows]


def test_the_same_response_under_two_tasks_is_judged_once(
    tmp_path: Path, server: JudgeServer, rescore: Command
) -> None:
    for task in ("medexqa_clinical_psychology", "medexqa_all"):
        write_log(tmp_path / "logs", [sample(0), sample(1)], task=task)
    rescore(tmp_path / "logs")
    assert len(server.judging) == 2
    assert len(with_status(table(tmp_path), "judged")) == 4
    assert sum(int(row["calls"]) for row in table(tmp_path)) == 2


def test_failures_are_recorded_left_out_of_the_mean_and_tried_again(
    logs: Path, tmp_path: Path, server: JudgeServer, rescore: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    def prose_for_some(request: dict[str, Any]) -> Any:
        return "Splendid, 95 points." if "clinical_psychology/test/0" in whole(request["messages"]) else sound(request)

    server.answer = prose_for_some
    assert rescore(logs, "both") == 0
    for judge in ("geval", "factscore"):
        (failed,) = with_status(table(tmp_path, judge), "failed")
        assert (failed["example"], failed["score"], failed["failure"]) == (
            "clinical_psychology/test/0",
            "",
            "unreadable",
        )
        assert failed["error"]
    captured = capsys.readouterr()
    assert captured.err.count("failed: ") >= 2 and "clinical_psychology/test/0" in captured.err
    assert captured.out.split("\n")[1].split()[-4:] == ["9", "10", "1", "0"]

    kept = without_cost(with_status(table(tmp_path), "judged"))
    server.answer = sound
    calls = len(server.judging)
    assert rescore(logs) == 0
    assert len(server.judging) == calls + 1
    rows = table(tmp_path)
    assert Counter(row["status"] for row in rows) == {"judged": 10, "wrong": 10}
    assert [row for row in without_cost(rows) if row in kept] == kept
    server.answer = lambda request: sound(request) if '"ready"' in whole(request["messages"]) else "No."
    assert rescore(logs, "geval", "--cache", str(tmp_path / "other.sqlite3")) == 1, "nothing could be judged"
    assert Counter(row["status"] for row in table(tmp_path)) == {"failed": 10, "wrong": 10}


def test_examples_without_references_are_skipped_and_counted(
    tmp_path: Path, server: JudgeServer, rescore: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    blank = {"explanation_1": "", "explanation_2": " "}
    write_log(tmp_path / "logs", [sample(0, **blank), sample(1, **blank, filtered_resps=["C"])])
    assert rescore(tmp_path / "logs", "both") == 0
    assert server.requests == []
    for judge in ("geval", "factscore"):
        for row in table(tmp_path, judge):
            assert (row["status"], row["score"], row["error"]) == (
                "skipped", "", "no reference explanation to judge by",
            )  # fmt: skip
    assert capsys.readouterr().out.split("\n")[1].split()[-7:] == ["–", "–", "0", "0", "0", "0", "2"]


# ---- kills


@pytest.mark.slow
@pytest.mark.parametrize(("end", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, 130)])
def test_after_a_kill_no_answered_call_is_made_twice(
    end: signal.Signals, code: int, tmp_path: Path, server: JudgeServer
) -> None:
    write_log(tmp_path / "logs", [sample(number) for number in range(120)])
    command = [sys.executable, "-m", "medtasks_utils.__main__", "rescore", "--judge", "geval", "--concurrency", "8"]
    command += arguments(tmp_path / "logs", tmp_path, server)
    environment = clean_environment({"JUDGE_API_KEY": CANARY})
    server.answer = held = Held(60, sound)
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    assert held.reached.wait(300)
    process.send_signal(end)
    errors = process.communicate()[1]
    held.release.set()
    assert process.returncode == code and "Traceback" not in errors
    assert end == signal.SIGKILL or "goes on from there" in errors
    subprocess.run(command, env=environment, check=True)
    rows = table(tmp_path)
    assert len(rows) == len({row["example"] for row in rows}) == len(with_status(rows, "judged")) == 120
    assert len(server.judging) <= 120 + 8, "but for those in flight, no call is made twice"


# ---- the key


def test_the_key_is_sent_and_written_nowhere(
    logs: Path, tmp_path: Path, server: JudgeServer, rescore: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    def echo(request: dict[str, Any]) -> Any:
        text = whole(request["messages"])
        if "occupational_therapy/test/0" in text:
            return Fault(400, {"error": {"message": f"bad request with Authorization: Bearer {CANARY}"}})
        if "occupational_therapy/test/1" in text:
            return f"You sent {CANARY}."
        return sound(request)

    server.answer = echo
    assert rescore(logs, "both", "--verbose", "--max_retries", "0") == 0
    assert {headers["authorization"] for headers in server.headers} == {f"Bearer {CANARY}"}
    captured = capsys.readouterr()
    assert "http_400" in captured.err and "judged: " in captured.err
    for path in [path for path in tmp_path.rglob("*") if path.is_file()]:
        assert CANARY.encode() not in path.read_bytes(), path
    assert CANARY not in captured.out + captured.err


# ---- bad input


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["--judge", "gpt"], "'gpt'"),
        (["--concurrency", "many"], "'many'"),
        (["--input_glob", "/nowhere/samples_*.jsonl"], "no file matches --input_glob"),
        (["--out_csv_prefix", "/dev/null/x_"], "cannot be written"),
        (["--base", "localhost:8000"], "must look like http://localhost:8000/v1"),
        (["--base", "http://127.0.0.1:9/v1"], "cannot be used"),
        (["--key_var", "NO_SUCH_VARIABLE"], "no variable of the given name is set"),
    ],
)
def test_bad_input_is_one_clear_line_before_anything_is_judged(
    changes: list[str],
    message: str,
    logs: Path,
    server: JudgeServer,
    rescore: Command,
    capsys: pytest.CaptureFixture[str],
) -> None:
    code: str | int | None
    try:
        code = rescore(logs, "geval", "--max_retries", "0", *changes)
    except SystemExit as error:
        code = error.code
    assert code in (1, 2)
    assert message in capsys.readouterr().err.strip().split("\n")[-1]
    assert server.judging == []
