"""Prompts that chat templates like those of eight model families make, and answers that are read in replies."""

import json
import logging
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from fake_vllm import vllm_model
from given import each_row
from lm_eval.api.registry import get_model
from lm_eval.config.evaluate_config import EvaluatorConfig
from local_server import Fault, LocalServer, completion
from running import evaluate, load, model_of, samples
from scripts import in_turn

from medtasks_utils.errors import MedtasksError, UsageError
from medtasks_utils.harness.chat_template import ChatTemplate
from medtasks_utils.harness.evaluation import Evaluation
from medtasks_utils.harness.prompt_checks import check_prompts
from medtasks_utils.harness.signing import unformatted_prompts

MARKS = ["[THINK]", "[/THINK]", "<|channel|>", "<|message|>", "<|start|>", "<|end|>", "<|channel>", "<channel|>"]
"""Special tokens of models that reason."""
ANSWERS = {
    "medmcqa_openmed": (r"\boxed{A}", r"\boxed{B}"),
    "medexqa_clinical_psychology": (r"\boxed{A}", r"\boxed{B}"),
    "medcalc_bench": ("<answer>5</answer>", "<answer>7</answer>"),
    "medhallu": (r"\boxed{0}", r"\boxed{1}"),
}
"""A task of each benchmark, with two answers in its form."""
PLAIN = "{% for m in messages %}{{ m.content }}{% endfor %}"
NO_SYSTEM_ROLE = "{% for m in messages %}{{ raise_exception('No.') if m.role == 'system' }}{{ m.content }}{% endfor %}"


@pytest.fixture
def hf(tiny_model, monkeypatch):
    """Return a function that makes a model from a chat template, a reply, and whether the reply is cut."""

    def model(template: str, reply: str = "", is_cut: bool = False) -> Any:
        made = get_model("hf").create_from_arg_obj(
            {"pretrained": str(tiny_model), "max_length": 4000}, {"batch_size": 2, "device": "cpu"}
        )
        made.tokenizer.add_special_tokens({"additional_special_tokens": MARKS})
        made.tokenizer.chat_template = template
        said = [*made.tok_encode(reply, add_special_tokens=False), *([] if is_cut else [made.eot_token_id])]

        def generate(context, max_length, **_):
            import torch

            room = max_length - context.shape[1]
            more = [made.tokenizer.pad_token_id, made.tok_encode("a")[-1]][is_cut]
            rows = [(said + [more] * room)[:room]] * len(context)
            return torch.cat([context, torch.tensor(rows)], 1)

        made._model_generate = generate
        return made

    return model


def asked(model: Any, task: str = "medmcqa_openmed", **options: Any) -> tuple[Any, list[Any], str]:
    """Run one example; return metadata, its sample under each filter, and the changes in its signature."""
    data = {load(task).benchmark.name: options}
    result = evaluate(task, model, "sample", data, limit=1, gen_kwargs="max_gen_toks=200")
    ((_, config),) = result["configs"].items()
    fields = config["metadata"]["signature"]["strict-match"].split("|")
    changes = "".join(field.removeprefix("rendered:") for field in fields if field.startswith("rendered:"))
    return config["metadata"], [samples(result, name)[0] for name in ("strict-match", "flexible-extract")], changes


def words_of(task: str) -> list[str]:
    """Return the task's messages for the first example, with single spaces."""
    made = load(task)
    made.has_chat_template = True
    *_, messages = unformatted_prompts(made, [made.eval_docs[0]], {})
    return [" ".join(message["content"].split()) for message in messages]


# ---- what is asked


@pytest.mark.torch
@each_row("chat_templates")
def test_words_that_a_chat_template_would_drop_are_moved_or_remarked_on(name, template, changes, says, hf):
    metadata, (sample, _), changed = asked(hf(template))
    remarks = " ".join(line for line in metadata.get("remarks", []) if "chat template" in line)
    assert changed == changes and says in remarks and bool(says) == bool(remarks)
    prompt = sample["arguments"][0][0]
    if name == "escapes_json":
        prompt = "".join(json.loads(f"[{prompt.replace('}{', '},{')}]")[place]["text"] for place in (0, 1))
    prompt = " ".join(prompt.split())
    for text in words_of("medmcqa_openmed"):
        text = text.replace("<think>...</think>", "<think>") if name == "nemotron_2" else text
        assert (text in prompt) == (name != "loses_words" or "Choices" not in text)


@pytest.mark.torch
def test_system_role_decides_where_instructions_stand(hf):
    _, (sample, _), changes = asked(
        hf("{% for m in messages %}<{{m.role}}>{{m.content}}{% endfor %}"), system_role="user"
    )
    assert changes == "system_in_user" and sample["arguments"][0][0].startswith("<user>You are")
    with pytest.raises(UsageError, match="cannot render the messages: No"):
        asked(hf(NO_SYSTEM_ROLE), system_role="system")
    with pytest.raises(UsageError, match="system_role=system: the model's chat template drops"):
        asked(hf("{{ messages[-1].content }}"), system_role="system")


