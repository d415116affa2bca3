"""Native function calls: those that come and go in fields of their own beside a message's text.

Servers give them as ``tool_calls``. Chat templates of models in the process take them so, and the model's reply is one
text all the same, with the calls in the form that the template taught it.
"""

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from medtasks_utils.writing import printable

from .calls import JSON, MAX_CALLS, Call, ReadCalls, Tools, read_calls, understood

_START, _END = "<tool_calls>", "</tool_calls>"


@dataclass(frozen=True)
class Reply:
    """A reply of the model as it is understood.

    Attributes:
        text: its text.
        rest: the text without the calls in it.
        calls: in their order, those beside the text or else those in it.
        message: as it goes back to the model. ``tool_calls`` is there if calls go back as such, one for each of
            ``calls``; else they go back in the text.
    """

    text: str
    rest: str
    calls: list[Call]
    message: dict[str, Any]


def as_one_text(text: str, calls: Sequence[Any]) -> str:
    """A server's reply as one text, as the harness and its caches take a reply; :func:`understand` takes it apart.

    No ``<`` is left in the calls, so that whatever looks for tags in a reply finds none there.
    """
    given = printable(json.dumps(calls, ensure_ascii=False)).replace("<", r"\u003c")
    return f"{text}{_START}{given}{_END}"


def understand(
    reply: str, tools: Tools, *, most_by_template: int, calls_before: int, read: ReadCalls = read_calls
) -> Reply:
    """A reply's text and calls.

    Args:
        reply: a text, or what :func:`as_one_text` made of one with calls.
        tools: those that there are.
        most_by_template: calls in the text go back as ``tool_calls``, for the chat template to write them, if there are
            no more than these.
        calls_before: how many the conversation has had, for ids where none are given.
        read: finds the calls in a text.
    """
    text, given = _parts(reply)
    calls, rest = read(text, tools)
    if given:
        taken = [_of_server(each, tools) for each in given]
        over = f"not run: at most {MAX_CALLS} calls are run of one reply"
        calls = [call if i < MAX_CALLS else replace(call, problem=over) for i, (call, _) in enumerate(taken)]
        content, fields = text or None, [field for _, field in taken]
    elif 0 < len(calls) <= most_by_template and all(call.problem is None for call in calls):
        functions = [{"name": call.name, "arguments": {tools[call.name].argument: call.argument}} for call in calls]
        content, fields = rest.strip(), [{"type": "function", "function": each} for each in functions]
    else:
        return Reply(text, rest, calls, {"role": "assistant", "content": text})
    for number, field in enumerate(fields, start=calls_before + 1):
        field["id"] = str(field.get("id") or f"call{number:05d}")
    return Reply(text, rest, calls, {"role": "assistant", "content": content, "tool_calls": fields})


def _parts(reply: str) -> tuple[str, list[Any]]:
    text, start, calls = reply.rpartition(_START)
    if not (start and calls.endswith(_END)):
        return reply, []
    try:
        given = json.loads(calls.removesuffix(_END))
    except (ValueError, RecursionError):  # the model's own text
        return reply, []
    return (text, given) if isinstance(given, list) else (reply, [])


def _of_server(given: Any, tools: Tools) -> tuple[Call, dict[str, Any]]:
    """An entry of ``tool_calls``, and what it goes back as: mended where a server would refuse to take it back."""
    entry: dict[str, Any] = given if isinstance(given, dict) else {}
    function: dict[str, Any] = entry["function"] if isinstance(entry.get("function"), dict) else {}
    call, arguments = understood(function, tools), function.get("arguments")
    if isinstance(arguments, str):
        with suppress(ValueError, RecursionError):
            arguments = JSON.decode(arguments)
    if not isinstance(arguments, dict):
        arguments = {tools[call.name].argument if call.name in tools else "argument": arguments}
    name = re.sub(r"[^\w-]", "_", str(function.get("name")))[:64]
    function = {**function, "name": name, "arguments": printable(json.dumps(arguments, ensure_ascii=False))}
    return call, {**entry, "type": "function", "function": function}
