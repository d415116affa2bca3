"""Provide the corpus of responses that people have read, and compare readings with theirs."""

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from given import Row, json_lines, same

CORPUS = Path(__file__).parents[1] / "extraction" / "corpus"


def judged(folder: Path = CORPUS) -> Iterator[Row]:
    """Yield all rows, each with its benchmark."""
    for path in sorted(folder.glob("*.jsonl")):
        for row in json_lines(path):
            yield {**row, "benchmark": path.stem}


def outcome(row: Row, value: Any) -> str:
    """Return ``right``, ``wrong`` or ``missed``; a reading is wrong if the response states no answer."""
    right = row["right"]
    if value is None:
        return "right" if right is None else "missed"
    if isinstance(value, datetime.date):
        value = value.strftime("%m/%d/%Y")
    return "right" if right is not None and same(value, right) else "wrong"
