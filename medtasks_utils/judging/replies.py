"""Reading a judge's reply: the form that was asked for, in its wrapping, and nothing fished out of prose."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from medtasks_utils.writing import printable

from .judge import CallError

LABELS = {"FULLY_SUPPORTED": 1.0, "PARTIALLY_SUPPORTED": 0.5, "NOT_SUPPORTED": 0.0}
"""What FActScore's verification may answer, with its worth."""

MAX_CLAIMS = 20
"""5–7 are asked for; a list beyond this has run away."""

_MAX_STARTS = 200  # brackets at which JSON may begin, so that no reply takes quadratic time
_FENCE = re.compile(r"^```\w*\s*(.*?)\s*```$", re.DOTALL)


class UnreadableError(CallError):
    """A reply that is not what was asked for; the message says in what, without quoting at length."""


def read_claims(text: str) -> list[str]:
    """The JSON array of claims, alone or in code fences or sentences; repeated claims count once, blank ones not.

    Raises:
        UnreadableError: if there is none, several that differ, one that holds something else, or too many claims.
    """
    found = only_json(text, "[", lambda value: all(isinstance(item, str) for item in value), "array of strings")
    claims = list(dict.fromkeys(" ".join(claim.split()) for claim in found if claim.strip()))
    if len(claims) > MAX_CLAIMS:
        raise UnreadableError(f"{len(claims)} claims, when 5 to 7 were asked for")
    return claims


def read_label(text: str) -> str:
    """One of :data:`LABELS` and nothing else: case, quotes, bold, code fences and a full stop are tolerated.

    Raises:
        UnreadableError: for anything else.
    """
    word = _FENCE.sub(r"\1", text.strip()).strip(" \t\r\n\"'`*.").upper()
    label = re.sub(r"[\s-]+", "_", word)
    if label not in LABELS:
        raise UnreadableError(f"not one of {', '.join(LABELS)} alone")
    return label


def only_json(text: str, opening: str, fits: Callable[[Any], bool], name: str) -> Any:
    """The JSON value that fits, alone or in code fences or sentences; half characters in its escapes are replaced.

    Args:
        text: the reply.
        opening: the bracket that it begins with.
        fits: whether a value is of the form that was asked for.
        name: of that form, for messages.

    Raises:
        UnreadableError: if there is none, or several that differ.
    """
    found = [value for value in _values(text, opening) if fits(value)]
    if not found:
        raise UnreadableError(f"no JSON {name}")
    if any(value != found[0] for value in found):
        raise UnreadableError(f"several of a JSON {name}")
    return json.loads(printable(json.dumps(found[0], ensure_ascii=False)))


def _values(text: str, opening: str) -> Iterator[Any]:
    """The outermost JSON values in the text that begin with a bracket of this kind, in order."""
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


# Not strict: models break lines inside strings. NaN and Infinity, of which int makes an error, are no JSON.
_decoder = json.JSONDecoder(strict=False, parse_constant=int)
