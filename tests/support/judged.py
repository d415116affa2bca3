"""The corpus of judged responses: its rows, its halves, and what our filters make of them."""

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from given import Row, json_lines, same

CORPUS = Path(__file__).parents[1] / "extraction" / "corpus"


def judged(folder: Path = CORPUS) -> Iterator[Row]:
    """All rows, each with its benchmark."""
    for path in sorted(folder.glob("*.jsonl")):
        for row in json_lines(path):
            yield {**row, "benchmark": path.stem}


def outcome(row: Row, value: Any) -> str:
    """``right``, ``wrong`` or ``missed``; a reading where nothing is stated is wrong."""
    right = row["right"]
    if value is None:
        return "right" if right is None else "missed"
    if isinstance(value, datetime.date):
        value = value.strftime("%m/%d/%Y")
    return "right" if right is not None and same(value, right) else "wrong"
