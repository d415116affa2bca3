"""Find tool calls in the text of a reply, in the forms that models use:

- ``<tool_call>{"name": ..., "arguments": {...}}</tool_call>``, one or more; the closing tag may be missing.
- The same JSON object alone: at the start of a line, or in a fenced code block (``json``, ``tool_call``, or without a
  language).
- The same objects after ``[TOOL_CALLS]`` or a token such as ``<|python_tag|>``, as in the chat templates of Mistral
  and Llama.
- A name, and its arguments as a JSON object or in tags, between the marks of DeepSeek, GLM, gpt-oss, Kimi, Llama,
  MiniMax, Mistral or Qwen Coder. Servers that should parse these often leave them in the text.
- A fenced code block in a language of a tool, such as ``python`` or ``tool_code``.

Also accepted: a list of objects, the object under ``function`` (as in OpenAI's format), ``parameters`` instead of
``arguments``, arguments as a JSON string or as the bare argument, line breaks within a JSON string, and a Python
literal instead of JSON (single quotes, trailing commas). A malformed call is returned as a call with a ``problem``, a
message to the model. Calls within reasoning (``<think>``) are ignored. Parsing takes time linear in the length of the
reply, and does not evaluate any of it.
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from medtasks_utils.extraction.think import final_span
from medtasks_utils.writing import printable

from .tool import Tool

MAX_CALLS = 16
"""Maximum number of calls to run per reply; the rest fail, with a message to the model."""

_OBJECT = r"""(?:\[\s{0,20})?\{\s{0,20}["'](?:name|arguments|parameters|function|type|id)["']"""
_FENCE = r"^[ \t]*```[ \t]{0,4}(?P<language>\w{0,20})[ \t\r]{0,20}$"
_MARKS = (
    r"(?:(?:<[|｜]tool[^<>{}]{1,40}[|｜]>(?:function(?=<))?"
    r"|(?:<\|channel\|>|assistant)?commentary[ ]to=|\bto=(?=functions\.)"
    r"|\[TOOL_CALLS\]|<[^<>\s]{0,20}(?:function=|invoke[ ]name=\"|tool_call>|function_calls>))\s{0,9}){1,4}"
)
_AFTER_NAME = (
    r"(?:\s{0,9}(?:<[|｜][^<>{}]{1,40}[|｜]>|\[(?:CALL_ID\]\w{1,20}\[)?ARGS\]|(?:```)?json|commentary|\"?>))*\s{0,9}"
)
_PARAMETER = r"<[^<>\s]{0,20}(?:parameter(?:=|[ ]name=\")|arg_key>)"
_NAMED = rf"{_MARKS}(?P<name>[\w.:]{{1,60}}?){_AFTER_NAME}(?={{|{_PARAMETER})"
_KEY = re.compile(rf"{_PARAMETER}(?P<key>\w+)(?:[^<>]{{0,40}}>|</arg_key>\s{{0,9}}<arg_value>)", re.IGNORECASE)
_END_OF_VALUE = re.compile(r"</[^<>\s]{0,20}(?:parameter|arg_value)>\s{0,9}", re.IGNORECASE)
_END_MARKS = re.compile(
    r"(?:\s{0,9}(?:```(?!\w)|<[|｜](?:tool[^<>{}]{1,40}end|call)[|｜]>"
    r"|</[^<>\s]{0,20}(?:function|invoke|tool_call|function_calls)>))*"
)
_OPENING = re.compile(
    rf"{_NAMED}|(?P<tag><tool_call>)|{_FENCE}|(?:^[ \t]*|(?:\[TOOL_CALLS\]|\|>)\s{{0,20}})(?P<object>{_OBJECT})",
    re.IGNORECASE | re.MULTILINE,
)
_NEXT_TAG = re.compile("<(?P<closes>/?)tool_call>", re.IGNORECASE)
_NEXT_FENCE = re.compile(_FENCE, re.MULTILINE)
_ARGUMENTS = re.compile("""["'](?:arguments|parameters)["']""")
JSON = json.JSONDecoder(strict=False)  # models leave line breaks in strings of code unescaped
_MOST_OBJECTS = 100  # maximum number of objects parsed outside tags and fences, so that no reply takes quadratic time
_MAX_LITERAL = 20_000  # maximum length of a Python literal, or of an argument in tags, in characters
_PARAGRAPH = re.compile(r"\s*(?:[^\n]|\n(?!\n))*")
_BROKEN = re.compile(rf"\s*(?:{_PARAMETER})?(?:[^\n<]|\n(?!\n))*")  # up to a mark, after which there may be an answer
_LEAD = re.compile(r"\s*(?:```\w{0,20}\s*)?")
_BETWEEN = re.compile(r"[ \t\r\n,;]*")
_LARGEST = 1e308  # a number is accepted as an argument if its absolute value is below this
_NAMESPACE = re.compile(r"^(?:functions?|tools?|default_api)[.:]|:\d+$")  # around a tool's name, as in its description
_FORM = '{"name": ..., "arguments": {...}}'


Tools = Mapping[str, Tool | type[Tool]]
"""The available tools, or their classes, by name."""


class Call(NamedTuple):
    """A call in a reply.

    Attributes:
        name: the tool's name; for an unknown tool, up to 60 characters as written; empty without a name.
        argument: the argument; if there is a problem, the text that could not be parsed, or an empty string.
        problem: a message to the model on why the call cannot be run; None if it can.
    """

    name: str = ""
    argument: str = ""
    problem: str | None = None


def read_calls(reply: str, tools: Tools) -> tuple[list[Call], str]:
    """Return the calls in a reply after its reasoning, in order, and the reply without them.

    Beyond :data:`MAX_CALLS`, a single call with a problem replaces the rest.
    """
    begin, end = final_span(reply)
    text, done = reply[begin:end], 0
    calls: list[Call] = []
    rest = [reply[:begin]]
    for located, start, stop in _located(text, tools):
        calls += located
        rest.append(text[done:start])
        done = stop
    if len(calls) > MAX_CALLS:
        problem = f"{len(calls) - MAX_CALLS} more calls were not run: at most {MAX_CALLS} are run per reply"
        calls[MAX_CALLS:] = [Call(problem=problem)]
    return calls, "".join([*rest, text[done:], reply[end:]])


def _located(text: str, tools: Tools) -> Iterator[tuple[list[Call], int, int]]:
    """Yield the calls in each tag, code block or JSON object that contains any, with their start and end."""
    position = objects = 0
    while opening := _OPENING.search(text, position):
        start = max(opening.start(), opening.start("object"))
        if opening["tag"]:
            calls, position = _in_tag(text, opening.end(), tools)
        elif opening["language"] is not None:
            calls, position = _in_fence(text, opening, tools)
        elif objects >= _MOST_OBJECTS:
            break
        elif opening["name"]:
            objects += 1
            calls, position = _named(text, opening, tools)
        else:
            objects += 1
            calls, length = _calls_at_head(text[start:], tools)
            position = start + length
            calls = calls if _ARGUMENTS.search(text, start, position) else []
        if calls:
            yield calls, start, position


def _named(text: str, opening: re.Match[str], tools: Tools) -> tuple[list[Call], int]:
    """Return the call of the tool that is named between marks, and the end of its marks."""
    arguments, end = {}, opening.end()
    while (key := _KEY.match(text, end)) and (close := _END_OF_VALUE.search(text, key.end(), key.end() + _MAX_LITERAL)):
        arguments[key["key"]], end = text[key.end() : close.start()].strip("\r\n"), close.end()
    if not arguments:
        try:
            arguments, end = JSON.raw_decode(text, opening.end())
        except (ValueError, RecursionError) as error:
            broken = _BROKEN.match(text, opening.end()).end()  # type: ignore[union-attr] # it matches anything
            return [Call(problem=_not_json(error))], _END_MARKS.match(text, broken).end()  # type: ignore[union-attr]
    end = _END_MARKS.match(text, end).end()  # type: ignore[union-attr]
    return [understood({"name": opening["name"], "arguments": arguments}, tools)], end


def _in_tag(text: str, start: int, tools: Tools) -> tuple[list[Call], int]:
    """Return the calls after an opening tag, and their end: after the closing tag or, without one, after the JSON.

    There are no calls if the tag is not closed and no JSON object follows.
    """
    following = _NEXT_TAG.search(text, start)
    content = text[start : following.start() if following else len(text)]
    calls, length = _calls_at_head(content, tools)
    if following and following["closes"]:
        return calls, following.end()
    if "{" not in content:  # the reply only mentions the tag
        return [], start
    return calls, start + length


def _in_fence(text: str, opening: re.Match[str], tools: Tools) -> tuple[list[Call], int]:
    """Return the calls in a fenced code block, and the position of its end.

    An unclosed block in a language of no tool ends with its opening line, so that calls in the text after it are found.
    """
    language = opening["language"].lower()
    name = next((tool.name for tool in tools.values() if language in tool.languages), None)
    closing = _NEXT_FENCE.search(text, opening.end())
    if closing is None or closing["language"]:
        if name is None:
            return [], opening.end()
        return [Call(name, problem="the code block is not closed with ```")], closing.start() if closing else len(text)
    content = text[opening.end() : closing.start()]
    if name:
        return [Call(name, printable(content.strip("\r\n")))], closing.end()
    is_call = (
        language in ("", "json", "tool_call") and re.match(rf"\s*{_OBJECT}", content) and _ARGUMENTS.search(content)
    )
    return _calls_at_head(content, tools)[0] if is_call else [], closing.end()


def _calls_at_head(content: str, tools: Tools) -> tuple[list[Call], int]:
    """Return the calls at the beginning of a text, and their end.

    Text that is neither JSON nor a Python literal is one malformed call, which extends to the end of its paragraph. A
    Python literal extends to the end of the text.
    """
    values: list[object] = []
    start = position = _LEAD.match(content).end()  # type: ignore[union-attr] # it matches anything
    try:
        while not values or content.startswith(("{", "["), position):
            value, end = JSON.raw_decode(content, position)
            values += value if isinstance(value, list) else [value]
            position = _BETWEEN.match(content, end).end()  # type: ignore[union-attr]
    except (ValueError, RecursionError) as error:
        value, end = _literal(content[start:].strip()), len(content)
        if value is None:
            end = _PARAGRAPH.match(content).end()  # type: ignore[union-attr]
            return [Call(problem=_not_json(error))], end
        values = value if isinstance(value, list) else [value]
    return [understood(value, tools) for value in values] or [Call(problem=f"an empty call; write {_FORM}")], end


def understood(value: object, tools: Tools) -> Call:
    """Convert a parsed JSON value into a call, with a problem if the value is not a valid call."""
    if isinstance(value, dict) and isinstance(value.get("function"), dict):
        value = value["function"]
    if not isinstance(value, dict):
        return Call(problem=f"a call is a JSON object {_FORM}, not {type(value).__name__}")
    name = value.get("name", value.get("function"))
    name = printable(name.strip()[:60]) if isinstance(name, str) else ""
    bare = _NAMESPACE.sub("", name.lower())
    tool = next((tool for tool in tools.values() if bare in (tool.name, *tool.aliases)), None)
    if tool is None:
        return Call(name, problem=f"there is no tool {name!r}; the tools are: {', '.join(tools)}")
    argument, problem = _argument(value.get("arguments", value.get("parameters")), tool.argument)
    return Call(tool.name, argument, problem)


def _argument(arguments: object, name: str) -> tuple[str, str | None]:
    """Return the argument with this name among a call's arguments, and what is wrong with it; None if nothing is."""
    if isinstance(arguments, str):
        try:
            parsed = JSON.decode(arguments)
        except (ValueError, RecursionError) as error:
            if arguments.lstrip().startswith("{"):  # otherwise it is the bare argument
                return arguments, _not_json(error)
            parsed = None
        with suppress(ValueError, RecursionError):
            parsed = JSON.decode(parsed) if isinstance(parsed, str) else parsed  # encoded twice
        arguments = parsed if isinstance(parsed, dict) else {name: arguments}
    if not isinstance(arguments, dict) or name not in arguments:
        return "", f'the argument "{name}" is missing: write "arguments": {{"{name}": "..."}}'
    value = arguments[name]
    if type(value) in (int, float) and abs(value) < _LARGEST:
        value = repr(value)
    if not isinstance(value, str):
        return "", f'the argument "{name}" must be a string'
    return printable(value), None


def _literal(content: str) -> object:
    """Parse a Python list or dict literal; return None if the text is not one, or longer than :data:`_MAX_LITERAL`."""
    if len(content) > _MAX_LITERAL or not content.startswith(("{", "[")):
        return None
    try:
        return ast.literal_eval(content)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _not_json(error: Exception) -> str:
    """Return the message to the model for a call that is not valid JSON."""
    why = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply, or a number too long"
    return f"the call is not valid JSON ({why}); write {_FORM}, with quotes and backslashes in strings escaped"
