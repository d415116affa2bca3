"""Replies in runs: retries, how they ended, their tokens, and remarks on them."""

import json
import os
import re
from collections import Counter
from threading import Event

import pytest
from characters import characters
from commanding import exit_code, one_line, succeed
from fake_time import FakeTime
from given import FILE, each_row, medmcqa_rows, write_rows
from lm_eval.api.model import CacheHook
from lm_eval.api.registry import get_model
from local_server import HANG_UP, Fault, LocalServer, completion
from places import at
from running import evaluate, model_of, samples, saved_results, saved_samples
from scripts import as_answer, in_turn, together

from medtasks_utils.benchmarks.medmcqa.benchmark import MedMCQA
from medtasks_utils.harness.early_reading import EarlyReading

__all__ = ["characters"]
RIGHT = "\\boxed{A}"


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch):
    monkeypatch.setattr("medtasks_utils.inference.pace.BACKOFF", 0.0)


def rows_of(data, number, more=None):
    """Write rows whose right option is the first; ``more`` is added to the questions with these numbers."""
    rows = medmcqa_rows(number, cop=0)
    for place, text in (more or {}).items():
        rows[place]["question"] += text
    write_rows(rows, data / FILE["medmcqa"])
    return data


def number_of(body):
    """Return the number of the question in a request."""
    text = body["messages"][-1]["content"] if "messages" in body else body["prompt"]
    return int(text.partition("Question: Question ")[2].partition("?")[0])


# ---- forms


@each_row("errors_that_stay", ["64 MiB", Fault(200, b"x" * (65 << 20)), 2])
def test_a_lasting_error_of_a_server_ends_the_run_in_one_line_and_keeps_replies(
    says, answer, attempts, tmp_path, capsys
):
    with LocalServer(in_turn(RIGHT, RIGHT, answer)) as server:
        words = server.run_of("medmcqa_openmed", max_retries=2, num_concurrent=1)
        assert exit_code([*words, "--limit", 3, "--output_path", tmp_path]) == 1
    line = capsys.readouterr().err.splitlines()[-1]
    assert server.chat in line and says in line and len(server.requests) == 2 + attempts
    (kept,) = tmp_path.glob("**/replies_*.jsonl")
    replies = [json.loads(text)[1]["replies"] for text in kept.read_text().split("\n") if text]
    assert [(reply["ended"], reply["tokens"]) for (reply,) in replies] == [("stop", 3)] * 2


@pytest.mark.parametrize("more", [[], ["--extend"]])
@pytest.mark.parametrize(("fields", "says"), [({"reasoning_content": RIGHT}, "reasoning_content"), ({}, "is empty")])
def test_a_run_of_empty_replies_is_saved_and_fails_and_extend_requests_them_again(fields, says, more, tmp_path, capsys):
    with LocalServer(lambda body: completion(None, **fields)) as server:
        words = [*server.run_of("medmcqa_openmed"), "--limit", 3, "--output_path", tmp_path]
        assert exit_code(words) == 1
        line = one_line(capsys.readouterr().err)
        assert says in line and "replies kept" not in line and len(server.requests) == 6
        metadata = saved_results(tmp_path)["configs"]["medmcqa_openmed"]["metadata"]
        assert [metadata["failure"]] == metadata["remarks"]
        server.answer = lambda body: RIGHT
        succeed(*words, *more)
    assert len(server.requests) == 9


def test_a_reply_of_another_model_has_its_name_in_its_sample_also_if_it_was_kept(tmp_path):
    small = {**completion(RIGHT), "model": "small\x1b[2J"}
    stop = Fault(400, "no")
    with LocalServer(in_turn(RIGHT, small, stop)) as server:
        words = [*server.run_of("medmcqa_openmed", num_concurrent=1), "--limit", 3, "--output_path", tmp_path]
        assert exit_code(words) == 1
        server.answer = lambda body: RIGHT
        succeed(*words, "--log_samples")
    found = saved_samples(tmp_path, "medmcqa_openmed")[:3]
    assert [sample.get("model") for sample in found] == [None, ["small\ufffd[2J"], None]
    (remark,) = saved_results(tmp_path)["configs"]["medmcqa_openmed"]["metadata"]["remarks"]
    assert "small\ufffd[2J in 1 of 3 replies; the model changed" in remark