@pytest.mark.parametrize("status", [400, 500])
def test_a_server_without_a_system_role_names_the_way_out(status):
    with LocalServer(lambda body: Fault(status, {"error": {"message": "System role not supported"}})) as server:
        with pytest.raises(MedtasksError, match="system_role=user"):
            evaluate("medhallu", model_of(server), limit=1)
        assert len(server.requests) == 1
    with LocalServer(lambda body: completion("1")) as server:
        evaluate("medhallu", model_of(server), "sample", {"medhallu": {"system_role": "user"}}, limit=1)
    assert [message["role"] for message in server.requests[0]["messages"]] == ["user"]


@pytest.mark.torch
def test_switches_that_change_the_prompt_are_signed(hf):
    template = f"{PLAIN}{{{{ '<think></think>' if enable_thinking is defined and not enable_thinking }}}}"
    for given, changes in (({"enable_thinking": False, "unknown": 1}, "enable_thinking=false"), ({}, "")):
        model = hf(template)
        model.chat_template_args = given
        assert asked(model)[2] == changes


@pytest.mark.torch
@pytest.mark.parametrize(("switch", "changes"), [(False, "enable_thinking=false"), (None, "")])
def test_the_switch_of_vllm_reaches_the_template_and_is_signed(switch, changes, tiny_model, monkeypatch):
    model = vllm_model(monkeypatch, str(tiny_model), lambda *_: ("", 1, "stop"), 4000)
    model.tokenizer.chat_template = f"{PLAIN}{{{{ 'Quickly!' if enable_thinking is false }}}}"
    model.enable_thinking = switch
    assert asked(model)[2] == changes
    (prompt,) = map(model.tokenizer.decode, model.model.prompts)
    assert prompt.endswith("Quickly!") == bool(changes)


@each_row("switches_of_vllm")
def test_vllm_gets_the_switch_of_its_template(arguments, given, monkeypatch):
    monkeypatch.setattr("medtasks_utils.harness.evaluation.check_run", lambda *_: (None, {}))
    config = EvaluatorConfig(model="vllm", tasks=["medhallu"], model_args=arguments)
    assert {**Evaluation(config, ()).config.model_args, "chat_template_args": {}} == {**given, "chat_template_args": {}}


# ---- what is read


@pytest.mark.torch
@pytest.mark.parametrize("task", ANSWERS)
@each_row("marks_of_reasoning")
def test_nothing_is_read_in_the_reasoning_of_a_model_in_this_process(name, template, start, end, task, hf):
    first, last = ANSWERS[task]
    _, cut, _ = asked(hf(template, f"{start}So {first} maybe. But wait, option B", is_cut=True), task)
    assert [(sample["answered"], sample["resps"], sample["ended"]) for sample in cut] == [(0.0, [[""]], ["length"])] * 2
    assert first in cut[0]["reasoning"][0]
    _, whole, _ = asked(hf(template, f"{start}So {first}? No.{end}It is {last}"), task)
    assert all(sample["answered"] and last in sample["resps"][0][0].rpartition("No.")[2] for sample in whole)
    assert all(str(sample["filtered_resps"][0])[0] in last for sample in whole)
    assert name != "think_opened" or whole[0].get("format", 1.0) == 1.0


@pytest.mark.torch
@pytest.mark.parametrize("mark", ["</t>", "<s>"])
def test_the_mark_that_a_model_of_transformers_was_given_ends_its_reasoning(mark, hf):
    """The mark is given as a text, and as the number of a token."""
    first, last = ANSWERS["medmcqa_openmed"]
    whole = f"So {first}? No.{mark}It is {last}"
    for reply, is_cut, answered in ((whole, False, 1.0), (f"So {first}? But", True, 0.0)):
        model = hf(PLAIN, reply, is_cut=is_cut)
        model.think_end_token = 0 if mark == "<s>" else mark
        for sample in asked(model)[1]:
            assert sample["answered"] == answered and first in sample["reasoning"][0]
            assert sample["resps"] == [[f"It is {last}" if answered else ""]]


def test_a_server_whose_template_opens_reasoning_shows_in_finished_replies():
    """If most finished replies end reasoning, a cut reply is only reasoning; otherwise it is an answer."""
    for count, answered in ((4, [1.0, 1.0, 1.0, 1.0, 0.0]), (2, [1.0] * 5)):
        replies = [completion("So B?</think>\\boxed{A}" if place < count else "\\boxed{A}") for place in range(4)]
        with LocalServer(in_turn(*replies, completion("\\boxed{A} maybe. But", "length"))) as server:
            result = evaluate("medmcqa_openmed", model_of(server, num_concurrent=1), limit=5)
        for name in ("strict-match", "flexible-extract"):
            assert [sample["answered"] for sample in samples(result, name)] == answered


