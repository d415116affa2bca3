"""Tool calls read out of a reply, in the forms in which models write them.

- ``<tool_call>{"name": ..., "arguments": {...}}</tool_call>``, one or several; the last may lack its closing tag.
- A JSON object of that kind alone: at the start of a line, or in a fenced block (``json``, or without a language).
- Such objects after ``[TOOL_CALLS]`` or ``<|python_tag|>``, as Mistral's and Llama's chat templates have it.
- A fenced block in a language that is a tool's (``python``, ``py``, ``tool_code``).

Also taken: a list of objects, the object under ``function`` (as OpenAI writes it), ``parameters`` for ``arguments``,
arguments as a JSON string or as the bare argument, line breaks within a JSON string, a Python literal for JSON (single
quotes, trailing commas). What was meant as a call and cannot be understood is a call with a ``problem``, which the
model is told. Calls in reasoning (``<think>``) are none. All of it is linear in the length of the reply, and no part of
a reply is evaluated.
"""

import ast
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from medtasks_utils.extraction.think import final_span
from medtasks_utils.writing import printable

from .tool import Tool

MAX_CALLS = 16
"""Calls of one reply that are run; the rest is told the model as one failed call."""

_OBJECT = r"""(?:\[\s{0,20})?\{\s{0,20}["'](?:name|arguments|parameters|function|type|id)["']"""
_FENCE = r"^[ \t]*```[ \t]{0,4}(?P<language>\w{0,20})[ \t\r]{0,20}$"
_OPENING = re.compile(
    rf"(?P<tag><tool_call>)|{_FENCE}"
    rf"|(?:^[ \t]*|\[TOOL_CALLS\]\s{{0,20}}|<\|python_tag\|>\s{{0,20}})(?P<object>{_OBJECT})",
    re.IGNORECASE | re.MULTILINE,
)
_NEXT_TAG = re.compile("<(?P<closes>/?)tool_call>", re.IGNORECASE)
_NEXT_FENCE = re.compile(_FENCE, re.MULTILINE)
_ARGUMENTS = re.compile("""["'](?:arguments|parameters)["']""")
JSON = json.JSONDecoder(strict=False)  # models leave line breaks in strings of code unescaped
_MOST_OBJECTS = 100  # objects outside of tags and fences that are looked at, so that no reply takes quadratic time
_MAX_LITERAL = 20_000  # characters read as a Python literal
_PARAGRAPH = re.compile(r"\s*(?:[^\n]|\n(?!\n))*")
_LEAD = re.compile(r"\s*(?:```\w{0,20}\s*)?")
_BETWEEN = re.compile(r"[ \t\r\n,;]*")
_LARGEST = 1e308  # of a number as an argument
_FORM = '{"name": ..., "arguments": {...}}'


Tools = Mapping[str, Tool | type[Tool]]
"""The tools that there are, by name."""


@dataclass(frozen=True)
class Call:
    """A call as a reply makes it.

    Attributes:
        name: of the tool that is called; where there is no such tool, the name that the reply gives.
        argument: the text for the tool; where there is a problem, what cannot be read, or nothing.
        problem: why it cannot be run, for the model to read; None if it can.
    """

    name: str
    argument: str = ""
    problem: str | None = None


ReadCalls = Callable[[str, Tools], tuple[list[Call], str]]
LocatedCalls = tuple[list[Call], int, int]
"""Calls that stand together in a text, the position of their first character, and that after their last."""


def read_calls(reply: str, tools: Tools) -> tuple[list[Call], str]:
    """The calls of a whole reply, reasoning included, in their order, and the reply without them."""
    return take_out(reply, lambda text: _located(text, tools))


def take_out(reply: str, locate: Callable[[str], Iterable[LocatedCalls]]) -> tuple[list[Call], str]:
    """Return the calls that ``locate`` finds in a reply's text after its reasoning, and the reply without them."""
    begin, end = final_span(reply)
    text, done = reply[begin:end], 0
    calls: list[Call] = []
    rest = [reply[:begin]]
    for located, start, stop in locate(text):
        calls += located
        rest.append(text[done:start])
        done = stop
    return _at_most(calls), "".join([*rest, text[done:], reply[end:]])


def _located(text: str, tools: Tools) -> Iterator[LocatedCalls]:
    """Yield the calls of each tag, fence and object, with where they start and stop."""
    position = objects = 0
    while opening := _OPENING.search(text, position):
        start = max(opening.start(), opening.start("object"))
        if opening["tag"]:
            found, position = _in_tag(text, opening.end(), tools)
        elif opening["object"] is None:
            found, position = _in_fence(text, opening, tools)
        elif objects < _MOST_OBJECTS:
            objects += 1
            found, length = _calls_at_head(text[start:], tools)
            position = start + length
            found = found if _ARGUMENTS.search(text, start, position) else []
        else:
            break
        if found:
            yield found, start, position