# ---- how they ended


@each_row("replies_of_runs")
def test_a_run_says_and_saves_how_its_replies_ended(name, answers, probed, flags, expected, data, tmp_path, capsys):
    """A sample has how it ended, the reasoning and the reason of a refusal."""
    rows_of(data, len(answers))
    with LocalServer(lambda body: as_answer(answers[number_of(body)]), lambda body: as_answer(probed)) as server:
        words = [*server.run_of("medmcqa_openmed", data), *flags, "--log_samples", "--output_path", tmp_path]
        code = exit_code(words)
    said = " ".join("".join(capsys.readouterr()).split())
    result = saved_results(tmp_path)["results"]["medmcqa_openmed"]
    found = [
        [*sample["ended"], sample.get("reasoning"), sample.get("refusal")]
        for sample in saved_samples(tmp_path, "medmcqa_openmed")[: len(answers)]
    ]
    found = json.loads(json.dumps(found).replace(server.chat, "AT"))
    made = {"code": code, "said": said, "values": result, "samples": found, "requests": len(server.requests)}
    assert {key: at([key], part, made) for key, part in expected.items()} == expected


def test_json_and_comparisons_say_how_replies_ended(tmp_path, capfd):
    def chatty(body):  # as libraries in other languages are
        os.write(1, b"1 of 9\n")
        return RIGHT

    printed = []
    for name, answer in ("a", lambda body: completion("I", "length")), ("b", chatty):
        with LocalServer(answer) as server:
            succeed(*server.run_of("medmcqa_openmed"), "--log_samples", "--json", "--output_path", tmp_path / name)
        printed.append(json.loads(capfd.readouterr().out)["scores"][0])
    assert [(of["cut"], of["acc_finished"]) for of in printed] == [(1.0, None), (0.0, 0.25)]
    succeed("compare", tmp_path / "a", tmp_path / "b")
    assert "100.0 % of the replies in A and 0.0 % in B were cut" in "".join(capfd.readouterr())


def test_batch_size_is_the_number_of_concurrent_requests(data):
    with LocalServer(together(8, lambda body: completion(RIGHT, "length"))) as server:
        arguments = {"base_url": f"{server.url}/completions", "tokenizer_backend": "none"}
        model = model_of(server, "local-completions", num_concurrent=2, **arguments)
        model._batch_size = 4
        result = evaluate("medmcqa_openmed", model, rows_of(data, 8), apply_chat_template=False)
    assert len(server.requests) == server.most_at_once == 8
    assert result["results"]["medmcqa_openmed"]["cut,strict-match"] == 1.0


# ---- models in this process


@pytest.fixture
def hf(tiny_model):
    return lambda **given: get_model("hf").create_from_arg_obj(
        {"pretrained": str(tiny_model), **given}, {"batch_size": 3, "device": "cpu"}
    )


@pytest.mark.torch
def test_a_model_of_transformers_says_how_its_replies_ended(hf, data, monkeypatch):
    """Checked against what it generates: a reply is cut if it has as many tokens as there may be, without an end.

    A prompt that does not fit is not sent, and is counted.
    """
    model = hf(max_length=2500)
    rows: list[list[int]] = []
    generate = type(model)._model_generate

    def watched(self, **settings):
        output = generate(self, **settings)
        output[0, settings["context"].shape[1] + 2] = model.eot_token_id  # of the first in each batch
        rows.extend(row[settings["context"].shape[1] :] for row in output.tolist())
        return output

    monkeypatch.setattr(type(model), "_model_generate", watched)
    result = evaluate("medmcqa_openmed", model, rows_of(data, 9, {2: "Why? " * 500}), gen_kwargs="max_gen_toks=6")
    found = samples(result)
    assert "more than the model's context of 2,500" in found.pop(2)["refusal"][0]
    (remark,) = result["configs"]["medmcqa_openmed"]["metadata"]["remarks"]
    assert "1 of 9 requests got no reply" in remark
    expected = Counter(
        ("stop", row.index(model.eot_token_id) + 1) if model.eot_token_id in row else ("length", 6) for row in rows
    )
    assert Counter((*sample["ended"], *sample["tokens"]) for sample in found) == expected
    assert expected["stop", 3] >= 3
    assert not {"generate_until", "_model_generate"} & vars(model).keys()
    assert type(model.cache_hook) is CacheHook


