"""The corpus of judged responses: its rows, its halves, and what our filters make of them."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).parent / "corpus"
TASKS = {
    "medmcqa": "medmcqa_openmed",
    "medexqa": "medexqa_all",
    "medcalc_bench": "medcalc_bench",
    "medhallu": "medhallu",
}
Row = dict[str, Any]


def judged(folder: Path = CORPUS) -> Iterator[Row]:
    """All rows, each with its benchmark."""
    for path in sorted(folder.glob("*.jsonl")):
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                yield {**json.loads(line), "benchmark": path.stem}


def set_aside(row: Row) -> bool:
    """Whether a row is of the half that was not looked at while the reading was written."""
    return hashlib.sha256(row["frame"].encode()).digest()[0] % 2 == 1


def outcome(row: Row, value: Any) -> str:
    """``right``, ``wrong`` or ``missed``; a reading where nothing is stated is wrong."""
    right = row["right"]
    if value is None:
        return "right" if right is None else "missed"
    return "right" if right is not None and _same(value, right, row.get("judgement")) else "wrong"


def _same(value: Any, right: Any, judgement: str | None) -> bool:
    if judgement == "date":
        return bool(value == datetime.datetime.strptime(right, "%m/%d/%Y").date())
    if judgement == "weeks_days":
        return bool(list(value) == right)
    if judgement:
        return bool(abs(value - right) <= 1e-6 * max(1.0, abs(right)))
    return bool(value == right)


def outcomes(rows: Iterable[Row], tasks: dict[str, Any], filter_name: str = "flexible") -> Counter[str]:
    """How many rows each outcome has under a filter of our tasks."""
    return Counter(
        outcome(row, getattr(tasks[row["benchmark"]], filter_name)(row["response"], row).value) for row in rows
    )
