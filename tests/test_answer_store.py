"""Runs that die, and are typed again: nothing that was answered is asked twice, and the scores are those of one run."""

from __future__ import annotations

import _thread
import json
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import clean_environment
from hypothesis import given
from hypothesis import strategies as st
from local_server import Answer, LocalServer, Request
from scripts import Held, prompt_of, refusal

from medtasks_utils.__main__ import main
from medtasks_utils.harness.answer_store import AnswerStore

MODEL = {"kind": "hf", "pretrained": "a"}
ASKS = {
    "plain": ["--tasks", "medhallu,medmcqa_openmed"],
    "tools": ["--tasks", "medcalc_bench_calculator", "--set", "medcalc_bench.max_turns=4"],
}


def command(served: LocalServer, folder: Path, ask: str, *more: str, connections: int = 4) -> list[str]:
    return [
        *(sys.executable, "-m", "medtasks_utils", "eval", "--data", "sample", "--limit", "12", *ASKS[ask]),
        *served.flags(num_concurrent=connections),
        *("--json", "--output_path", str(folder), "--log_samples", *more),
    ]


def run(words: list[str], capsys: pytest.CaptureFixture[str], code: int = 0) -> tuple[dict[str, Any], str]:
    """The command in this process: what it tells, and its errors."""
    assert main(words[3:]) == code
    told, errors = capsys.readouterr()
    return json.loads(told or "{}"), errors


def interrupted(words: list[str], capsys: pytest.CaptureFixture[str], held: Held) -> str:
    """What a run in this process says that Ctrl-C ends when answers are first held back."""
    held.then = _thread.interrupt_main
    assert main(words[3:]) == 130
    held.release.set()
    out, errors = capsys.readouterr()
    assert out == ""
    return errors


def killed(words: list[str], cwd: Path, held: Held) -> None:
    """Kill a run when answers are first held back."""
    process = subprocess.Popen(words, cwd=cwd, env=clean_environment(), stdout=subprocess.PIPE)
    assert held.reached.wait(300)
    process.kill()
    process.communicate()
    held.release.set()
    assert process.returncode == -signal.SIGKILL


def answer(body: Request) -> str:
    """Two calls of a tool, where there is one, and an answer that differs from prompt to prompt, and seed to seed."""
    turns = sum(message["role"] == "assistant" for message in body["messages"])
    if "calculator" in json.dumps(body["messages"][:2]) and turns < 2:
        return f'<tool_call>{{"name": "calculator", "arguments": {{"expression": "{turns} + 1"}}}}</tool_call>'
    letter = "ABCD"[sum(prompt_of(body).encode()) % 4]
    return f"\\boxed{{{letter}}} <answer>{letter}</answer>"


