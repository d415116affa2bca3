"""Learn the form of calls from a model's chat template, and find calls of this form in a reply.

Many models are trained on special call formats (``<function=python><parameter=code>…</parameter>``,
``[TOOL_CALLS]python[ARGS]{…}``, ``python<arg_key>code</arg_key><arg_value>…</arg_value>``). No format has to be known
in advance: the template renders an example call, and the text before the tool's name, between the name and the
argument, and after the argument becomes the pattern.
"""

import json
import re
from collections.abc import Iterator

from .calls import JSON, Call, LocatedCalls, Tools, not_json, read_calls, take_out, understood


class CallForm:
    """The form in which a chat template writes a call.

    Args:
        written: the text that the template renders for a reply with a call.
        name: the name of the called tool.
        argument: the name of the tool's argument.
        value: the value of the argument, which the text contains verbatim or in a JSON object.
        key: the call's id.

    Raises:
        ValueError: if the form cannot be learned from the text.
    """

    def __init__(self, written: str, name: str, argument: str, value: str, key: str) -> None:
        as_json = json.dumps({argument: value})
        self._is_json = as_json in written
        rendered = as_json if self._is_json else value
        value_start = written.index(rendered)
        name_start = written.rindex(name, 0, value_start)
        opening = re.split(r"(?=[<\[{])|\n", written[:name_start])[-1]
        between = written[name_start + len(name) : value_start].rstrip()
        closing = re.match(r"\s*([^>]*>)", written[value_start + len(rendered) :])
        if "assistant" in opening or not (self._is_json or (between.endswith(">") and closing)):
            raise ValueError("the call is in the message header, which models do not write, or its end is not marked")
        self._closing = closing[1] if closing and not self._is_json else ""
        before = _pattern(opening, key) or r"(?m:^)"
        after = _pattern(between, key).replace(argument, r"(?P<argument>\w{1,64})", 1)
        self._head = re.compile(rf"{before}(?P<name>\w{{1,64}}){after}" + (r"\s{0,20}(?=\{)" if self._is_json else ""))

    def read(self, reply: str, tools: Tools) -> tuple[list[Call], str]:
        """Return the calls in a reply, in order, and the reply without them.

        If there is no call of this form, calls in the forms of :func:`.read_calls` are returned.
        """
        calls, rest = take_out(reply, lambda text: self._located(text, tools))
        return (calls, rest) if calls else read_calls(reply, tools)

    def _located(self, text: str, tools: Tools) -> Iterator[LocatedCalls]:
        """Yield each call with its position."""
        position = 0
        while head := self._head.search(text, position):
            try:
                stop = JSON.raw_decode(text, head.end())[1] if self._is_json else text.index(self._closing, head.end())
            except (ValueError, RecursionError) as error:  # the call's end is unknown
                problem = not_json(error) if self._is_json else "the call is not closed"
                call, stop = Call(head["name"], problem=problem), len(text)
            else:
                value = text[head.end() : stop]
                arguments = JSON.decode(value) if self._is_json else {head["argument"]: value.strip("\r\n")}
                call = understood({"name": head["name"], "arguments": arguments}, tools)
            position = stop + len(self._closing)
            yield [call], head.start(), position


def _pattern(text: str, key: str) -> str:
    """Return a regular expression for a text in which numbers, white space and the call's id may differ."""
    varying = rf"(?P<key>{re.escape(key)})|(?P<number>\d+)|(?P<space>\s+)|."
    others = {"key": r"[\w-]{0,64}", "number": r"\d{1,9}", "space": r"\s{0,20}"}
    return re.sub(varying, lambda part: others.get(part.lastgroup or "") or re.escape(part[0]), text)
