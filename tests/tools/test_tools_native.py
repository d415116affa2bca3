"""Native function calls: what servers and chat templates are sent, what they give, and that text comes to the same."""

import json
import logging
import re
from itertools import starmap
from types import SimpleNamespace
from typing import Any

import pytest
from given import each_row, table
from jinja2.sandbox import ImmutableSandboxedEnvironment
from local_server import Fault, LocalServer, completion
from running import Scripted, evaluate, samples
from scripts import in_turn, refusal
from tool_caller import run, turn

from medtasks_utils.errors import MedtasksError, UsageError
from medtasks_utils.tools import TOOLS

ANSWER = "<answer>42</answer>"


def config(result):
    (found,) = result["configs"].values()
    return found["metadata"]


# ---- over a server


def test_parallel_calls_are_answered_in_order_with_their_ids_and_all_is_counted():
    calls = table("parallel_calls")

    def answer(body):
        return completion("I compute.", tool_calls=calls) if turn(body["messages"]) == 1 else ANSWER

    with LocalServer(answer) as server:
        result = run(server, "medcalc_bench_tools", limit=2, options={"max_turns": 2})
    first, second = (next(body for body in server.requests if turn(body["messages"]) == number) for number in (1, 2))
    assert first["tools"] == second["tools"] == [tool.schema() for tool in TOOLS.values()]
    assert not re.search("<tool_call>|calculator|replies", json.dumps(first["messages"]))
    asked, *results = second["messages"][-5:]
    assert (asked["role"], asked["content"]) == ("assistant", "I compute.")
    assert asked["tool_calls"][3] == calls[3], "what a server adds to a call is its own"
    assert results == table("results_of_parallel_calls")
    assert config(result)["sandbox"].startswith("plain Python, confined by ")
    for sample in samples(result):
        assert (sample["turns"], sample["tool_calls"], sample["tool_errors"]) == (2, 4, 2)
        assert sample["resps"] == [[ANSWER]]
    assert "tool_format=native" in json.dumps(config(result)["signature"])


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", None])
def test_reasoning_goes_back_with_its_calls_in_the_field_that_the_server_sent_it_in(field):
    """A server that refuses its own message without it, as DeepSeek's does, and one that never sends any."""

    def answer(body):
        asked = [message for message in body["messages"] if message["role"] == "assistant"]
        if any(message.keys() - {"role", "content", "tool_calls"} != {*filter(None, [field])} for message in asked):
            return refusal(400, "Missing reasoning_content")
        reasoning: dict[str, Any] = {field: f"Step {len(asked)}."} if field else {}
        return completion(None, tool_calls=table("parallel_calls"), **reasoning) if len(asked) < 2 else ANSWER

    with LocalServer(answer) as server:
        result = run(server, "medcalc_bench_tools", limit=1)
    asked = [message for message in server.requests[-1]["messages"] if message["role"] == "assistant"]
    assert [message.get(field) for message in asked] == (["Step 0.", "Step 1."] if field else [None] * 2)
    assert samples(result)[0]["resps"] == [[ANSWER]]


@each_row("results_refused")
def test_a_server_that_refuses_the_results_of_calls_ends_the_run_with_the_way_out(name, status, is_said):
    answers = in_turn(completion(None, tool_calls=table("parallel_calls")), refusal(status, "no role tool"))
    with LocalServer(answers) as server, pytest.raises(MedtasksError) as raised:
        run(server, "medcalc_bench_tools", limit=1)
    assert ("set tool_format=text" in str(raised.value)) == is_said and "no role tool" in str(raised.value)