def test_whether_prompts_open_reasoning_is_decided_for_all_tasks_of_a_run():
    of_letters = in_turn(*[completion("So B?</think>\\boxed{A}")] * 4)
    of_verdicts = in_turn(*[completion("\\boxed{1}")] * 2, completion("\\boxed{1} maybe. But", "length"))
    with LocalServer(lambda body: (of_verdicts if "hallucinated" in str(body) else of_letters)(body)) as server:
        result = evaluate(["medmcqa_openmed", "medhallu"], model_of(server, num_concurrent=1), limit=4)
    assert [sample["answered"] for sample in result["samples"]["medhallu"]] == [1.0, 1.0, 0.0, 0.0] * 2


def test_a_reply_cut_before_its_mark_is_reasoning():
    with LocalServer(lambda body: completion("\\boxed{A} maybe", "length")) as server:
        result = evaluate("medmcqa_openmed", model_of(server, think_end_token="</t>"), limit=1)
    (sample,) = samples(result)
    assert (sample["answered"], sample["reasoning"]) == (0.0, ["\\boxed{A} maybe"])


# ---- templates that are functions, which need no tokenizer of transformers


def rendering(render: Any, role: str = "auto", template: str = "", **settings: Any) -> ChatTemplate:
    """Of a model whose tokenizer's template does what a function does, and gets more settings."""

    class Model:
        tokenizer = SimpleNamespace(chat_template=template, apply_chat_template=staticmethod(render))

        def apply_chat_template(self, messages: Any, **more: Any) -> Any:
            return self.tokenizer.apply_chat_template(messages, **settings, **more)

    return ChatTemplate(Model(), Mock(), role)


CHAT = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Say <think>...</think> so?"}]


def joined(messages: Any, **settings: Any) -> str:
    return " ".join(message["content"] for message in messages)


def without_system(messages: Any, **settings: Any) -> str:
    return joined(message for message in messages if message["role"] != "system")


def with_switch(messages: Any, **settings: Any) -> str:
    return joined(messages).replace("</think>", "")


@pytest.mark.parametrize(
    ("render", "role", "changes", "remarks"),
    [
        (joined, "auto", [], []),
        (joined, "user", ["system_in_user"], []),
        (without_system, "auto", ["system_in_user"], ["system_role=system"]),
        (with_switch, "auto", ["think_unclosed"], ["/think"]),
        (lambda messages, **settings: "Be brief.", "auto", [], ["1 of 1 prompt"]),
    ],
)
def test_messages_are_changed_as_far_as_a_template_drops_their_words(render, role, changes, remarks):
    template = rendering(render, role)
    prompt = template(CHAT)
    assert template.changes == changes and "Be brief." in prompt
    found = [*template.remarks()]
    assert len(found) == len(remarks) and all(part in line for part, line in zip(remarks, found, strict=True))


def test_a_system_message_that_a_template_drops_is_an_error_if_it_must_be_one():
    with pytest.raises(UsageError, match="system_role=system"):
        rendering(without_system, "system")(CHAT)


def test_only_switches_that_change_the_prompt_are_signed():
    template = rendering(lambda messages, on=False, **others: f"{joined(messages)} {on}", on=True, other=1)
    assert template(CHAT).endswith(" True")
    assert template.changes == ["on=true"]


def test_a_template_is_told_the_same_day_every_day():
    template = rendering(
        lambda messages, chat_template, **others: f"{joined(messages)} {chat_template}",
        template="strftime_now('%d %b')",
    )
    assert template(CHAT).endswith("'26 Jul'") and template.changes == ["date=2024-07-26"]


@pytest.mark.parametrize(
    ("is_used", "length", "prompt", "generates", "said"),
    [
        (False, 5000, "Q", True, "--apply_chat_template"),
        (True, 100, "Q", True, "max_gen_toks=100"),
        (True, 5000, "Q", True, ""),
        (True, 100, "Q<think>\n", False, "letters"),
    ],
)
def test_what_a_template_means_for_prompts_is_said_before_they_are_sent(
    is_used, length, prompt, generates, said, caplog
):
    model = type("VLLM", (), {"tokenizer": SimpleNamespace(chat_template="<think>"), "max_length": 9000})()
    task = Mock(instances=[Mock(args=(prompt,))], generates=generates, model=model, has_chat_template=is_used)
    task.config.generation_kwargs = {"max_gen_toks": length}
    task.remark = logging.getLogger("lm_eval").warning
    check_prompts(task)
    assert said in caplog.text and bool(said) == bool(caplog.text)
    task.config.generation_kwargs = {"max_gen_toks": 9000}
    if generates:
        with pytest.raises(UsageError, match="max_gen_toks=9,000"):
            check_prompts(task)
