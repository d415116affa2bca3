"""Conversations with a server: each continues on its own, and gives the same result as in batches."""

import asyncio
import gc
import os
import re
import signal
import subprocess
import sys
import threading
from itertools import count
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock, call

import aiohttp
import pytest
from commanding import clean_environment
from given import each_row
from local_server import HANG_UP, Fault, LocalServer
from running import load, model_of, samples
from scripts import in_turn
from tool_caller import reply, run, tagged, turn

from medtasks_utils.harness.lm_eval_names import Instance, TemplateAPI
from medtasks_utils.harness.models import begins_with_bos, context_error_of, seed_of
from medtasks_utils.harness.progress import Progress
from medtasks_utils.harness.run_model import RunModel, pieces_of
from medtasks_utils.harness.stages import Stages
from medtasks_utils.inference.replies import Reply


def caller(body):
    return reply(body["messages"])


def test_a_request_s_own_seed_counts_before_the_model_s():
    for model in (Mock(spec=TemplateAPI, _seed=1), type("VLLM", (), {"model_args": {"seed": 1}})()):
        assert [seed_of(model, settings) for settings in ({}, {"seed": 2}, {"seed": None})] == [1, 2, None]
    assert seed_of(Mock(), {"seed": 2}) is None


@each_row("prompts_that_fit")
def test_a_prompt_is_not_sent_if_it_and_the_reply_exceed_the_context(name, kind, length, reply, says):
    """Of ten tokens, and three for a reply; a token is a character."""
    encode: Any = {"tok_encode": lambda self, text: [*text], "_encode_pair": lambda self, *texts: texts}
    more = {"_model_call": None} if kind == "HFLM" else {}
    model = type(kind, (), {"max_length": 10, "max_gen_toks": 3, **encode, **more})()
    assert context_error_of(model, "x" * length, reply) == says


def test_a_tokenizer_begins_texts_with_a_token_if_it_does_so_with_none():
    for token, begins in ((5, True), (6, False), (None, False)):
        tokenizer = Mock(return_value=SimpleNamespace(input_ids=[5, 7]), bos_token_id=token)
        assert begins_with_bos(tokenizer) == begins
    assert not begins_with_bos(None)


def test_replies_begin_in_reasoning_if_most_close_what_they_did_not_open():
    stages = Stages(Mock(cache_hook=None), None, {})
    request = Mock(args=([], {}), task_name="t")
    replies = [Reply(text, "stop") for text in ("so</think>A", "<think>so</think>A", "so</think>B")]
    stages.note_reply(Mock(args=("a prompt, rendered here", {}), task_name="t"), replies[0])
    assert not stages.begins_in_reasoning
    begins = []
    for known in (*replies, Reply("A", "length")):
        stages.note_reply(request, known)
        begins.append(stages.begins_in_reasoning)
    assert begins == [True, False, True, True]


def test_requests_are_sent_in_pieces_of_about_two_minutes(monkeypatch):
    monkeypatch.setattr("medtasks_utils.harness.run_model.time.monotonic", Mock(side_effect=[0, *[240] * 7]))
    assert [*map(len, pieces_of(range(400)))] == [64, 32, 256, 48]


# ---- what comes of it


def test_cached_first_replies_are_not_requested_and_their_conversations_continue(tmp_path):
    found = []
    for first in (1, 2):
        with LocalServer(caller) as server:
            result = run(server, limit=4, use_cache=str(tmp_path / "cache"))
        found.append([sample["transcript"] for sample in samples(result)])
        assert min(turn(body["messages"]) for body in server.requests) == first
    assert found[0] == found[1]


def test_a_conversation_waits_for_no_other():
    """The first reply of one conversation is held back until all others are over."""
    others_over = threading.Event()
    over: list[str] = []

    def answer(body):
        asked, number = body["messages"][1]["content"], turn(body["messages"])
        if slow in asked and number == 1:
            assert others_over.wait(60), "the others wait for the slowest"
        if number < 4:
            return tagged("calculator", f"{number} + 1")
        over.append(asked)
        if len(over) >= 9:
            others_over.set()
        return "<answer>4</answer>"

    task = load("medcalc_bench")
    slow = task.eval_docs[task.benchmark.first(task.eval_docs, 10)[3]]["note"]
    with LocalServer(answer) as server:
        result = run(server, limit=10, connections=4)
    assert [sample["turns"] for sample in samples(result)] == [4] * 10
    assert slow in over[-1]
    assert len(server.requests) == 40


# ---- retries, headers, failures