@each_row("servers_tried_with_tools")
def test_tool_format_auto_is_decided_by_a_trial_request(name, with_tools, without, resolved, line, caplog, monkeypatch):
    """What the server says to requests with and without tools, one after another, is a status and a body each."""
    tools, none = (in_turn(*starmap(Fault, answers)) for answers in (with_tools, without))
    monkeypatch.setattr("medtasks_utils.inference.pace.BACKOFF", 0.0)
    server = LocalServer(lambda body: ANSWER, probed=lambda body: (tools if "tools" in body else none)(body))
    with caplog.at_level(logging.INFO, "lm_eval"), server:
        result = run(server, limit=1, model_args={"max_retries": 3})
    assert (line in caplog.text, config(result)["tool_format"]) == (True, resolved)
    (body,) = server.requests
    assert ("tools" in body) == (resolved == "native")
    assert ("<tool_call>" in body["messages"][0]["content"]) == (resolved == "text")


@pytest.mark.parametrize("fault", [Fault(500), Fault(503), refusal(401, "no")])
def test_a_server_that_does_not_say_whether_it_takes_tools_ends_the_run(fault):
    """Calls by text would be another measurement, unless they are asked for."""
    with LocalServer(lambda body: ANSWER, probed=lambda body: fault) as server:
        with pytest.raises(MedtasksError):
            run(server, limit=1)
        assert not server.requests
        about = config(run(server, limit=1, options={"tool_format": "text"}))
    assert "tools" not in server.requests[0]
    assert not any("called in the text" in remark for remark in about.get("remarks", ()))


# ---- in this process

HERMES = """{% macro text(m) %}<|im_start|>{{m.role}}
{{m.content}}{% for c in m.tool_calls or [] %}
<tool_call>
{"name": "{{c.function.name}}", "arguments": {{c.function.arguments | tojson}}}
</tool_call>{% endfor %}<|im_end|>
{% endmacro %}{% if tools %}<|im_start|>system
Tools, as {"name": <name>, "arguments": <object>} within <tool_call></tool_call>:{% for t in tools %}
{{t | tojson}}{% endfor %}<|im_end|>
{% endif %}{% for m in messages %}{% if m.role == 'tool' %}<|im_start|>user
<tool_response>
{{m.content}}
</tool_response><|im_end|>
{% else %}{{text(m)}}{% endif %}{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
LLAMA = """{% if tools %}Respond in the format {"name": function name, "parameters": dictionary}.
{% for t in tools %}{{t | tojson(indent=4)}}

{% endfor %}{% endif %}{% for m in messages %}<|{{m.role}}|>

{% if m.tool_calls %}{% if m.tool_calls | length != 1 %}{{raise_exception("single tool-calls only")}}{% endif %}
{"name": "{{m.tool_calls[0].function.name}}", "parameters": {{m.tool_calls[0].function.arguments | tojson}}}{% else %}
{{m.content}}{% endif %}<|eot_id|>{% endfor %}{% if add_generation_prompt %}<|assistant|>

