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

from __future__ import annotations

import ast
import json
import re
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from medtasks_utils.extraction.printable import printable
from medtasks_utils.extraction.think import final_span
from medtasks_utils.tools.tool import Tool

MAX_CALLS = 16
"""Calls of one reply that are run; the rest is told the model as one failed call."""

_JSON_FENCES = ("", "json", "tool_call")
_MARK = re.compile(
    r"(?P<open><tool_call>)|(?P<close></tool_call>)|^[ \t]*```[ \t]{0,4}(?P<language>\w{0,20})[ \t\r]{0,20}$"
    r"""|(?:^[ \t]*|\[TOOL_CALLS\]\s{0,20}|<\|python_tag\|>\s{0,20})"""
    r"""(?P<object>(?:\[\s{0,20})?\{\s{0,20}["'](?:name|arguments|parameters|function|type|id)["'])""",
    re.IGNORECASE | re.MULTILINE,
)
_ARGUMENTS = re.compile("""["'](?:arguments|parameters)["']""")
_WARNINGS = threading.Lock()  # catching warnings is not safe in several threads at once
JSON = json.JSONDecoder(strict=False)  # models leave line breaks in strings of code unescaped
_MAX_LITERAL = 20_000  # characters read as a Python literal
_PARAGRAPH = re.compile(r"\s*(?:[^\n]|\n(?!\n))*")
_LEAD = re.compile(r"\s*(?:```\w{0,20}\s*)?")
_BETWEEN = tuple(" \t\r\n,;")
_MAX_BITS = 1_024  # of an integer as an argument
_FORM = '{"name": ..., "arguments": {...}}'


Tools = Mapping[str, Tool | type[Tool]]
"""The tools that there are, by name."""


@dataclass(frozen=True)
class Call:
    """A call as a reply makes it.

    Attributes:
        name: of the tool that is called; where there is no such tool, the name that the reply gives.
        argument: the text for the tool; empty where there is a problem.
        problem: why it cannot be run, for the model to read; None if it can.
    """

    name: str
    argument: str = ""
    problem: str | None = None


ReadCalls = Callable[[str, Tools], tuple[list[Call], str]]


def read_calls(reply: str, tools: Tools) -> tuple[list[Call], str]:
    """The calls of a whole reply, reasoning included, in their order, and the reply without them."""
    start, end = final_span(reply)
    reader = _Reader(reply[start:end], tools)
    reader.read()
    return at_most(reader.calls), reply[:start] + reader.rest() + reply[end:]


def at_most(calls: list[Call]) -> list[Call]:
    """As many calls as are run of one reply; of more, one with the problem."""
    if len(calls) <= MAX_CALLS:
        return calls
    problem = f"{len(calls) - MAX_CALLS} more calls were not run: at most {MAX_CALLS} are run of one reply"
    return [*calls[:MAX_CALLS], Call("", problem=problem)]