def _at_most(calls: list[Call]) -> list[Call]:
    """As many calls as are run of one reply; of more, one with the problem."""
    if len(calls) <= MAX_CALLS:
        return calls
    problem = f"{len(calls) - MAX_CALLS} more calls were not run: at most {MAX_CALLS} are run of one reply"
    return [*calls[:MAX_CALLS], Call("", problem=problem)]


def _in_tag(text: str, start: int, tools: Tools) -> tuple[list[Call], int]:
    """The calls after an opening tag, and where they end: with the closing one or, if it lacks, with themselves."""
    following = _NEXT_TAG.search(text, start)
    content = text[start : following.start() if following else len(text)]
    calls, length = _calls_at_head(content, tools)
    if following and following["closes"]:
        return calls, following.end()
    return (calls, start + length) if "{" in content else ([], start)  # else the tag is only spoken of


def _in_fence(text: str, opening: re.Match[str], tools: Tools) -> tuple[list[Call], int]:
    """The calls of a fenced block, and where it ends; of a block that is no call and not closed, with its head."""
    language = opening["language"].lower()
    name = next((tool.name for tool in tools.values() if language in tool.languages), None)
    closing = _NEXT_FENCE.search(text, opening.end())
    end = closing.start() if closing else len(text)
    content = text[opening.end() : end]
    if closing is None or closing["language"]:
        unclosed = Call(name or "", problem="the code block is not closed with ```")
        return ([unclosed], end) if name else ([], opening.end())
    if name:
        return [Call(name, printable(content.strip("\r\n")))], closing.end()
    is_call = (
        language in ("", "json", "tool_call") and re.match(rf"\s*{_OBJECT}", content) and _ARGUMENTS.search(content)
    )
    return _calls_at_head(content, tools)[0] if is_call else [], closing.end()


def _calls_at_head(content: str, tools: Tools) -> tuple[list[Call], int]:
    """The calls that a text begins with, and where they end: what is malformed is taken to end with its paragraph."""
    values: list[Any] = []
    start = position = _LEAD.match(content).end()  # type: ignore[union-attr] # it matches anything
    try:
        while not values or content[position : position + 1] in ("{", "["):
            value, end = JSON.raw_decode(content, position)
            values += value if isinstance(value, list) else [value]
            position = _BETWEEN.match(content, end).end()  # type: ignore[union-attr]
    except (ValueError, RecursionError) as error:
        value, end = _literal(content[start:].strip()), len(content)
        if value is None:
            paragraph = _PARAGRAPH.match(content)
            return [Call("", problem=not_json(error))], paragraph.end() if paragraph else end
        values = value if isinstance(value, list) else [value]
    return [understood(each, tools) for each in values] or [Call("", problem=f"an empty call; write {_FORM}")], end


def understood(found: Any, tools: Tools) -> Call:
    """The call that a JSON value is."""
    if isinstance(found, dict) and isinstance(found.get("function"), dict):
        found = found["function"]
    if not isinstance(found, dict):
        return Call("", problem=f"a call is a JSON object {_FORM}, not {type(found).__name__}")
    given = found.get("name", found.get("function"))
    given = printable(given.strip()[:60]) if isinstance(given, str) else ""
    tool = next((tool for tool in tools.values() if given.lower() in (tool.name, *tool.aliases)), None)
    if tool is None:
        return Call(given, problem=f"there is no tool {given!r}; the tools are: {', '.join(tools)}")
    argument, problem = _argument(found.get("arguments", found.get("parameters")), tool.argument)
    return Call(tool.name, argument, problem)


def _argument(given: Any, wanted: str) -> tuple[str, str | None]:
    """The text for a tool out of what a call gives as its arguments, or the problem with it."""
    if isinstance(given, str):
        try:
            parsed = JSON.decode(given)
        except (ValueError, RecursionError) as error:
            if given.lstrip().startswith("{"):  # else it is the bare argument
                return given, not_json(error)
            parsed = None
        given = parsed if isinstance(parsed, dict) else {wanted: given}
    if not isinstance(given, dict) or wanted not in given:
        return "", f'the argument "{wanted}" is missing: write "arguments": {{"{wanted}": "..."}}'
    value = given[wanted]
    if type(value) in (int, float) and abs(value) < _LARGEST:
        value = repr(value)
    if not isinstance(value, str):
        return "", f'the argument "{wanted}" must be a string'
    return printable(value), None


def _literal(content: str) -> Any:
    if len(content) > _MAX_LITERAL or not content.startswith(("{", "[")):
        return None
    try:
        return ast.literal_eval(content)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def not_json(error: Exception) -> str:
    """What the model is told of a call that JSON's reader does not take."""
    why = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply, or a number too long"
    return f"the call is not valid JSON ({why}); write {_FORM}, with quotes and backslashes in strings escaped"
