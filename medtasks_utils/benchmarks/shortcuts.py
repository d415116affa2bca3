"""The scores that a reader reaches on a benchmark's rows without the question, measured once for rows of one hash.

``measurements/shortcuts.py`` writes them to each benchmark's ``shortcuts.json``: figures and bits, no rows::

    {"parts": {"<hash>": {"task": "medhallu", "n": 2000, "source": "where the rows are from", "measured": "2026-11-24",
                          "readers": {"answer_text": {"acc": [value, low, high]}}}},
     "verdicts": {"<hash>": "hexadecimal digits, a bit for each example: whether the reader is right out of fold"}}

The hash covers the examples' questions and right answers, in any order; a part of the rows has a different hash.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple


class Reached(NamedTuple):
    """A metric's value for a reader without the question, and the reader's name."""

    value: float
    reader: str


@cache
def measured(path: Path) -> dict[str, Any]:
    """Return the content of a ``shortcuts.json``."""
    figures: dict[str, Any] = json.loads(path.read_bytes())
    return figures


def content_hash(examples: Iterable[Mapping[str, Any]], fields: Sequence[str]) -> str:
    """Return a hash of these fields of all examples, equal for any order of the examples."""
    return hashlib.sha256("\n".join(sorted(_contents(examples, fields))).encode()).hexdigest()[:16]


def most_reached(path: Path, content: str, metric: str) -> Reached | None:
    """Return the best reader's value of a metric on rows of this hash; None if it was not measured."""
    readers = measured(path)["parts"].get(content, {}).get("readers", {})
    reached = [Reached(values[metric][0], name) for name, values in readers.items() if metric in values]
    return max(reached, default=None)


def verdicts(path: Path, examples: Sequence[Mapping[str, Any]], fields: Sequence[str]) -> list[bool] | None:
    """Return whether the reader is right on each example, out of fold; None for examples of another hash."""
    digits = measured(path)["verdicts"].get(content_hash(examples, fields))
    if digits is None:
        return None
    contents = _contents(examples, fields)
    bits = f"{int(digits, 16):0{len(examples)}b}"
    by_content = dict(zip(sorted(contents), bits, strict=True))
    return [by_content[content] == "1" for content in contents]


def _contents(examples: Iterable[Mapping[str, Any]], fields: Sequence[str]) -> list[str]:
    return [json.dumps(list(map(example.get, fields))) for example in examples]
