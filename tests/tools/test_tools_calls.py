"""Tool calls are read in every form that models write, and nothing else is taken for one."""

import json

from given import each_row, table
from hypothesis import given
from hypothesis import strategies as st
from places import as_its_row_says

from medtasks_utils.tools import TOOLS
from medtasks_utils.tools.calls import Call, read_calls

CALCULATOR = {"calculator": TOOLS["calculator"]}
CALL = '{"name": "calculator", "arguments": {"expression": "1"}}'


@each_row("tool_calls")
def test_a_call_is_read_and_taken_out_and_all_else_stays(reply, calls, rest):
    assert read_calls(reply, TOOLS) == ([Call(*call) for call in calls], rest)


test_a_function_of_the_tools_returns_what_its_row_says = as_its_row_says("functions_of_tools")


@each_row("tool_calls_malformed", ["<tool_call>" + "[" * 100_000 + "</tool_call>", "not valid JSON"])
def test_a_malformed_call_is_a_call_with_a_problem(reply, problem):
    (call,), rest = read_calls(reply, TOOLS)
    assert (call.argument, rest) == ("", "")
    assert problem in str(call.problem)


@each_row("numbers_of_calls")
def test_sixteen_calls_of_a_reply_are_run_and_a_hundred_read(name, written, more, left):
    calls, rest = read_calls(f"{CALL}\nx\n" * written, TOOLS)
    told = Call("", problem=f"{more} more calls were not run: at most 16 are run per reply")
    assert calls == [Call("calculator", "1")] * 16 + [told] * bool(more)
    assert rest.count(CALL) == left


@given(st.lists(st.sampled_from(table("pieces_of_calls")), max_size=40).map("".join))
def test_any_reply_is_read_without_an_error(reply):
    for tools in (TOOLS, CALCULATOR):
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
def test_any_argument_survives_as_json(name, argument, as_string, form):
    key = TOOLS[name].argument
    arguments = {key: argument}
    call = json.dumps({"name": name, "arguments": json.dumps(arguments) if as_string else arguments})
    if "<" in call:  # a tag within it could end a block, or hide it
        return
    assert read_calls(form.replace("%s", call), TOOLS)[0] == [Call(name, argument)]
