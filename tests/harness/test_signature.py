"""Signatures are equal if and only if results are comparable, and contain no secret."""

import json
import re
from pathlib import Path

import pytest
from given import each_row
from local_server import LocalServer
from pydantic import create_model
from running import evaluate, load, right_answer

from medtasks_utils.compare.incompatibilities import incompatibilities
from medtasks_utils.filters import STRICT
from medtasks_utils.harness.signature import digest_of_lines, parse
from medtasks_utils.results import as_run


def run(task, **settings):
    """Return a task as a run of one evaluation."""
    return as_run(evaluate(task, right_answer, **settings), Path()).tasks[task]


def signed(task, **settings):
    """Return the signature of a task whose requests are built with these arguments."""
    task.set_fewshot_seed(1)
    task.build_all_requests(**{"limit": 6, **settings})
    return str(task.config.metadata["signature"][STRICT])


# ---- what is in it


@each_row("signatures")
def test_every_result_has_a_signature_for_each_filter(task, expected, packages):
    """Signatures equal those of earlier versions, except for version numbers."""
    found = run(task).signatures
    assert list(found) == ["strict-match", "flexible-extract"]
    for name, text in found.items():
        assert text.startswith(f"{task}|data:sample|{expected}|filter:{name}|v:") and not re.search(r"\s", text)
        assert [*parse(text)][-2 - len(packages) :] == ["medtasks", "lm_eval", *packages]


# ---- what changes it


@each_row("signature_changes")
def test_other_measurements_are_not_compared_and_other_models_are_a_warning(task, settings, change, refused, warned):
    settings = {"limit": 3, **settings}
    differences = incompatibilities(run(task, **settings), run(task, **settings | change), STRICT)
    assert [each.field for each in differences if each.not_comparable] == refused
    assert [each.field for each in differences if not each.not_comparable] == warned


@each_row("signature_sources")
def test_the_text_of_prompts_is_signed_and_not_its_source(source, is_same):
    task = load("medhallu")
    task.set_config("doc_to_text", "Is this true? {{answer}}")
    before = signed(task)
    task.set_config("doc_to_text", eval(source) if source.startswith("lambda") else source)
    assert (signed(task) == before) == is_same


@pytest.mark.parametrize("has_chat_template", [False, True])
def test_delimiters_are_signed_if_they_are_sent(has_chat_template):
    """A chat template replaces the delimiters."""
    chat = {"apply_chat_template": has_chat_template, "chat_template": lambda messages, **_: json.dumps(messages)}
    task = load("medmcqa_openmed")
    before = signed(task, **chat)
    task.set_config("fewshot_delimiter", "\n###\n")
    assert (signed(task, **chat) == before) == has_chat_template


def test_a_new_option_that_is_off_changes_nothing():
    task = load("medhallu")
    before = signed(task)
    task.benchmark.options = create_model("More", __base__=type(task.options), more=(bool, False))()
    assert signed(task) == before


@each_row("temperatures_sent")
def test_the_temperature_that_is_sent_is_signed(name, model, arguments, temperature, is_said, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with LocalServer(lambda body: "\\boxed{A}") as server:
        given = {"limit": 1, "model_args": {"model": model, "base_url": server.chat}, "gen_kwargs": arguments}
        config = evaluate("medmcqa_openmed", "openai-chat-completions", **given)["configs"]["medmcqa_openmed"]
    assert [body["temperature"] for body in server.requests] == [temperature]
    gen = parse(config["metadata"]["signature"][STRICT])["gen"]
    assert gen == "max_gen_toks=2048" + f",temperature={temperature}" * (temperature > 0)
    assert any("temperature=1" in remark for remark in config["metadata"].get("remarks", ())) == is_said


@each_row("signature_processes")
def test_all_prompts_are_signed_as_one_process_sends_them(shots, chosen):
    """Each process of a distributed run builds its own part of the prompts, and they sign the whole."""
    task = load("medmcqa_openmed")
    task.set_config("num_fewshot", shots)
    chat = {"apply_chat_template": True, "chat_template": lambda messages, **_: json.dumps(messages)}
    whole = signed(task, **chat, **chosen)
    sent = digest_of_lines(json.loads(instance.args[0]) for instance in task.instances)
    assert f"|prompts:{sent}|" in whole
    content = task.config.metadata["content"]
    for rank in range(2):
        assert signed(task, rank=rank, world_size=2, **chat, **chosen) == whole
        assert (len(task.instances), task.config.metadata["content"]) == (3, content)
