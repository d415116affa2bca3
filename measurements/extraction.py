"""How often the flexible reading agrees with a careful reader, on real responses and on the judged corpus.

    MEDTASKS_SHARED=… python measurements/extraction.py [--rows | --fit]

Prints, by kind: the share right, wrong and missed, beside the last number and the last number after ``=``, ``≈``, "is",
"of" and "to"; five folds by question; the reliability of ``certainty``; milliseconds a response. With ``--rows``
instead, for each row of the tables how many responses of the developing half and the judged corpus it decides: of how
many readings it is the cue; how many are others without it, and are right only with it or only without; and of how many
questions these are, with the share of the one that most are of. With ``--fit``: ``certainty`` fitted anew to the same
responses, and its reliability on folds by question that it was not fitted on. ``MEDTASKS_SHARED`` names the folder with
``data/responses/dev.jsonl``, which is no part of the project.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from judged import CORPUS, judged, outcome

from medtasks_utils.extraction import letters, values, verdicts, weighing
from medtasks_utils.extraction.letters import read_letter
from medtasks_utils.extraction.plain import without_continuation
from medtasks_utils.extraction.think import final_text
from medtasks_utils.extraction.values import read_value
from medtasks_utils.extraction.verdicts import read_verdict
from medtasks_utils.extraction.weighing import Candidate, Reading
from medtasks_utils.extraction.weighing import Row as TableRow
from medtasks_utils.extraction.words import Symbols, pattern

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


class Switch:
    """Stands for ``weighed`` in the readers: notes which row was whose cue, and leaves one row out."""

    def __init__(self) -> None:
        self.off: TableRow | None = None
        self.matched: set[TableRow] = set()
        self.cues: dict[tuple[str, int], TableRow] = {}
        for module in (letters, values, verdicts):
            setattr(module, "weighed", self.weighed)  # noqa: B010

    def weighed(self, table: Sequence[TableRow], symbols: Symbols) -> list[Candidate]:
        for row in table:
            for match in pattern(row.pattern).finditer(symbols.symbols):
                self.matched.add(row)
                at = row.name, symbols.found[match.start("at")].start
                if at not in self.cues or row.weight > self.cues[at].weight:
                    self.cues[at] = row
        return weighing.weighed([row for row in table if row is not self.off], symbols)

    def cue_of(self, reading: Reading) -> TableRow | None:
        """The row by which it was read."""
        own = [one for one in reading.candidates if one.value == reading.value and one.cue == reading.cue]
        return next((row for one in own if (row := self.cues.get((one.cue, one.start)))), None)


def print_rows(rows: list[Row]) -> None:
    """How many responses each row of the tables decided."""
    switch = Switch()
    readings, found_by, held = [], [], defaultdict(list)
    for place, row in enumerate(rows):
        switch.matched, switch.cues = set(), {}
        readings.append(read(row))
        found_by.append(switch.cue_of(readings[-1]))
        for own in switch.matched:
            held[own].append(place)
    tables = {
        "letters": letters.TABLE,
        "values": (*values.TABLE, *chain(*values._OF_KIND.values())),
        "verdicts": verdicts.TABLE,
    }
    print("reader    weight name            is the cue  otherwise without  helps hurts  questions, most of one")
    for reader, table in tables.items():
        for own in table:
            switch.off = own
            without = {place: read(rows[place]) for place in held[own]}
            changed = [place for place in held[own] if without[place].value != readings[place].value]
            rights = [[outcome(rows[p], found[p].value) == "right" for p in changed] for found in (readings, without)]
            helps, hurts = (sum(a > b for a, b in zip(*sides, strict=True)) for sides in (rights, rights[::-1]))
            cue = [place for place in held[own] if found_by[place] is own]
            questions = Counter(question_of(rows[place]) for place in {*cue, *changed})
            most = max(questions.values(), default=0) / max(1, questions.total())
            print(
                f"{reader:9s} {own.weight:6g} {own.name:15s} {len(cue):10d} {len(changed):18d} {helps:6d} {hurts:5d}"
                f" {len(questions):9d} {most:5.0%}  {own.pattern[:60]}"
            )
        switch.off = None


def question_of(row: Row) -> str:
    return str(row.get("question") or row.get("frame") or row["id"])


def fold_of(row: Row) -> int:
    return hashlib.sha256(question_of(row).encode()).digest()[0] % 5


def print_fit(rows: list[Row]) -> None:
    """The logistic function of ``certainty`` fitted anew, and how far it holds on folds that it was not fitted on."""
    found = [(row, reading) for row in rows if (reading := read(row)).value is not None]
    margins = []
    for _, reading in found:
        heaviest = sorted((one for one in reading.candidates if one.support > 0), key=lambda one: -one.weight)
        rival = next((one.weight for one in heaviest if one.value != heaviest[0].value), 0.0)
        margins.append((1.0, min(heaviest[0].weight, 100) / 50, min(heaviest[0].weight - max(rival, 0.0), 100) / 50))
    features = np.array(margins)
    right = np.array([outcome(row, reading.value) == "right" for row, reading in found], dtype=float)
    folds = np.array([fold_of(row) for row, _ in found])
    constant, weight, margin = fitted(features, right)
    print(f"certainty = 1 / (1 + exp(-({constant:.2f} + {weight / 50:.4f} weight + {margin / 50:.4f} margin)))")
    said = np.zeros(len(right))
    for fold in range(5):
        held_out = folds == fold
        said[held_out] = 1 / (1 + np.exp(-features[held_out] @ fitted(features[~held_out], right[~held_out])))
    for low, high in ((0, 0.8), (0.8, 0.9), (0.9, 0.95), (0.95, 0.98), (0.98, 1.01)):
        own = (said >= low) & (said < high)
        if own.any():
            shares_ = f"{100 * said[own].mean():.1f} % said, {100 * right[own].mean():.1f} % right"
            print(f"{low:.2f} to {min(high, 1):.2f}, out of fold: {own.sum():5d} readings, {shares_}")


def fitted(features: Any, right: Any) -> Any:
    """Logistic regression by Newton's method, with a slight ridge."""
    found = np.zeros(features.shape[1])
    for _ in range(60):
        p = 1 / (1 + np.exp(-features @ found))
        hessian = (features * (p * (1 - p))[:, None]).T @ features + 1e-2 * np.eye(len(found))
        found += np.linalg.solve(hessian, features.T @ (right - p) - 1e-2 * found)
    return found