{% endif %}"""
MISTRAL = """{% for m in messages %}{% if m.role == 'tool' %}[TOOL_RESULTS] {"content": {{m.content}}}[/TOOL_RESULTS]
{%- elif m.tool_calls %}[TOOL_CALLS] [
{%- for c in m.tool_calls %}{{c.function | tojson}}{{", " if not loop.last}}
{%- endfor %}]</s>{% elif m.role == 'assistant' %} {{m.content}}</s>{% else %}
{%- if tools and loop.last %}[AVAILABLE_TOOLS] {{tools | tojson}}[/AVAILABLE_TOOLS]{% endif %}
{#- -#}[INST] {{m.content}}[/INST]
{%- endif %}{% endfor %}"""
DEEPSEEK = """{{(tools or []) | tojson}}{% for m in messages %}{% for c in m.tool_calls or [] %}
<｜tool▁call▁begin｜>function<｜tool▁sep｜>{{c.function.name}}
{{c.function.arguments | tojson}}<｜tool▁call▁end｜>{% endfor %}<{{m.role}}>{{m.content}}{% endfor %}"""
PLAIN = "{% for m in messages %}<{{m.role}}>{{m.content}}{% endfor %}"
FORGOTTEN = HERMES.replace("\n<tool_call>\n", "Now: <|python_tag|>").replace("\n</tool_call>", "")
DEAF = "{{(tools or []) | tojson}}" + PLAIN.replace("in messages", "in messages if m.role != 'tool'")


def refuse(message):
    raise ValueError(message)


class InProcess(Scripted):
    """A model in this process with a chat template, whose reply is a function of the turn."""

    def __init__(self, template, script):
        super().__init__(script)
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
        environment.filters["tojson"] = lambda value, **settings: json.dumps(value, ensure_ascii=False, **settings)
        render = environment.from_string(template, {"raise_exception": refuse}).render
        self.tokenizer = SimpleNamespace(apply_chat_template=lambda chat, **given: render(messages=chat, **given))

    def apply_chat_template(self, chat_history, add_generation_prompt=True):
        return self.tokenizer.apply_chat_template(chat_history, add_generation_prompt=add_generation_prompt)

    def tok_encode(self, text, add_special_tokens):
        return text.split("<|python_tag|>")

    def tok_decode(self, tokens):
        return "".join(tokens)

    def reply(self, request):
        return self.answer(len(self.batches))


CALL = '{"name": "calculator", "arguments": {"expression": "6 * 7"}}'
FORMS = {
    "hermes": (HERMES, f"Now.\n<tool_call>\n{CALL}\n</tool_call>" * 2, 2, "<|im_start|>assistant\n"),
    "llama": (LLAMA, CALL.replace("arguments", "parameters"), 1, "<|assistant|>\n\n"),
    "mistral": (MISTRAL, f"[TOOL_CALLS] [{CALL}, {CALL}]", 2, "[/TOOL_RESULTS]"),
    "deepseek": (
        DEEPSEEK,
        '<｜tool▁call▁begin｜>function<｜tool▁sep｜>calculator\n{"expression": "6 * 7"}<｜tool▁call▁end｜>',
        1,
        "<tool>42",
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_tool_template_is_given_tools_calls_and_results(form):
    template, call, number, end = FORMS[form]
    model = InProcess(template, lambda turn: call if turn == 1 else ANSWER)
    result = evaluate("medcalc_bench_calculator", model, limit=2, confirm_run_unsafe_code=False)
    assert config(result)["tool_format"] == "native"
    for before, after, sample in zip(*model.batches, samples(result), strict=True):
        assert "evaluates one arithmetic expression" in before
        assert "end your reply" not in before
        asked, *_, given = sample["transcript"][-2 - number : -1]
        function = {"name": "calculator", "arguments": {"expression": "6 * 7"}}
        ids = ["call00001", "call00002"][:number]
        assert asked["tool_calls"] == [{"type": "function", "function": function, "id": each} for each in ids]
        assert (given["role"], given["content"], given["tool_call_id"]) == ("tool", "42", ids[-1])
        assert after.count("6 * 7") == number and after.endswith(end)
        assert "42" in after.partition("6 * 7")[2]
        assert (sample["turns"], sample["tool_calls"], sample["tool_errors"]) == (2, number, 0)


@pytest.mark.parametrize(
    "template", [PLAIN, HERMES.replace("{{t | tojson}}", ""), DEAF, FORGOTTEN, "{{raise_exception('no')}}"]
)
def test_without_a_tool_template_that_can_be_read_calls_are_text(template):
    with pytest.raises(UsageError, match=r"tool_format=native.*chat template.*text"):
        evaluate(
            "medcalc_bench_calculator", InProcess(template, str), metadata={"medcalc_bench": {"tool_format": "native"}}
        )
    if "raise" not in template:
        model = InProcess(template, lambda turn: f"<tool_call>{CALL}</tool_call>" if turn == 1 else ANSWER)
        result = evaluate("medcalc_bench_calculator", model, limit=1)
        assert config(result)["tool_format"] == "text"
        assert "<tool_response>\n42\n</tool_response>" in model.batches[1][0]
