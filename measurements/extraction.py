"""Measure how often the flexible filter reads what people read, in real responses and in the tests' corpus.

    MEDTASKS_SHARED=… python measurements/extraction.py [--fit | --beside FOLDER]

Prints for each class of responses how many readings are right, missed and false, of the filter and of two simple
rules: the last letter, digit or number, and the last box or "answer is". Prints too how reliable ``certainty`` is, and
the time per response in milliseconds. With ``--fit``, prints instead the table of ``certainty`` as fitted to these
responses, and how reliable it is on other folds of questions and on published replies. With ``--beside``, prints
instead the time for open reasoning here and in another checkout. ``MEDTASKS_SHARED`` names the folder with real
responses (``data/responses/dev.jsonl``, ``dev2.jsonl``, ``dev3.jsonl``); without it, only the tests' corpus is read.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import os
import re
import statistics
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))
from judged import CORPUS, judged, outcome

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.extraction.boxes import last_box, unwrap
from medtasks_utils.extraction.plain import without_continuation
from medtasks_utils.extraction.weighing import CERTAINTIES, MARGIN, Reading

Row = dict[str, Any]
BENCHMARKS = {name: benchmark() for name, benchmark in benchmarks().items()}
_NUMBER = r"-?\d+(?:\.\d+)?"
_LAST = {
    "medcalc_bench": re.compile(_NUMBER),
    "medhallu": re.compile(r"(?<!\w)[012](?!\w)"),
    "": re.compile(r"(?<!\w)[A-D](?!\w)"),
}
_ANSWER_IS = {
    "medcalc_bench": re.compile(rf"answer is:?\s*[*$(]*({_NUMBER})", re.IGNORECASE),
    "medhallu": re.compile(r"answer is:?\s*[*$(]*([012])(?!\w)", re.IGNORECASE),
    "": re.compile(r"answer is:?\s*[*$(]*([A-D])(?!\w)", re.IGNORECASE),
}


def real(path: Path) -> list[Row]:
    """Return the responses of a file, each with ``right`` in the corpus's form."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        row["right"], row["judgement"] = row["gold"], row["answer_type"]
        if row["gold"] is not None and row["answer_type"] in ("decimal", "integer"):
            row["right"] = float(row["gold"])
        elif row["gold"] is not None and row["answer_type"] == "weeks_days":
            row["right"] = [int(number) for number in re.findall(r"\d+", row["gold"])]
    return rows


def read(row: Row) -> Reading:
    """Return the flexible filter's reading of a row's response."""
    benchmark = BENCHMARKS[row["benchmark"]]
    example = dict(benchmark.blanks.get(row.get("judgement"), benchmark.blanks.get("", {})))
    example |= {name: row[name] for name in ("options", "question") if row.get(name)}
    reading: Reading | None = benchmark.read(row["response"], example)
    assert reading is not None
    return reading


def _value(row: Row, text: str) -> Any:
    """Convert a token to a value of the row's kind; None if it is not one."""
    if row["benchmark"] != "medcalc_bench":
        return text
    return float(text) if row["judgement"] in ("decimal", "integer") else None


def last_token(row: Row) -> Any:
    """Return the last letter, digit or number of a response."""
    tokens = _LAST.get(row["benchmark"], _LAST[""]).findall(row["response"].replace(",", ""))
    return _value(row, tokens[-1]) if tokens else None


def box_or_answer_is(row: Row) -> Any:
    """Return the content of a response's last box, or else what follows its last "answer is"."""
    box = last_box(row["response"])
    token = unwrap(box) if box else ""
    if _LAST.get(row["benchmark"], _LAST[""]).fullmatch(token):
        return _value(row, token)
    answers = _ANSWER_IS.get(row["benchmark"], _ANSWER_IS[""]).findall(row["response"].replace(",", ""))
    return _value(row, answers[-1]) if answers else None


READERS = {"this reader": lambda row: read(row).value, "the last": last_token, 'a box or "answer is"': box_or_answer_is}