class _Reader:
    """One pass over a text from mark to mark: tags, fences, and objects that begin as a call does."""

    def __init__(self, text: str, tools: Tools) -> None:
        self.text = text
        self.tools = tools
        self.by_language = {language: tool.name for tool in tools.values() for language in tool.languages}
        self.calls: list[Call] = []
        self.spans: list[tuple[int, int]] = []
        self.marks = list(_MARK.finditer(text))
        self.next = 0  # of the marks
        self.no_more_objects = False

    def read(self) -> None:
        """Find all calls."""
        while self.next < len(self.marks):
            mark = self.marks[self.next]
            self.next += 1
            if mark["open"]:
                self._read_tag(mark)
            elif mark["language"] is not None:
                self._read_fence(mark)
            elif mark["object"]:
                self._read_object(mark.start("object"))

    def rest(self) -> str:
        """The text without the calls."""
        parts, done = [], 0
        for start, end in self.spans:
            parts.append(self.text[done:start])
            done = end
        return "".join([*parts, self.text[done:]])

    # ---- the three forms

    def _read_tag(self, opening: re.Match[str]) -> None:
        within = self.next
        following = self._skip_to("open", "close")
        if following is not None and following["close"]:
            self.next += 1
            self._take(opening.start(), following.end(), self.text[opening.end() : following.start()])
            return
        self.next = within
        end = len(self.text) if following is None else following.start()
        if "{" in self.text[opening.end() : end]:  # else the tag is only spoken of
            self._take_open(opening.start(), opening.end(), end)

    def _read_fence(self, opening: re.Match[str]) -> None:
        language = opening["language"].lower()
        name = self.by_language.get(language)
        inner = self.marks[self.next] if self.next < len(self.marks) else None
        if name is None and language in _JSON_FENCES and not (inner and inner["object"]):
            return
        closing = self._skip_to("language")
        end = len(self.text) if closing is None else closing.start()
        content = self.text[opening.end() : end]
        if closing is not None and not closing["language"]:
            self.next += 1
            if name is not None:
                self._add(opening.start(), closing.end(), Call(name, printable(content.strip("\r\n"))))
            elif language in _JSON_FENCES and _ARGUMENTS.search(content):
                self._take(opening.start(), closing.end(), content)
        elif name is not None:
            self._add(opening.start(), end, Call(name, problem="the code block is not closed with ```"))
        elif language in _JSON_FENCES and inner is not None:
            self._read_object(inner.start("object"))

    def _read_object(self, start: int) -> None:
        """An object, or a list of them, that begins at ``start``."""
        if self.no_more_objects:
            return
        try:
            found, end = JSON.raw_decode(self.text, start)
        except (ValueError, RecursionError):
            # Where it ends is not known, and trying again at every brace would take quadratic time.
            self.no_more_objects = True
            if _ARGUMENTS.search(self.text, start):
                self._take_open(start, start, len(self.text))
            return
        if _ARGUMENTS.search(self.text, start, end):
            self._add(start, end, *self._understand(found))
        self._pass_over(end)

    def _pass_over(self, end: int) -> None:
        """Pass over the marks before a position."""
        while self.next < len(self.marks) and self.marks[self.next].start() < end:
            self.next += 1

    def _skip_to(self, *groups: str) -> re.Match[str] | None:
        """Pass over marks up to the next of a kind, which stays the next one."""
        while self.next < len(self.marks):
            mark = self.marks[self.next]
            if any(mark[group] is not None for group in groups):
                return mark
            self.next += 1
        return None

    # ---- from text to calls

    def _take(self, start: int, end: int, content: str) -> None:
        """The calls that a delimited text holds."""
        try:
            found, _ = _objects(content)
        except (ValueError, RecursionError) as error:
            self._add(start, end, Call("", problem=not_json(error)))
            return
        self._add_all(start, end, found)

    def _take_open(self, start: int, content_start: int, content_end: int) -> None:
        """The calls at the head of a text; a malformed one is taken to end with the paragraph."""
        content = self.text[content_start:content_end]
        try:
            found, length = _objects(content)
        except (ValueError, RecursionError) as error:
            paragraph = _PARAGRAPH.match(content)
            length = paragraph.end() if paragraph else len(content)
            self._add(start, content_start + length, Call("", problem=not_json(error)))
        else:
            self._add_all(start, content_start + length, found)
        self._pass_over(content_start + length)

    def _add_all(self, start: int, end: int, found: Sequence[Any]) -> None:
        calls = [call for each in found for call in self._understand(each)]
        self._add(start, end, *(calls or [Call("", problem=f"an empty call; write {_FORM}")]))

    def _add(self, start: int, end: int, *calls: Call) -> None:
        self.calls += calls
        self.spans.append((start, end))

    def _understand(self, found: Any) -> list[Call]:
        return [understood(each, self.tools) for each in (found if isinstance(found, list) else [found])]


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
        except (ValueError, RecursionError):
            parsed = None
        given = parsed if isinstance(parsed, dict) else {wanted: given}
    if not isinstance(given, dict) or wanted not in given:
        return "", f'the argument "{wanted}" is missing: write "arguments": {{"{wanted}": "..."}}'
    value = given[wanted]
    if isinstance(value, float) or (type(value) is int and value.bit_length() <= _MAX_BITS):
        value = repr(value)
    if not isinstance(value, str):
        return "", f'the argument "{wanted}" must be a string'
    return printable(value), None


def _objects(content: str) -> tuple[list[Any], int]:
    """The JSON values that a text begins with, or the Python literal that it is, and where they end.

    Raises:
        ValueError: if it begins with neither.
        RecursionError: if they are nested too deeply.
    """
    lead = _LEAD.match(content)
    end = position = lead.end() if lead else 0
    found: list[Any] = []
    try:
        while not found or content[position : position + 1] in ("{", "["):
            value, end = JSON.raw_decode(content, position)
            found.append(value)
            position = end
            while content[position : position + 1] in _BETWEEN:
                position += 1
    except ValueError:
        literal = _literal(content[lead.end() if lead else 0 :].strip())
        if literal is None:
            raise
        return [literal], len(content)
    return found, end


def _literal(content: str) -> Any:
    if len(content) > _MAX_LITERAL or not content.startswith(("{", "[")):
        return None
    try:
        with _WARNINGS, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of backslashes
            return ast.literal_eval(content)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def not_json(error: Exception) -> str:
    """What the model is told of a call that JSON's reader does not take."""
    why = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply, or a number too long"
    return f"the call is not valid JSON ({why}); write {_FORM}, with quotes and backslashes in strings escaped"
