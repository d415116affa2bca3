"""Prompts that chat templates like those of eight model families make, and answers that are read in replies."""

import json
import logging
import re
from datetime import datetime
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from given import each_row, table
from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from lm_eval.config.evaluate_config import EvaluatorConfig
from places import at
from running import Scripted, evaluate, load, samples

from medtasks_utils.errors import UsageError
from medtasks_utils.harness.evaluation import Evaluation
from medtasks_utils.harness.in_process import Ends
from medtasks_utils.harness.prompt_checks import check_prompts
from medtasks_utils.harness.signing import unformatted_prompts
from medtasks_utils.inference.replies import Reply

ANSWERS = {
    "medmcqa_openmed": (r"\boxed{A}", r"\boxed{B}"),
    "medexqa_clinical_psychology": (r"\boxed{A}", r"\boxed{B}"),
    "medcalc_bench": ("<answer>5</answer>", "<answer>7</answer>"),
    "medhallu": (r"\boxed{0}", r"\boxed{1}"),
}
"""A task of each benchmark, with two answers in its form."""


def raise_exception(message):
    raise TemplateError(message)


class Templated(Scripted):
    """A model whose tokenizer renders a template as that of transformers does; it gives each prompt the same reply."""

    def __init__(self, template, reply="</think>A", **switches):
        super().__init__(lambda doc: reply)
        self.tokenizer = SimpleNamespace(chat_template=template, apply_chat_template=self.render)
        self.switches = switches

    def render(self, messages, chat_template=None, **settings):
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
        environment.globals["raise_exception"] = raise_exception
        environment.globals["strftime_now"] = datetime.now().strftime
        environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
        template = environment.from_string(chat_template or self.tokenizer.chat_template)
        return template.render(messages=messages, bos_token="<s>", eos_token="</s>", **settings)

    def apply_chat_template(self, chat_history, add_generation_prompt=True):
        return self.tokenizer.apply_chat_template(
            chat_history, add_generation_prompt=add_generation_prompt, **self.switches
        )


def asked(model, task="medmcqa_openmed", **options):
    """Run one example; return metadata, its sample under each filter, and the changes in its signature."""
    data = {load(task).benchmark.name: options}
    result = evaluate(task, model, "sample", data, limit=1, gen_kwargs="max_gen_toks=200")
    ((_, config),) = result["configs"].items()
    fields = config["metadata"]["signature"]["strict-match"].split("|")
    changes = "".join(field.removeprefix("rendered:") for field in fields if field.startswith("rendered:"))
    return config["metadata"], [samples(result, name)[0] for name in ("strict-match", "flexible-extract")], changes


def words_of(task):
    """Return the task's messages for the first example, with single spaces."""
    made = load(task)
    made.has_chat_template = True
    *_, messages = unformatted_prompts(made, [made.eval_docs[0]], {})
    return [" ".join(message["content"].split()) for message in messages]


# ---- what is asked


@each_row("chat_templates")
def test_words_that_a_chat_template_would_drop_are_moved_or_remarked_on(name, template, changes, says):
    metadata, (sample, _), changed = asked(Templated(template))
    assert (changed, metadata.get("remarks", [])) == (changes, says)
    prompt = sample["arguments"][0][0]
    assert bool(re.search("26 July? 2024|2024-07-26", prompt)) == ("date=" in changes), "the same day every day"
    if name == "escapes_json":
        prompt = "".join(json.loads(f"[{prompt.replace('}{', '},{')}]")[place]["text"] for place in (0, 1))
    prompt = " ".join(prompt.split())
    for text in words_of("medmcqa_openmed"):
        text = text.replace("<think>...</think>", "<think>") if name == "nemotron_2" else text
        assert (text in prompt) == (name != "loses_words" or "Choices" not in text)


@each_row("options_of_templates")
def test_options_and_switches_change_what_a_chat_template_makes(name, template, options, switches, facts):
    """A place is one in what :func:`asked` returns."""
    for place, expected in facts:
        assert at([[], *place], expected, lambda: asked(Templated(template, **switches), **options)) == expected


@each_row("switches_of_vllm")
def test_vllm_gets_the_switch_of_its_template(arguments, given, monkeypatch):
    monkeypatch.setattr("medtasks_utils.harness.evaluation.check_run", lambda *_: (None, {}))
    config = EvaluatorConfig(model="vllm", tasks=["medhallu"], model_args=arguments)
    assert {**Evaluation(config, ()).config.model_args, "chat_template_args": {}} == {**given, "chat_template_args": {}}