def print_classes(sets: dict[str, list[Row]]) -> None:
    """Print, by class, how many readings are right, missed and false, of the filter and of both simple rules."""
    print("| class | n | " + " | ".join(READERS) + " |")
    for name, rows in sorted(sets.items()):
        cells = []
        for reader in READERS.values():
            counts = Counter(outcome(row, reader(row)) for row in rows)
            right = 100 * counts["right"] / len(rows)
            cells.append(f"{right:.1f} % / {counts['missed']} / {counts['wrong']}")
        print(f"| {name} | {len(rows):,} | {' | '.join(cells)} |")


def print_reliability(rows: list[Row]) -> None:
    """Print, by kind of answer and by certainty, how many readings are right."""
    certain: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for row in rows:
        reading = read(row)
        if reading.value is not None:
            lowest = next(bound for bound in (0.98, 0.95, 0.9, 0.8, 0.0) if reading.certainty >= bound)
            kind = {"medcalc_bench": "values", "medhallu": "verdicts"}.get(row["benchmark"], "letters")
            certain[kind, f"{lowest:.2f} and more"].append(outcome(row, reading.value) == "right")
    for (kind, band), right in sorted(certain.items()):
        print(f"{kind} of certainty {band}: {len(right)} readings, {100 * statistics.mean(right):.1f} % right")


def question_of(row: Row) -> str:
    return str(row.get("question") or row.get("frame") or row["id"])


def fold_of(row: Row) -> int:
    return hashlib.sha256(question_of(row).encode()).digest()[0] % 5


def weights_of(reading: Reading) -> tuple[float, float]:
    """Return the weight of the value that was read, and its margin over other values."""
    heaviest = sorted((one.weight, one.start, one.value) for one in reading.candidates if one.support > 0)[::-1]
    if not heaviest or heaviest[0][0] <= 0:
        return 0.0, MARGIN
    rival = max((weight for weight, _, value in heaviest if value != heaviest[0][2] and weight > 0), default=0.0)
    return heaviest[0][0], heaviest[0][0] - rival


def formerly(weight: float, margin: float) -> float:
    """Return ``certainty`` as before 2026-11-29: the probability that a reading is right if an answer is stated."""
    return 1 / (1 + math.exp(-(1.43 + 0.0498 * min(weight, 100) + 0.0261 * min(margin, 100))))


Cell = tuple[float, bool]


def cell_of(weight: float, margin: float) -> Cell:
    """Return the row and the column of ``CERTAINTIES``."""
    return next(row[0] for row in CERTAINTIES if weight >= row[0]), margin >= MARGIN


def shares(readings: Iterable[tuple[Cell, bool]]) -> dict[Cell, float]:
    """Return the share of right readings by cell, with one right and one wrong reading added to each."""
    counts: dict[Cell, list[int]] = defaultdict(lambda: [1, 2])
    for cell, is_right in readings:
        counts[cell][0] += is_right
        counts[cell][1] += 1
    return {cell: right / n for cell, (right, n) in counts.items()}


def print_fit(rows: list[Row]) -> None:
    """Print ``CERTAINTIES`` as fitted to the rows, and how reliable they and ``formerly`` are on other folds."""
    found = [(row, reading) for row in rows if (reading := read(row)).value is not None]
    weights = [weights_of(reading) for _, reading in found]
    readings = [
        (cell_of(*pair), outcome(row, one.value) == "right") for pair, (row, one) in zip(weights, found, strict=True)
    ]
    of_all = shares(readings)
    for minimum, *_ in CERTAINTIES:
        print(f"({minimum}, {of_all.get((minimum, False), 0.5):.3f}, {of_all.get((minimum, True), 0.5):.3f}),")
    folds = [fold_of(row) for row, _ in found]
    by_fold = [shares(one for one, own in zip(readings, folds, strict=True) if own != fold) for fold in range(5)]
    said = [by_fold[fold].get(cell, 0.5) for fold, (cell, _) in zip(folds, readings, strict=True)]
    right = [is_right for _, is_right in readings]
    print_bands("out of fold", said, right)
    print_bands("formerly", [formerly(*pair) for pair in weights], right)


