"""Reading a judge's reply: the form that was asked for, in its wrapping, and nothing fished out of prose."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn, TypeVar

from medtasks_utils.extraction.printable import printable

LABELS = {"FULLY_SUPPORTED": 1.0, "PARTIALLY_SUPPORTED": 0.5, "NOT_SUPPORTED": 0.0}
"""What FActScore's verification may answer, with its worth."""

MAX_CLAIMS = 20
"""5–7 are asked for; a list beyond this has run away."""

_MAX_STARTS = 200  # brackets at which JSON may begin, so that no reply takes quadratic time
_FENCE = re.compile(r"^```\w*\s*(.*?)\s*```$", re.DOTALL)

Value = TypeVar("Value", dict[str, Any], list[Any])


class UnreadableError(Exception):
    """A reply that is not what was asked for; the message says in what, without quoting at length."""


def find_object(text: str, having: str) -> dict[str, Any]:
    """The JSON object with a certain key, alone or in code fences or sentences.

    Raises:
        UnreadableError: if there is none, or several that differ.
    """
    found = [value for value in _values(text, "{", dict) if having in value]
    if not found:
        raise UnreadableError(f"no JSON object with {having!r}")
    if any(value != found[0] for value in found):
        raise UnreadableError(f"several JSON objects with {having!r}")
    return found[0]


def read_claims(text: str) -> list[str]:
    """The JSON array of claims, alone or in code fences or sentences; repeated claims count once, blank ones not.

    Raises:
        UnreadableError: if there is none, several that differ, one that holds something else, or too many claims.
    """
    found = [value for value in _values(text, "[", list) if all(isinstance(item, str) for item in value)]
    if not found:
        raise UnreadableError("no JSON array of strings")
    if any(value != found[0] for value in found):
        raise UnreadableError("several JSON arrays of strings")
    claims = list(dict.fromkeys(" ".join(claim.split()) for claim in found[0] if claim.strip()))
    if len(claims) > MAX_CLAIMS:
        raise UnreadableError(f"{len(claims)} claims, when 5 to 7 were asked for")
    return claims


def read_label(text: str) -> str:
    """One of :data:`LABELS` and nothing else: case, quotes, bold, code fences and a full stop are tolerated.

    Raises:
        UnreadableError: for anything else.
    """
    text = text.strip()
    fenced = _FENCE.match(text)
    word = (fenced[1] if fenced else text).strip(" \t\r\n\"'`*.").upper()
    label = re.sub(r"[\s-]+", "_", word)
    if label not in LABELS:
        raise UnreadableError(f"not one of {', '.join(LABELS)} alone")
    return label


def _values(text: str, opening: str, kind: type[Value]) -> Iterator[Value]:
    """The outermost JSON values of a kind in the text, in order."""
    start = text.find(opening)
    for _ in range(_MAX_STARTS):
        if start < 0:
            return
        try:
            value, end = _decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            if isinstance(value, kind):
                yield _all_printable(value)
        start = text.find(opening, end)


def _all_printable(value: Any) -> Any:
    """The value with its strings as they can be written: JSON may hold half a character as an escape."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list):
        return [_all_printable(item) for item in value]
    if isinstance(value, dict):
        return {printable(name): _all_printable(item) for name, item in value.items()}
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_decoder = json.JSONDecoder(strict=False, parse_constant=_no_constant)  # not strict: models break lines inside strings