# ---- what is read


@each_row("marks_of_reasoning", *((*table("marks_of_reasoning")[0][:-1], task) for task in ANSWERS))
def test_nothing_is_read_in_the_reasoning_of_a_model_in_this_process(name, template, start, end, task):
    first, last = ANSWERS[task]
    _, cut, _ = asked(Templated(template, Reply(f"{start}So {first} maybe. But wait, option B", "length")), task)
    assert [(sample["answered"], sample["resps"], sample["ended"]) for sample in cut] == [(0.0, [[""]], ["length"])] * 2
    assert first in cut[0]["reasoning"][0]
    _, whole, _ = asked(Templated(template, Reply(f"{start}So {first}? No.{end}It is {last}", "stop")), task)
    assert all(sample["answered"] and last in sample["resps"][0][0].rpartition("No.")[2] for sample in whole)
    assert all(str(sample["filtered_resps"][0])[0] in last for sample in whole)
    assert name != "think_opened" or whole[0].get("format", 1.0) == 1.0


class HFLM:
    """A model of transformers with a token for each character, which ends a text by the token 0."""

    backend, eot_token_id = "causal", 0
    model = SimpleNamespace(generation_config=SimpleNamespace(eos_token_id=0))

    def __init__(self, text, is_whole):
        self.row, self.is_whole = [1, 1, *map(ord, text)], is_whole

    def tok_decode(self, tokens, skip_special_tokens=True):
        return "".join(chr(token) for token in tokens if token or not skip_special_tokens).rstrip("\0")

    def _model_generate(self, **settings):
        return np.array([[*self.row, *([0] * self.is_whole)]])


class VLLM:
    """A model of vLLM, which reports each reply; it generates in an order of its own."""

    generated = (("q", "B", "length", 2), ("p", "A", "stop", 1), ("p", "A", "abort", 3), ("r", "A", None, 4))

    def _model_generate(self, **settings):
        return [
            SimpleNamespace(outputs=[SimpleNamespace(text=text, finish_reason=end, token_ids=[0] * tokens)])
            for _, text, end, tokens in self.generated
        ]


def test_replies_of_vllm_end_as_it_reports_in_whatever_order_it_generates():
    model = VLLM()
    ends = Ends(model)

    def ask(requests):
        model._model_generate()
        for prompt, text, *_ in model.generated:
            ends.of(prompt, text)
        return ["A", "A", "B", "A"]

    replies = ends.replies(ask, [SimpleNamespace(args=(prompt, {})) for prompt in "ppqr"])
    facts = [("A", "stop", 1), ("A", "unknown", 3), ("B", "length", 2), ("A", "unknown", 4)]
    assert [(reply, reply.ended, reply.tokens) for reply in replies] == facts


@each_row("ends_in_this_process")
def test_the_mark_that_a_model_in_this_process_was_given_ends_its_reasoning(name, mark, text, is_whole, expected):
    """A prompt has two tokens. As lm_eval's class does, the model returns what follows the mark, or the whole."""
    model: Any = HFLM(text, is_whole)
    model.think_end_token = mark
    ends = Ends(model)

    def ask(requests):
        model._model_generate(context=np.zeros((1, 2)), max_length=len(text) + 2 + is_whole)
        after = text.rpartition("<" if mark == 60 else mark or "\0")[2].lstrip()
        ends.of("Q", after)
        return [after]

    (reply,) = ends.replies(ask, [SimpleNamespace(args=("Q", {}))])
    assert [str(reply), reply.ended, reply.tokens, reply.reasoning] == expected
    assert not {"_model_generate", "tok_decode"} & vars(model).keys()


@each_row("said_of_prompts")
def test_what_a_template_means_for_prompts_is_said_before_they_are_sent(
    name, is_used, length, prompt, generates, says, caplog
):
    model = type("VLLM", (), {"tokenizer": SimpleNamespace(chat_template="<think>"), "max_length": 9000})()
    task = Mock(instances=[Mock(args=(prompt,))], generates=generates, model=model, has_chat_template=is_used)
    task.task_name, task.remark = "t", logging.getLogger("lm_eval").warning
    task.config.generation_kwargs = {"max_gen_toks": length}
    check_prompts(task)
    assert caplog.messages == says
    task.config.generation_kwargs = {"max_gen_toks": 9000}
    if generates:
        with pytest.raises(UsageError, match="max_gen_toks=9,000"):
            check_prompts(task)