def test_a_silent_server_is_reported_until_it_answers(monkeypatch):
    lines = []
    reported = threading.Event()
    wait = asyncio.wait

    def warn(message, *values):
        lines.append(message % values)
        if len(lines) == 3:
            reported.set()

    monkeypatch.setattr(
        "medtasks_utils.harness.api_batch.asyncio.wait",
        lambda futures, timeout, **when: wait(futures, timeout=0 if len(lines) < 3 else None, **when),
    )
    monkeypatch.setattr("medtasks_utils.harness.api_batch.logger.warning", warn)
    with LocalServer(lambda body: "<answer>4</answer>" if reported.wait(60) else HANG_UP) as server:
        run(server, limit=1)
    assert all("has sent no reply for 30 s; requests time out after 300 s" in line for line in lines[:3])


def test_an_interrupt_ends_the_run_without_further_errors(caplog):
    def answer(body):
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupted.wait(60)
        return HANG_UP

    interrupted = threading.Event()
    with LocalServer(answer) as server:
        with pytest.raises(KeyboardInterrupt):
            run(server, limit=1)
        interrupted.set()
    gc.collect()  # a future whose error nobody has read logs it
    assert "never retrieved" not in caplog.text


def test_retries_headers_times_and_certificates_are_as_the_model_s_arguments_say(monkeypatch):
    session, connector = Mock(wraps=aiohttp.ClientSession), Mock(wraps=aiohttp.TCPConnector)
    monkeypatch.setattr("aiohttp.ClientSession", session)
    monkeypatch.setattr("aiohttp.TCPConnector", connector)
    with LocalServer(in_turn(Fault(503), Fault(503), "<answer>42</answer>")) as server:
        header = {"header": {"Authorization": "Bearer abc", "X-Ours": "1"}, "max_retries": 3}
        run(server, limit=2, connections=2, model_args={**header, "timeout": 99, "verify_certificate": False})
    assert connector.call_args == call(limit=2, ssl=False)
    assert (
        session.call_args.kwargs["timeout"] == aiohttp.ClientTimeout(99, sock_connect=15)
        and session.call_args.kwargs["trust_env"]
    )
    assert len(server.requests) == 4
    assert {headers["x-ours"] for headers in server.headers} == {"1"}


# ---- progress


@pytest.mark.parametrize(("seconds", "lines"), [(10.0, 10), (0.1, 4), (0.001, 1)])
def test_progress_is_logged_at_each_tenth_and_at_most_once_a_second(seconds, lines, caplog, monkeypatch):
    caplog.set_level("INFO", "lm_eval")
    time = SimpleNamespace(now=0.0)
    monkeypatch.setattr("medtasks_utils.harness.progress.clock", lambda: time.now)
    with Progress(["t"] * 40, True) as progress:
        for _ in range(40):
            time.now += seconds
            progress.count("t", False)
    of_task = [line for line in caplog.messages if line.startswith("t  ")]
    assert len(of_task) == lines
    assert "40 of 40   done" in of_task[-1]


def test_a_line_of_progress_has_the_count_the_speed_and_the_cut_replies(caplog, monkeypatch):
    caplog.set_level("INFO", "lm_eval")
    clock = count(step=2)
    monkeypatch.setattr("medtasks_utils.harness.progress.clock", lambda: next(clock))
    with Progress([*["t"] * 40, *["task"] * 2], True) as progress:
        for place in range(40):
            progress.count("t", 4 < place < 9)
        progress.count("task", False)
    lines = [line.split("   ") for line in caplog.messages if " of 40 " in line]
    assert [line[1].strip() for line in lines] == [f"{number} of 40" for number in range(4, 41, 4)]
    assert [line[-1] for line in (lines[0], lines[1], lines[-1])] == ["0 s left", "3 cut off", "4 cut off"]
    assert lines[-1][-2] == "done" and {line[0] for line in lines} == {"t"}
    (warning,) = (line for line in caplog.messages if "reached" in line)
    way_out = " To request only these again, press Ctrl-C, and add --extend and a larger max_gen_toks."
    assert warning == f"3 of 8 replies reached max_gen_toks.{way_out}"
    assert re.fullmatch(r"task  1 of 2   .*/s   0 s left", caplog.messages[-1])


def test_progress_is_logged_in_a_locale_without_its_characters():
    code = "from medtasks_utils.harness.progress import Progress\nwith Progress(['t'], True) as p: p.count('t', False)"
    environment = clean_environment({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"})
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)


def test_prompts_with_pictures_go_to_the_model_s_own_method(monkeypatch):
    model = RunModel(model_of(LocalServer()), None, {})
    monkeypatch.setattr(model, "_answer", lambda method, requests: [method])
    for more, own in (((), False), (({"visual": []},), True)):
        monkeypatch.setattr(model.batch, "replies_to", lambda requests: ["together"])
        request = Instance("generate_until", {}, ("Q", {}, *more), 0)
        assert model.generate_until([request]) == (["generate_until"] if own else ["together"])
