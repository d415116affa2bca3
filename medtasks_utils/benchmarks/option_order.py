"""Shuffle and reletter choices, as Medmarks does (github.com/MedARC-AI/Medmarks at 154710b)."""

import hashlib
import random
import re
from collections.abc import Sequence
from itertools import groupby

from medtasks_utils.extraction.letters import LETTERS

ORDER = "option_order"
"""The field of an example with the original letters of its choices, in the shuffled order."""

_LABEL = r"(?:\([A-Z0-9]+\)|\[[A-Z0-9]+\]|\b[A-Z][).:]?|\b\d+[).:]?)"
_SEPARATOR = r"(?:\s*[,&/]+\s*|\s+(?i:and/or|and|or|nor)\s+)"
_REFERENCE = re.compile(_LABEL + _SEPARATOR + _LABEL)
_ANCHOR = re.compile(
    r"\b(?:all|none|some|both|neither)\s+(?:of\s+(?:the\s+)?)?(?:above|following|these|choices?|options?|answers?"
    r"|statements?|responses?|listed|apply|applicable|them)\b",
    re.IGNORECASE,
)


def shuffled_order(question: str, options: Sequence[str], seed: int) -> str:
    """Return the letters of choices in a shuffled order, determined only by the question, the choices and the seed.

    A choice such as "all of the above" keeps its place, and the choices before and after it are shuffled separately. If
    a choice refers to others, as in "A and C", all choices keep their places.

    >>> shuffled_order("What?", ["one", "two", "three", "none of these"], 2)
    'BCAD'
    """
    if any(map(_REFERENCE.search, options)):
        return LETTERS
    digest = hashlib.sha256(f"{seed}::{question}".encode("utf-8", "surrogatepass")).digest()
    draws = random.Random(int.from_bytes(digest[-8:], "big"))
    order = []
    for is_anchored, block in groupby(range(len(options)), lambda place: bool(_ANCHOR.search(options[place]))):
        members = list(block)
        if not is_anchored:
            draws.shuffle(members)
        order += members
    return "".join(LETTERS[place] for place in order)