def print_bands(name: str, said: Sequence[float], right: Sequence[bool]) -> None:
    """Print how often readings are right, by their certainty."""
    for low, high in pairwise((0.0, 0.8, 0.9, 0.98, 1.01)):
        own = [pair for pair in zip(said, right, strict=True) if low <= pair[0] < high]
        if own:
            means = [100 * statistics.mean(column) for column in zip(*own, strict=True)]
            print(
                f"{name}, {low:.2f} to {min(high, 1):.2f}: {len(own):5d}, {means[0]:.1f} % said, {means[1]:.1f} % right"
            )


def published(folder: Path) -> Iterator[Row]:
    """Yield published replies to MedMCQA in which the source read a letter, which counts as the right reading."""
    rows = map(json.loads, (folder / "medmcqa" / "validation.jsonl").read_text(encoding="utf-8").splitlines())
    by_id = {row["id"]: row for row in rows}
    for path in sorted((folder / "published").glob("*.jsonl.gz")):
        for line in gzip.decompress(path.read_bytes()).splitlines():
            reply = json.loads(line)
            row = by_id.get(reply["id"]) if reply["benchmark"] == "medmcqa" else None
            if row and reply["source_read"] and reply.get("how") != "default":
                options = [row[name] for name in ("opa", "opb", "opc", "opd")]
                asked = {"benchmark": "medmcqa", "question": row["question"], "options": options}
                yield {**asked, "response": reply["response"], "right": reply["source_read"]}


def print_times(rows: list[Row]) -> None:
    """Print the processor time per response of about 1,000 characters, by kind of answer."""
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


def print_open_reasoning(rows: list[Row]) -> None:
    """Print the processor time, in milliseconds, per 5,000 characters of long responses that choose a letter."""
    long = [row for row in rows if row["benchmark"] in ("medmcqa", "medexqa") and 2500 <= len(row["response"]) <= 9000]
    times = []
    for _ in range(4):  # the first of them compiles patterns
        without_continuation.cache_clear()
        started = time.process_time()
        for row in long:
            read(row)
        times.append(time.process_time() - started)
    print(5e6 * min(times) / sum(len(row["response"]) for row in long))


def print_beside(folder: str) -> None:
    """Print the time for open reasoning in this checkout and in another one, measured in turns, and their ratio."""
    found: dict[str, list[float]] = {str(Path(__file__).parents[1]): [], folder: []}
    for _ in range(3):
        for path, times in found.items():
            command = [sys.executable, __file__, "--open-reasoning"]
            run = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE, check=True)
            times.append(float(run.stdout))
    here, there = map(min, found.values())
    print(f"{here:.2f} ms for 5,000 characters here, {there:.2f} ms there: {here / there:.2f}")


def main() -> None:
    """Print the figures."""
    if "--beside" in sys.argv:
        print_beside(sys.argv[-1])
        return
    sets: dict[str, list[Row]] = defaultdict(list)
    folder = os.environ.get("MEDTASKS_SHARED")
    for file in ("dev", "dev2", "dev3") if folder else ():
        for row in real(Path(folder or "") / "data" / "responses" / f"{file}.jsonl"):
            sets[f"{file} {row['kind']}"].append(row)
    for part, path in (("corpus", CORPUS), ("later", CORPUS / "later")):
        for row in judged(path):
            sets[f"{part} {row['benchmark']} {row.get('kind') or ''}".strip()].append(row)
    rows = [row for of_class in sets.values() for row in of_class]
    if "--open-reasoning" in sys.argv:
        print_open_reasoning(rows)
        return
    if "--fit" in sys.argv:
        print_fit(rows)
        found = [(row, one) for row in published(Path(folder or "") / "data") if (one := read(row)).value is not None]
        right = [outcome(row, one.value) == "right" for row, one in found]
        print_bands("published", [one.certainty for _, one in found], right)
        return
    print_classes(sets)
    print_reliability([row for name, of_class in sets.items() if name.startswith("dev") for row in of_class])
    print_times(rows)


if __name__ == "__main__":
    main()
