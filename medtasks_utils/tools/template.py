"""How a chat template writes a call, learned from one that it wrote, and calls of that kind read out of a reply.

Models of today are trained for call formats of their own (``<function=python><parameter=code>…</parameter>``,
``[TOOL_CALLS]python[ARGS]{…}``, ``python<arg_key>code</arg_key><arg_value>…</arg_value>``). What stands before the
tool's name, between it and the argument, and behind that is taken from the template itself: no format need be known.
"""

import json
import re
from collections.abc import Iterator

from .calls import JSON, Call, LocatedCalls, Tools, not_json, read_calls, take_out, understood


class CallForm:
    """The form of a call.

    Args:
        written: what a template has written of a reply with a call.
        name: the tool that is called.
        argument: the name of its argument.
        value: the argument; it stands there as it is, or in a JSON object.
        key: the call's id.

    Raises:
        ValueError: where the call does not stand there so.
    """

    def __init__(self, written: str, name: str, argument: str, value: str, key: str) -> None:
        shown = json.dumps({argument: value})
        self._is_json = shown in written
        shown = shown if self._is_json else value
        place = written.index(shown)
        start = written.rindex(name, 0, place)
        opening = re.split(r"(?=[<\[{])|\n", written[:start])[-1]
        between = written[start + len(name) : place].rstrip()
        closing = re.match(r"\s*([^>]*>)", written[place + len(shown) :])
        if "assistant" in opening or not (self._is_json or (between.endswith(">") and closing)):
            raise ValueError("the call is in the message's head, which no model writes, or nothing marks its end")
        self._closing = closing[1] if closing and not self._is_json else ""
        before = _pattern(opening, key) or r"(?m:^)"
        after = _pattern(between, key).replace(argument, r"(?P<argument>\w{1,64})", 1)
        self._head = re.compile(rf"{before}(?P<name>\w{{1,64}}){after}" + (r"\s{0,20}(?=\{)" if self._is_json else ""))

    def read(self, reply: str, tools: Tools) -> tuple[list[Call], str]:
        """Return the calls of a reply, in order, and the reply without them; in other forms if none is in this one."""
        calls, rest = take_out(reply, lambda text: self._located(text, tools))
        return (calls, rest) if calls else read_calls(reply, tools)

    def _located(self, text: str, tools: Tools) -> Iterator[LocatedCalls]:
        """Yield each call with where it starts and stops."""
        position = 0
        while head := self._head.search(text, position):
            try:
                stop = JSON.raw_decode(text, head.end())[1] if self._is_json else text.index(self._closing, head.end())
            except (ValueError, RecursionError) as error:  # where it ends is not known
                problem = not_json(error) if self._is_json else "the call is not closed"
                call, stop = Call(head["name"], problem=problem), len(text)
            else:
                value = text[head.end() : stop]
                given = JSON.decode(value) if self._is_json else {head["argument"]: value.strip("\r\n")}
                call = understood({"name": head["name"], "arguments": given}, tools)
            position = stop + len(self._closing)
            yield [call], head.start(), position


def _pattern(text: str, key: str) -> str:
    """Matches a text, with whatever numbers, white space and id of a call."""
    varying = rf"(?P<key>{re.escape(key)})|(?P<number>\d+)|(?P<space>\s+)|."
    others = {"key": r"[\w-]{0,64}", "number": r"\d{1,9}", "space": r"\s{0,20}"}
    return re.sub(varying, lambda part: others.get(part.lastgroup or "") or re.escape(part[0]), text)