@pytest.mark.parametrize("ask", ["plain", pytest.param("tools", marks=pytest.mark.slow)])
def test_a_run_that_was_ended_asks_nothing_twice(ask: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with LocalServer(answer) as whole:
        expected, _ = run(command(whole, tmp_path / "whole", ask), capsys)
    with LocalServer(held := Held(7, answer)) as served:
        words = command(served, tmp_path / "killed", ask)
        if ask == "plain":
            assert "run the same command again" in interrupted(words, capsys, held).splitlines()[-2]
        else:
            killed(words, tmp_path, held)
        served.answer = answer
        found, errors = run(words, capsys)
    assert "reusing" in errors and "--fresh" in errors
    assert 0 < found["answers_taken_over"] <= len(whole.answered)
    assert found["scores"] == expected["scores"]
    asked = Counter(map(prompt_of, served.answered))
    assert asked.keys() == Counter(map(prompt_of, whole.answered)).keys()
    # A reply that was under way when the run was killed may have been sent, and never read.
    assert asked.total() - len(whole.answered) <= 2 * 4
    assert not list((tmp_path / "killed").glob("**/answers_*")), "a run that ended is ended"


def test_what_ended_is_asked_anew_and_so_is_what_is_to_be_fresh(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refuses = [True]

    def reply(body: Request) -> Answer:
        return refusal(503, "out of breath") if refuses[0] and len(served.requests) > 10 else answer(body)

    with LocalServer(reply) as served:
        words = command(served, tmp_path, "plain", connections=1)
        _, errors = run(words, capsys, code=1)
        assert re.search(
            r"10 answers are kept in .*to continue where it stopped\n.*error: .*503.*out of breath.*\n$", errors
        )
        assert "Traceback" not in errors
        refuses[0] = False
        fresh, _ = run([*words, "--fresh"], capsys)
        assert fresh["answers_taken_over"] == 0
        before = len(served.requests)
        again, errors = run([*words, "--no_keep"], capsys)
        assert len(served.requests) - before == 24 and "reusing" not in errors
        assert again["scores"] == fresh["scores"]


# ---- the file


@given(st.lists(st.tuples(st.sampled_from("abc"), st.text(max_size=3)), max_size=12), st.integers(0, 12))
def test_equal_requests_have_a_reply_each(tmp_path_factory: pytest.TempPathFactory, replies: Any, cut: int) -> None:
    folder = tmp_path_factory.mktemp("kept")
    first = AnswerStore(folder, MODEL)
    for prompt, reply in replies[:cut]:
        first.put("generate_until", (prompt, {"seed": 1}), reply)
    first.close()
    second = AnswerStore(folder, MODEL)
    assert AnswerStore(folder, {**MODEL, "pretrained": "b"}).take("generate_until", ("a", {"seed": 1})) is None
    assert AnswerStore(folder, MODEL, fresh=True).take("generate_until", ("a", {"seed": 1})) is None
    taken = [(prompt, second.take("generate_until", (prompt, {"seed": 1}))) for prompt, _ in replies]
    assert Counter(pair for pair in taken if pair[1] is not None) == Counter(replies[:cut])
    second.end()
    assert not list(folder.iterdir())


def test_a_line_that_was_cut_short_is_dropped_and_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    kept = AnswerStore(tmp_path, MODEL)
    kept.put("loglikelihood", ("p", " A"), (-1.5, True))
    kept.put("loglikelihood", ("p", " B"), (-2.5, False))
    kept.close()
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-30])
    again = AnswerStore(tmp_path, MODEL)
    assert "a damaged line" in caplog.text
    assert again.take("loglikelihood", ("p", " A")) == (-1.5, True)
    assert again.take("loglikelihood", ("p", " B")) is None
    again.put("loglikelihood", ("p", " B"), (-2.5, False))
    again.close()
    assert AnswerStore(tmp_path, MODEL).take("loglikelihood", ("p", " B")) == (-2.5, False)


def test_two_runs_at_once_write_to_files_of_their_own_and_leave_each_other_s(tmp_path: Path) -> None:
    one, two = AnswerStore(tmp_path, MODEL), AnswerStore(tmp_path, MODEL)
    one.put("generate_until", ("p", {}), "one")
    two.put("generate_until", ("p", {}), "two")
    two.put("generate_until", ("q", {}), "of another task")
    one.end()
    assert AnswerStore(tmp_path, MODEL).take("generate_until", ("p", {})) == "two"
    two.close()
    three = AnswerStore(tmp_path, MODEL)
    three.take("generate_until", ("p", {}))
    three.end()
    assert AnswerStore(tmp_path, MODEL).take("generate_until", ("q", {})) == "of another task"


class InProcess:
    """A model that hands all replies over at once, and tells its hook of requests that nobody made."""

    world_size = 1

    def __init__(self, dies_after: int | None = None) -> None:
        self.batches: list[list[str]] = []
        self.dies_after = dies_after

    def generate_until(self, requests: list[Any]) -> list[str]:
        if self.dies_after is not None and len(self.batches) >= self.dies_after:
            raise KeyboardInterrupt
        self.batches.append([request.args[0] for request in requests])
        return [request.args[0].upper() for request in requests]


def test_a_model_that_replies_at_the_end_is_asked_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("medtasks_utils.harness.answer_store._FIRST_PIECE", 4)
    monkeypatch.setattr("medtasks_utils.harness.answer_store._PIECE_SECONDS", 0.0)
    requests = [SimpleNamespace(args=(f"p{number}", {"until": []})) for number in range(10)]
    first, second = InProcess(dies_after=3), InProcess()
    with pytest.raises(KeyboardInterrupt):
        AnswerStore(tmp_path, MODEL)._answering(first, "generate_until", calls_hook=False)(requests)
    assert sum(map(len, first.batches)) < 10
    replies = AnswerStore(tmp_path, MODEL)._answering(second, "generate_until", calls_hook=False)(requests)
    assert replies == [f"P{number}" for number in range(10)]
    assert [each for model in (first, second) for batch in model.batches for each in batch] == [
        f"p{number}" for number in range(10)
    ]
