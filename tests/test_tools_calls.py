"""Tool calls are read in every form that models write, and nothing else is taken for one."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medtasks_utils.tools import TOOLS as TOOLS_BY_NAME
from medtasks_utils.tools.calls import MAX_CALLS, Call, read_calls

BOTH: Any = TOOLS_BY_NAME
CALCULATOR: Any = {"calculator": TOOLS_BY_NAME["calculator"]}


def tagged(name: str, **arguments: Any) -> str:
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


OBJECT = '{"name": "calculator", "arguments": {"expression": "2 + 2"}}'
CALCULATED = Call("calculator", "2 + 2")
CODE = "x = 2\nprint(x)"
RUN = Call("python", CODE)

FORMS: list[tuple[str, list[Call], str]] = [
    # in tags
    (tagged("calculator", expression="2 + 2"), [CALCULATED], ""),
    (tagged("python", code=CODE) + tagged("calculator", expression="2 + 2"), [RUN, CALCULATED], ""),
    (tagged("code_interpreter", code=CODE), [RUN], ""),
    (tagged("calculator", expression="2 + 2").removesuffix("</tool_call>"), [CALCULATED], ""),
    ("<TOOL_CALL>" + tagged("calculator", expression="2 + 2")[11:-12] + "</TOOL_CALL>", [CALCULATED], ""),
    (f"<tool_call>\n```json\n{OBJECT}\n```\n</tool_call>", [CALCULATED], ""),
    ('<tool_call>{"name": "python", "arguments": {"code": "x = 2\nprint(x)"}}</tool_call>', [RUN], ""),
    ("<tool_call>{'name': 'calculator', 'arguments': {'expression': '2 + 2',},}</tool_call>", [CALCULATED], ""),
    ('<tool_call>{"name": "calculator", "parameters": {"expression": "2 + 2"}}</tool_call>', [CALCULATED], ""),
    ('<tool_call>{"name": "calculator", "arguments": "{\\"expression\\": \\"2 + 2\\"}"}</tool_call>', [CALCULATED], ""),
    ('<tool_call>{"name": "calculator", "arguments": {"expression": 4}}</tool_call>', [Call("calculator", "4")], ""),
    (
        '<tool_call>{"type": "function", "function": {"name": "calculator", "arguments": "{\\"expression\\": 1}"}}'
        "</tool_call>",
        [Call("calculator", "1")],
        "",
    ),
    (
        '<tool_call>[{"name": "calculator", "arguments": {"expression": "1"}},\n'
        '{"name": "calculator", "arguments": {"expression": "2"}}]</tool_call>',
        [Call("calculator", "1"), Call("calculator", "2")],
        "",
    ),
    (
        '<tool_call>{"name": "calculator", "arguments": {"expression": "1"}}\n'
        '{"name": "calculator", "arguments": {"expression": "2"}}</tool_call>',
        [Call("calculator", "1"), Call("calculator", "2")],
        "",
    ),
    (f"<tool_call>{OBJECT}\nIt is <answer>4</answer>", [CALCULATED], "\nIt is <answer>4</answer>"),
    (f"<tool_call>{OBJECT}\n\n```python\n{CODE}\n```", [CALCULATED, RUN], "\n\n"),
    (f"I write <tool_call> or code.\n```python\n{CODE}\n```", [RUN], "I write <tool_call> or code.\n"),
    # an object alone
    ('{"name": "calculator", "arguments": {"expression": "2 + 2"}}', [CALCULATED], ""),
    ('Let me see.\n{"name": "calculator", "arguments": {"expression": "2 + 2"}}', [CALCULATED], "Let me see.\n"),
    ('```json\n{"name": "calculator", "arguments": {"expression": "2 + 2"}}\n```', [CALCULATED], ""),
    # after a template's mark
    (f"Now.[TOOL_CALLS] [{OBJECT}, {OBJECT}]", [CALCULATED, CALCULATED], "Now.[TOOL_CALLS] "),
    (f"<|python_tag|>{OBJECT}", [CALCULATED], "<|python_tag|>"),
    # fenced code
    (f"```python\n{CODE}\n```", [RUN], ""),
    (f"Code:\n\n```py\n{CODE}\n```\ndone", [RUN], "Code:\n\n\ndone"),
    (f"```python\n{CODE}\n```\n{tagged('calculator', expression='2 + 2')}", [RUN, CALCULATED], "\n"),
    ("```python\nprint('<tool_call>')\n```", [Call("python", "print('<tool_call>')")], ""),
    # after reasoning
    (f"<think>{OBJECT}</think>{tagged('python', code=CODE)}", [RUN], f"<think>{OBJECT}</think>"),
]


@pytest.mark.parametrize(("reply", "calls", "rest"), FORMS)
def test_a_call_is_read_and_taken_out(reply: str, calls: list[Call], rest: str) -> None:
    assert read_calls(reply, BOTH) == (calls, rest)


NO_CALLS = [
    "",
    "<answer>4</answer>",
    "I will use <tool_call> to call the calculator.",
    "<think>" + tagged("calculator", expression="1"),
    f"<think>```python\n{CODE}\n```</think>",
    "</tool_call>",
    '{"answer": 4}',
    '{"name": "Mr. X", "age": 4}',
    '```json\n{"name": "Mr. X", "age": 4}\n```',
    "```bash\nls\n```",
    "```\nx = 2\n```",
    '{"name": "Mr. X, who',
    'as in {"name": "calculator", "arguments": {"expression": "2 + 2"}}',
    "The object [1, 2] or {3}.",
]


@pytest.mark.parametrize("reply", NO_CALLS)
def test_what_is_no_call_stays(reply: str) -> None:
    assert read_calls(reply, BOTH) == ([], reply)


def test_code_is_no_call_where_there_is_no_tool_for_it() -> None:
    reply = f"```python\n{CODE}\n```\n{tagged('calculator', expression='2 + 2')}"
    assert read_calls(reply, CALCULATOR) == ([CALCULATED], f"```python\n{CODE}\n```\n")


MALFORMED = [
    ("<tool_call>2 + 2</tool_call>", "a call is a JSON object"),
    ("<tool_call></tool_call>", "not valid JSON"),
    ('<tool_call>{"name": "calculator", "arguments": {"expression": "2 + 2"}</tool_call>', "not valid JSON"),
    ('<tool_call>{"name": "python", "arguments": {"code": "print("a")"}}</tool_call>', "not valid JSON"),
    ('{"name": "calculator", "arguments": {"expression": "2 + 2"', "not valid JSON"),
    ('```json\n{"name": "calculator", "arguments": {"expression": 2 + 2}}\n```', "not valid JSON"),
    ("<tool_call>" + "[" * 100_000 + "</tool_call>", "not valid JSON"),
    (tagged("abacus", expression="2 + 2"), "there is no tool 'abacus'; the tools are: python, calculator"),
    ('<tool_call>{"arguments": {"expression": "2 + 2"}}</tool_call>', "there is no tool ''"),
    (tagged("calculator"), 'the argument "expression" is missing'),
    ('<tool_call>{"name": "calculator", "arguments": ["2 + 2"]}</tool_call>', 'the argument "expression" is missing'),
    (tagged("calculator", expression=["2"]), 'the argument "expression" must be a string'),
    ("<tool_call>{'name': 'calculator', 'arguments': {'expression': 0x" + "f" * 9_000 + "}}</tool_call>", "a string"),
    ("```python\nx = 2", "the code block is not closed"),
]


@pytest.mark.parametrize(("reply", "problem"), MALFORMED)
def test_a_malformed_call_is_a_call_with_a_problem(reply: str, problem: str) -> None:
    (call,), rest = read_calls(reply, BOTH)
    assert call.argument == ""
    assert call.problem is not None
    assert problem in call.problem
    assert rest == ""


@pytest.mark.parametrize("malformed", ['{"name": "python", "arguments": {2}', '<tool_call>{"name": {"arguments": 2'])
def test_what_follows_a_malformed_call_is_read(malformed: str) -> None:
    calls, rest = read_calls(f"Now.\n{malformed}\n\n<answer>4</answer> {tagged('python', code=CODE)}", BOTH)
    assert [call.problem is None for call in calls] == [False, True]
    assert calls[1] == RUN
    assert rest == "Now.\n\n\n<answer>4</answer> "


def test_calls_beyond_the_limit_are_told_of() -> None:
    calls, _ = read_calls(tagged("calculator", expression="1") * (MAX_CALLS + 3), BOTH)
    assert len(calls) == MAX_CALLS + 1
    assert all(call.problem is None for call in calls[:-1])
    assert calls[-1].problem is not None
    assert calls[-1].problem.startswith("3 more calls were not run")


def test_arguments_can_be_written_as_utf_8() -> None:
    (call,), _ = read_calls('<tool_call>{"name": "python", "arguments": {"code": "\\ud800"}}</tool_call>', BOTH)
    assert call.argument == "\ufffd"
    assert read_calls("```python\n\ud800\n```", BOTH)[0] == [Call("python", "\ufffd")]


TOKENS = st.sampled_from(
    [
        *("<tool_call>", "</tool_call>", "<think>", "</think>", "```", "```python", "```json", "\n", " ", "\t", "x"),
        *('{"name": "calculator"', '"arguments": {', '"expression": "1"', "{", "}", "[", "]", '"', "'", ",", ":", "\\"),
        *('{"name": "python", "arguments": {"code": "1"}}', "\ud800", "\x00", "print(1)", "1e999", "\r"),
    ]
)


@given(st.lists(TOKENS, max_size=40).map("".join))
def test_no_reply_breaks_the_reading(reply: str) -> None:
    for tools in (BOTH, CALCULATOR):
        calls, rest = read_calls(reply, tools)
        assert len(rest) <= len(reply)
        for call in calls:
            assert call.problem or call.name in tools
            assert not (call.argument and call.problem)
        if not calls:
            assert rest == reply


@given(
    st.sampled_from(["python", "calculator"]),
    st.text(st.characters(exclude_categories=["Cs"])),
    st.booleans(),
    st.sampled_from(["<tool_call>%s</tool_call>", "%s", "```json\n%s\n```", "Now:\n%s", "<think>%s</think>%s"]),
)
def test_any_argument_survives_as_json(name: str, argument: str, as_string: bool, form: str) -> None:
    key = TOOLS_BY_NAME[name].argument
    arguments: Any = {key: argument}
    call = json.dumps({"name": name, "arguments": json.dumps(arguments) if as_string else arguments})
    if "<" in call:  # a tag within it could end a block, or hide it
        return
    assert read_calls(form.replace("%s", call), BOTH)[0] == [Call(name, argument)]


HOSTILE = (
    *("<tool_call>", "</tool_call>", "<tool_call>{", '<tool_call>{"name": "', "<tool_call>{}{}", "{} ", '{"name": ['),
    *('{"name": "x", "arguments": [1,\n', '\n{"name": "calculator", "arguments": ', '\n{"name": "x"}', "\n```", "``` "),
    *("\n```python\n", "\n```json\n{", "\n\t \t", "[", "[[{", "'", '"\\', "\ud800", "<think>", "<think></think>", "9"),
)


@pytest.mark.parametrize("unit", HOSTILE)
@pytest.mark.parametrize(
    "frame", ["%s", "<tool_call>%s</tool_call>", '{"name": "python", "arguments": {"code": "%s', "```python\n%s"]
)
def test_two_hundred_thousand_hostile_characters_are_read_quickly(unit: str, frame: str) -> None:
    reply = frame.replace("%s", unit * (200_000 // len(unit)))
    started = time.process_time()
    calls, rest = read_calls(reply, BOTH)
    assert time.process_time() - started < 5.0
    assert len(calls) <= MAX_CALLS + 1 and len(rest) <= len(reply)
