"""Unusable log-likelihoods are an error, if possible before the run; usable ones are the same in every engine."""

from typing import Any

import pytest
from characters import characters
from commanding import exit_code, one_line, succeed
from fake_time import FakeTime
from given import each_row
from local_server import Fault, LocalServer
from running import Scripted, evaluate, model_of
from scripts import echoed, in_turn

from medtasks_utils.errors import MedtasksError
from medtasks_utils.harness.log_likelihoods import try_echo

__all__ = ["characters"]
TASK = "medexqa_clinical_psychology_logits"


def run_of(server, tasks, **arguments):
    arguments |= {"tokenizer_backend": "huggingface", "base_url": f"{server.url}/completions"}
    words = server.run_of(tasks, kind="local-completions", **arguments)
    return [word for word in words if word != "--apply_chat_template"]


@each_row("no_echoes")
def test_a_server_that_does_not_echo_is_one_line_before_the_run(name, status, body, says, characters, capsys):
    with LocalServer(probed=lambda asked: Fault(status, body) if asked.get("echo") else ".") as server:
        assert exit_code(run_of(server, TASK)) == 1
    line = one_line(capsys.readouterr().err)
    assert says in line and "--model vllm or hf" in line and "A" not in line.partition(":")[0]
    assert [body for body in server.probes if body.get("echo")][1:] == []


def test_an_outage_is_waited_out_among_log_likelihoods_too(characters, monkeypatch):
    time = FakeTime(monkeypatch)
    with LocalServer(probed=in_turn(Fault(500), echoed, echoed, *[Fault(503)] * 9, echoed)) as server:
        tokenizer = {"tokenizer_backend": "huggingface", "max_length": 4000}
        arguments = {"base_url": f"{server.url}/completions", "max_retries": 3, "num_concurrent": 1, **tokenizer}
        model = model_of(server, "local-completions", **arguments)
        try_echo(model, TASK)
        (sample,) = evaluate(TASK, model, limit=1, apply_chat_template=False)["samples"][TASK]
    assert (len(server.probes), len(time.slept), len(sample["resps"])) == (2 + 4 + 9, 1 + 9, 4)


@pytest.mark.parametrize(("engine", "room"), [("in this process", 1), ("server", 2)])
def test_an_example_that_does_not_fit_is_wrong_counted_and_said(engine, room, characters, tmp_path):
    """A text has a token for each character, and one more is generated; lm_eval takes one from what servers are said
    to have. If no example fits, the run is an error.
    """
    name = "medexqa_biomedical_engineering_logits"
    path = tmp_path / "medexqa/test/biomedical_engineer_test.tsv"
    path.parent.mkdir(parents=True)
    path.write_text("Why?\ta\tb\tc\td\te\tf\tA\n" + "Why? So?\ta\tb\tc\td\te\tf\tA\n")
    tokens: Any = {"_encode_pair": lambda self, *texts: texts, "_model_generate": None, "model_args": {}}

    def run_in(context):
        kind = type("VLLM", (Scripted,), {"max_length": context, **tokens})
        model = kind(lambda doc: -ord(doc["continuation"][-1]))
        with LocalServer(echoed, probed=echoed) as server:
            if engine == "server":
                settings = {"base_url": f"{server.url}/completions", "tokenizer_backend": "huggingface"}
                model = model_of(server, "local-completions", max_length=context, **settings)
            return evaluate(name, model, tmp_path, apply_chat_template=False)

    both = run_in(10_000)["samples"][name]
    length = sum(map(len, both[1]["arguments"][0]))
    result = run_in(length + room - 1)
    first, second = result["samples"][name]
    assert first == both[0] and [second["acc"], second["resps"]] == [0, [[""]] * 4]
    assert run_in(length + room)["samples"][name] == both
    assert second["confidence"] == {"origin": "logits", "values": [None]}
    reason = (
        f"a prompt and its continuation, {length:,} tokens together, are more than the model's context of {length:,}"
    )
    assert second["refusal"] == [f"{reason} tokens"]
    (remark,) = result["configs"][name]["metadata"]["remarks"]
    assert remark == f"1 of 2 examples got no reply; first reason: {reason} tokens"
    assert result["results"][name]["acc,none"] == first["acc"] / 2
    with pytest.raises(MedtasksError, match=f"^{name}: none of the examples got a reply; first reason: a prompt and"):
        run_in(9)


def test_letters_inside_reasoning_are_a_remark(monkeypatch):
    model = Scripted(lambda doc: ord(doc["continuation"][-1]))
    monkeypatch.setattr(model, "apply_chat_template", lambda *_, **__: "Hi<think>\n")
    (remark,) = evaluate(TASK, model, limit=1)["configs"][TASK]["metadata"]["remarks"]
    assert "opens the reasoning" in remark


@pytest.mark.parametrize(("begins", "off"), [(True, {}), (False, {}), (True, {"add_bos_token": False})])
def test_a_server_is_sent_the_token_that_texts_begin_with_unless_it_is_off(begins, off, characters):
    """As models in this process begin them, in prompts and in log-likelihoods."""
    characters.begins = begins
    with LocalServer(probed=echoed) as server:
        succeed(*run_of(server, f"{TASK},medhallu", **off), "--limit", 1)
    (generated,) = server.requests
    scored = [body for body in server.probes if body.get("echo")]
    is_sent = begins and not off
    firsts = [[tokens.count(0), tokens[0] == 0] for body in [generated, *scored] for tokens in body["prompt"]]
    assert firsts == [[int(is_sent), is_sent]] * len(firsts) and len(firsts) == 1 + 1 + 4