def print_times(rows: list[Row]) -> None:
    """Processor time of a response of about 1,000 characters, by what is read in it; of the readers' import."""
    times: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if 800 <= len(row["response"]) <= 1200:
            without_continuation.cache_clear()
            started = time.process_time()
            read(row)
            kind = {"medcalc_bench": "values", "medhallu": "verdicts"}.get(row["benchmark"], "letters")
            times[kind].append(1000 * (time.process_time() - started))
    for kind, own in times.items():
        median = statistics.median(own)
        print(f"{kind}: median {median:.1f} ms of processor time over {len(own)} of 800 to 1,200 characters")
    readers = ", ".join(f"medtasks_utils.extraction.{name}" for name in ("letters", "values", "verdicts"))
    code = f"import time; start = time.process_time(); import {readers}; print(time.process_time() - start)"
    seconds = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(9)]
    print(f"import of the readers: median {1000 * statistics.median(seconds):.0f} ms of processor time")


def main() -> None:
    """Print the figures."""
    sets: dict[str, list[Row]] = defaultdict(list)
    folder = os.environ.get("MEDTASKS_SHARED")
    for row in real(Path(folder) / "data" / "responses" / "dev.jsonl") if folder else ():
        sets[row["kind"]].append(row)
    for part, path in (("corpus", CORPUS), ("later", CORPUS / "later")):
        for row in judged(path):
            sets[f"{part} {row['benchmark']} {row.get('kind') or ''}".strip()].append(row)
    if "--rows" in sys.argv:
        print_rows([row for rows in sets.values() for row in rows])
        return
    if "--fit" in sys.argv:
        print_fit([row for name, rows in sets.items() if not name.startswith("later") for row in rows])
        return
    certain: dict[int, list[bool]] = defaultdict(list)
    for name, rows in sorted(sets.items()):
        started = time.process_time()
        readings = [read(row) for row in rows]
        spent = time.process_time() - started
        outcomes = [outcome(row, reading.value) for row, reading in zip(rows, readings, strict=True)]
        folds: dict[int, list[bool]] = defaultdict(list)
        for row, reading, how in zip(rows, readings, outcomes, strict=True):
            if reading.value is not None:
                certain[int(10 * reading.certainty)].append(how == "right")
            folds[fold_of(row)].append(how == "right")
        spread = " ".join(f"{100 * statistics.mean(fold):.1f}" for _, fold in sorted(folds.items()))
        line = f"{name:32s} {len(rows):5d}  {shares(rows, outcomes)}  folds {spread}  {1000 * spent / len(rows):.1f} ms"
        numbers = [row for row in rows if row.get("judgement") in ("decimal", "integer")]
        if numbers:
            line += "".join(
                f"  {label} {shares(numbers, [outcome(row, last(pattern, row)) for row in numbers])}"
                for label, pattern in (("last", _LAST), ("linked", _LINKED))
            )
        print(line)
    print_times([row for rows in sets.values() for row in rows])
    for tenth, right in sorted(certain.items()):
        print(f"certainty {tenth / 10:.1f}: {len(right):5d} responses, {100 * statistics.mean(right):.1f} % right")


if __name__ == "__main__":
    main()