@pytest.mark.torch
def test_results_name_the_device_that_a_model_chose(tiny_model, tmp_path, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    arguments = f"pretrained={tiny_model}"
    words = ("--model", "hf", "--model_args", arguments, "--gen_kwargs", "max_gen_toks=2", "--apply_chat_template")
    succeed("eval", "--data", "sample", "--tasks", "medhallu", "--limit", 1, *words, "-o", tmp_path)
    assert saved_results(tmp_path)["config"]["device"] == "cpu"


# ---- before a run


@each_row("contexts_of_servers")
def test_prompts_as_tokens_are_sent_whole_or_not_at_all(place, page, sent, characters, data, monkeypatch):
    """With a tokenizer, lm_eval would cut prompts to 2,047 tokens less those of the reply, here to none."""
    server = LocalServer(lambda body: RIGHT)
    monkeypatch.setattr(server, "get", lambda method, path: Fault(200, page if path == place else {}))
    rows_of(data, 2, {1: "Why? " * 1200})
    with server:
        arguments = {"tokenizer_backend": "huggingface", "base_url": f"{server.url}/completions"}
        model = model_of(server, "local-completions", **arguments)
        result = evaluate("medmcqa_openmed", model, data, gen_kwargs="max_gen_toks=4000", apply_chat_template=False)
    lengths = [len(body["prompt"][0]) for body in server.requests]
    assert min(lengths) > 100 and len(lengths) == sent
    reason = r"a prompt of 6,\d+ tokens and max_gen_toks=4,000 are more than the model's context of 9,040 tokens"
    first, second = (sample.get("refusal", [None])[0] for sample in samples(result))
    assert first is None and bool(second and re.fullmatch(reason, second)) == (sent == 1)


@pytest.mark.parametrize(("attempts", "code"), [(None, 0), (5, 0), (3, 1)])
def test_a_run_retries_patiently_unless_max_retries_is_set(attempts, code, data, monkeypatch):
    FakeTime(monkeypatch)
    rows_of(data, 1)
    with LocalServer(in_turn(*[HANG_UP] * 4, RIGHT)) as server:
        words = server.run_of("medmcqa_openmed", data, num_concurrent=1, max_retries=attempts)
        assert exit_code(words) == code


# ---- reading


def test_a_reply_is_read_while_the_model_answers_the_next_request(monkeypatch):
    was_read, read = Event(), MedMCQA.flexible

    def noted(*of):
        answer = read(*of)
        was_read.set()
        return answer

    def after_it_was_read(request):
        assert was_read.wait(60)
        return RIGHT

    monkeypatch.setattr(MedMCQA, "flexible", noted)
    with LocalServer(in_turn(RIGHT, after_it_was_read)) as server:
        evaluate("medmcqa_openmed", model_of(server, num_concurrent=1), limit=2)


@each_row("read_early")
def test_samples_are_the_same_whether_replies_are_read_early_or_late(kind, task, says, more, tmp_path, monkeypatch):
    found = []
    for folder, begin in (("early", EarlyReading.begin), ("late", lambda *of: None)):
        monkeypatch.setattr(EarlyReading, "begin", begin)
        with LocalServer(in_turn(*says, Fault(400, "no"))) as server:
            words = [*server.run_of(task, num_concurrent=1), "--limit", 3, *more, "--log_samples"]
            assert exit_code([*words, "--output_path", tmp_path / folder]) == 1
            server.answer = in_turn(*says)
            succeed(*words, "--output_path", tmp_path / folder)
        (path,) = (tmp_path / folder).glob("**/samples_*.jsonl")
        found.append(path.read_bytes())
    assert found[0] == found[1]
