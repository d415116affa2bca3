"""Look up the scores of classifiers that see a benchmark's rows without the question.

``measurements/shortcuts.py`` trains such classifiers ("readers") and writes a ``shortcuts.json`` for each benchmark. It
contains results, but no rows::

    {"parts": {"<hash>": {"task": "medhallu", "n": 2000, "source": "where the rows are from", "measured": "2026-11-24",
                          "part": "which of the Hub's rows, if not all", "readers": {"answer_text": {"acc": [value,
                          low, high]}}}},
     "verdicts": {"<hash>": "hexadecimal digits, a bit for each example: whether the reader is right out of fold"}}

The hash covers the questions and right answers of all examples, in any order, so that it identifies a set of rows.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from .facts import Data, Example
from .tables import Row


class Reached(NamedTuple):
    """The value of a metric that a classifier reaches without the question, and the classifier's name."""

    value: float
    reader: str


@cache
def measured(path: Path) -> dict[str, Any]:
    """Return the content of a ``shortcuts.json``: by hash of the rows, what classifiers score without the question."""
    figures: dict[str, Any] = json.loads(path.read_bytes())
    return figures


def content_hash(examples: Iterable[Row], fields: Sequence[str]) -> str:
    """Return an order-independent hash of the named fields of all examples."""
    return hashlib.sha256("\n".join(sorted(_contents(examples, fields))).encode()).hexdigest()[:16]


def most_reached(path: Path, content: str, metric: str, whole: tuple[str, int] | None = None) -> Reached | None:
    """Return the best classifier's value of a metric on a set of rows; None if no classifier was measured on them.

    Args:
        path: the ``shortcuts.json``.
        content: the :func:`content_hash` of the rows.
        metric: the metric's name.
        whole: the task and its number of examples, if the rows are all rows on the Hub. If the rows were not measured,
            the value on a measured part of them, or on a different release, is then used instead, and the classifier's
            name states which. With None, only a measurement on exactly these rows is used.
    """
    parts = measured(path)["parts"]
    if content in parts:
        part, of_part = parts[content], ""
    else:
        in_part = (part for part in parts.values() if "part" in part)
        task, n = whole or ("", 0)
        part = next((part for part in in_part if part["task"] == task and part["n"] <= n), {"readers": {}})
        of_part = f", on {part.get('part')}"
    readers = part["readers"].items()
    reached = [Reached(values[metric][0], name + of_part) for name, values in readers if metric in values]
    return max(reached, default=None)


def verdicts(data: Data, examples: Sequence[Example]) -> list[bool] | None:
    """Return, for each example, whether a classifier that does not see the question is right; None if not measured.

    The classifier is trained on the folds that do not contain the example.
    """
    known = measured(data.shortcuts)["verdicts"] if data.shortcuts else {}
    digits = known.get(content_hash(examples, data.content))
    if digits is None:
        return None
    contents = _contents(examples, data.content)
    bits = f"{int(digits, 16):0{len(examples)}b}"
    by_content = dict(zip(sorted(contents), bits, strict=True))
    return [by_content[content] == "1" for content in contents]


def _contents(examples: Iterable[Row], fields: Sequence[str]) -> list[str]:
    return [json.dumps(list(map(example.get, fields))) for example in examples]
