"""How often the flexible reading agrees with a careful reader, on real responses and on the judged corpus.

    MEDTASKS_SHARED=… python measurements/extraction.py [--rows]

Prints, by kind: the share right, wrong and missed, beside the last number and the last number after ``=``, ``≈``, "is",
"of" and "to"; five folds by question; how many responses each row of a table decided (``--rows``); the reliability of
``certainty``; milliseconds a response. ``MEDTASKS_SHARED`` names the folder with ``data/responses/dev.jsonl``, which is
no part of the project.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import statistics
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from judged import CORPUS, judged, outcome

from medtasks_utils.extraction.letters import read_letter
from medtasks_utils.extraction.plain import without_continuation
from medtasks_utils.extraction.think import final_text
from medtasks_utils.extraction.values import read_value
from medtasks_utils.extraction.verdicts import read_verdict
from medtasks_utils.extraction.weighing import Reading

Row = dict[str, Any]
_LAST = re.compile(r"-?\d+(?:\.\d+)?")
_LINKED = re.compile(r"(?:[=≈]|\b(?:is|of|to)\b)\s*(?:about |approximately )?\$?\\?\s*(-?\d+(?:\.\d+)?)")


def real(path: Path) -> list[Row]:
    """The developing half: each with ``right`` in the corpus's form."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        row["right"], row["judgement"] = row["gold"], row["answer_type"]
        if row["gold"] is not None and row["answer_type"] in ("decimal", "integer"):
            row["right"] = float(row["gold"])
        elif row["gold"] is not None and row["answer_type"] == "weeks_days":
            row["right"] = [int(number) for number in re.findall(r"\d+", row["gold"])]
    return rows


def read(row: Row) -> Reading:
    """What the flexible filter weighs of a row."""
    text = final_text(without_continuation(row["response"]))
    if row["benchmark"] == "medhallu":
        return read_verdict(text)
    if row["benchmark"] == "medcalc_bench":
        return read_value(text, row["judgement"])
    return read_letter(text, row["options"] or ())


def last(pattern: re.Pattern[str], row: Row) -> float | None:
    """The last number of a response, or the last after a link."""
    found = pattern.findall(row["response"].replace(",", ""))
    return float(found[-1]) if found else None


def shares(rows: list[Row], outcomes: list[str]) -> str:
    """Right in per cent, and the counts of wrong and missed."""
    counts = Counter(outcomes)
    return f"{100 * counts['right'] / len(rows):5.1f} % / {counts['wrong']:3d} / {counts['missed']:3d}"


def main() -> None:
    """Print the figures."""
    sets: dict[str, list[Row]] = defaultdict(list)
    folder = os.environ.get("MEDTASKS_SHARED")
    for row in real(Path(folder) / "data" / "responses" / "dev.jsonl") if folder else ():
        sets[row["kind"]].append(row)
    for part, path in (("corpus", CORPUS), ("later", CORPUS / "later")):
        for row in judged(path):
            sets[f"{part} {row['benchmark']} {row.get('kind') or ''}".strip()].append(row)
    decided: Counter[str] = Counter()
    certain: dict[int, list[bool]] = defaultdict(list)
    for name, rows in sorted(sets.items()):
        started = time.process_time()
        readings = [read(row) for row in rows]
        spent = time.process_time() - started
        outcomes = [outcome(row, reading.value) for row, reading in zip(rows, readings, strict=True)]
        folds: dict[int, list[bool]] = defaultdict(list)
        for row, reading, how in zip(rows, readings, outcomes, strict=True):
            decided[f"{row['benchmark']} {reading.cue}"] += 1
            if reading.value is not None:
                certain[int(10 * reading.certainty)].append(how == "right")
            question = row.get("question") or row.get("frame") or row["id"]
            folds[hashlib.sha256(question.encode()).digest()[0] % 5].append(how == "right")
        spread = " ".join(f"{100 * statistics.mean(fold):.1f}" for _, fold in sorted(folds.items()))
        line = f"{name:32s} {len(rows):5d}  {shares(rows, outcomes)}  folds {spread}  {1000 * spent / len(rows):.1f} ms"
        numbers = [row for row in rows if row.get("judgement") in ("decimal", "integer")]
        if numbers:
            line += "".join(
                f"  {label} {shares(numbers, [outcome(row, last(pattern, row)) for row in numbers])}"
                for label, pattern in (("last", _LAST), ("linked", _LINKED))
            )
        print(line)
    for tenth, right in sorted(certain.items()):
        print(f"certainty {tenth / 10:.1f}: {len(right):5d} responses, {100 * statistics.mean(right):.1f} % right")
    if "--rows" in sys.argv:
        for name, count in decided.most_common():
            print(f"{count:6d}  {name}")


if __name__ == "__main__":
    main()
