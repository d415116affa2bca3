"""Parse a judge's reply: accept the requested form inside code fences or prose, but never take a number from prose."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from medtasks_utils.writing import one_line, printable

from .judge import CallError

LABELS = {"FULLY_SUPPORTED": 1.0, "PARTIALLY_SUPPORTED": 0.5, "NOT_SUPPORTED": 0.0}
"""The score of each label that a judge may return when FActScore verifies a claim."""

MAX_CLAIMS = 20
"""Maximum number of claims in a reply. The prompt asks for 5 to 7, so a much longer list is a runaway reply."""

_MAX_STARTS = 200  # maximum number of brackets at which a value is tried, so that no reply takes quadratic time
_FENCE = re.compile(r"^```\w*\s*(.*?)\s*```$", re.DOTALL)


class UnreadableError(CallError):
    """A reply that does not have the requested form; the message names the fault."""


def read_claims(text: str) -> list[str]:
    """Return the claims in a JSON array, which may be in a code fence or between sentences.

    Blank and repeated claims are dropped.

    Raises:
        UnreadableError: if there is no array or more than one, if items are not strings, or if there are more than
            :data:`MAX_CLAIMS` claims.
    """
    items = only_json(text, "[", lambda value: all(isinstance(item, str) for item in value), "array of strings")
    claims = list(dict.fromkeys(filter(None, map(one_line, items))))
    if len(claims) > MAX_CLAIMS:
        raise UnreadableError(f"{len(claims)} claims, but 5 to 7 were requested")
    return claims


def read_label(text: str) -> str:
    """Return the label that makes up a whole reply, ignoring case, quotes, bold, code fences and a full stop.

    Raises:
        UnreadableError: for anything other than one of :data:`LABELS`.
    """
    word = _FENCE.sub(r"\1", text.strip()).strip(" \t\r\n\"'`*.").upper()
    label = re.sub(r"[\s-]+", "_", word)
    if label not in LABELS:
        raise UnreadableError(f"the reply is not exactly one of {', '.join(LABELS)}")
    return label


def only_json(text: str, opening: str, fits: Callable[[Any], bool], name: str) -> Any:
    """Return the only JSON value of the requested form, which may be in a code fence or between sentences.

    The value may be repeated. Lone surrogates in its escapes are replaced with U+FFFD.

    Args:
        text: the reply.
        opening: the bracket with which the value begins.
        fits: a function that returns True for a value of the requested form.
        name: the name of this form, for messages.

    Raises:
        UnreadableError: if no value fits, or different ones do.
    """
    fitting = [value for value in _values(text, opening) if fits(value)]
    if not fitting:
        raise UnreadableError(f"the reply has no JSON {name}")
    first, *others = fitting
    if any(value != first for value in others):
        raise UnreadableError(f"the reply has more than one JSON {name}")
    return json.loads(printable(json.dumps(first, ensure_ascii=False)))


def _values(text: str, opening: str) -> Iterator[Any]:
    """Yield the outermost JSON values that begin at one of the first 200 occurrences of a bracket, in order."""
    start = text.find(opening)
    for _ in range(_MAX_STARTS):
        if start < 0:
            return
        try:
            value, end = _decoder.raw_decode(text, start)
            yield value
        except (ValueError, RecursionError):
            end = start + 1
        start = text.find(opening, end)


# Not strict, since models put line breaks into strings. NaN and Infinity are not JSON: int raises ValueError on them.
_decoder = json.JSONDecoder(strict=False, parse_constant=int)
