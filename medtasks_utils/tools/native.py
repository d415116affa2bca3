"""Convert between replies as text and native function calls, which are in a message's field ``tool_calls``.

Servers return native calls in this field. For a model in this process, the chat template accepts native calls in
this field, but the model generates them as part of its text.
"""

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from medtasks_utils.writing import JsonObject, printable

from .calls import JSON, MAX_CALLS, Call, Tools, read_calls, understood

_START, _END = "<tool_calls>", "</tool_calls>"


class ParsedReply(NamedTuple):
    """A reply of the model, split into text and calls.

    Attributes:
        text: the text of the reply.
        rest: the text without calls.
        calls: the native calls or, if there are none, the calls in the text, in order.
        message: the message for the next prompt. If calls are native, the message contains ``tool_calls``, one for each
            call; otherwise its text contains the calls.
    """

    text: str
    rest: str
    calls: list[Call]
    message: JsonObject


def as_one_text(text: str, calls: Sequence[object]) -> str:
    """Join a reply's text and native calls into one string, which the harness and its caches need.

    :func:`understand` splits it again. ``<`` is escaped in the calls, so that they cannot contain tags.
    """
    encoded = printable(json.dumps(calls, ensure_ascii=False)).replace("<", r"\u003c")
    return f"{text}{_START}{encoded}{_END}"


def understand(reply: str, tools: Tools, most_by_template: int, calls_before: int) -> ParsedReply:
    """Split a reply into text and calls.

    Args:
        reply: a string, or the result of :func:`as_one_text`.
        tools: the available tools by name.
        most_by_template: up to this number of calls in a text, if none has a problem, are returned as ``tool_calls``
            for the chat template to render; otherwise the calls remain text. With 0, they always do.
        calls_before: number of earlier calls in the conversation; the numbering of calls without an id continues from
            it.
    """
    text, native_calls = parts(reply)
    calls, rest = read_calls(text, tools)
    if native_calls:
        calls, fields = [], []
        for native_call in native_calls:
            call, field = _native(native_call, tools)
            if len(calls) >= MAX_CALLS:
                call = call._replace(problem=f"not run: at most {MAX_CALLS} calls are run of one reply")
            calls.append(call)
            fields.append(field)
        content = text or None
    elif 0 < len(calls) <= most_by_template and all(call.problem is None for call in calls):
        functions = [{"name": call.name, "arguments": {tools[call.name].argument: call.argument}} for call in calls]
        content, fields = rest.strip(), [{"type": "function", "function": function} for function in functions]
    else:
        return ParsedReply(text, rest, calls, {"role": "assistant", "content": text})
    for number, field in enumerate(fields, start=calls_before + 1):
        field["id"] = str(field.get("id") or f"call{number:05d}")
    return ParsedReply(text, rest, calls, {"role": "assistant", "content": content, "tool_calls": fields})


def parts(reply: str) -> tuple[str, list[object]]:
    """Return the text and native calls that :func:`as_one_text` joined; any other reply is all text, without calls."""
    text, start, calls = reply.rpartition(_START)
    if start and calls.endswith(_END):
        with suppress(ValueError, RecursionError):  # the model may have written these tags itself
            decoded = json.loads(calls.removesuffix(_END))
            if isinstance(decoded, list):
                return text, decoded
    return reply, []


def _native(native_call: object, tools: Tools) -> tuple[Call, JsonObject]:
    """Parse an entry of ``tool_calls``.

    Returns:
        The call, and the entry to send back to the server, with invalid parts replaced.
    """
    entry: JsonObject = native_call if isinstance(native_call, dict) else {}
    function: JsonObject = entry["function"] if isinstance(entry.get("function"), dict) else {}
    call, arguments = understood(function, tools), function.get("arguments")
    for _ in range(2):  # some servers encode them twice
        with suppress(ValueError, RecursionError):
            arguments = JSON.decode(arguments) if isinstance(arguments, str) else arguments
    if not isinstance(arguments, dict):
        arguments = {tools[call.name].argument if call.name in tools else "argument": arguments}
    name = call.name if call.name in tools else re.sub(r"[^\w-]", "_", str(function.get("name")))[:64]
    function = {**function, "name": name, "arguments": printable(json.dumps(arguments, ensure_ascii=False))}
    return call, {**entry, "type": "function", "function": function}
