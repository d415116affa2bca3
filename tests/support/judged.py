"""The corpus of judged responses: its rows, its halves, and what our filters make of them."""

import datetime
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).parents[1] / "extraction" / "corpus"
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
