"""Count the real replies on which Medmarks' rules and ours differ, by cause, for tasks/medmarks/README.md.

    MEDTASKS_SHARED=… python measurements/medmarks.py

``MEDTASKS_SHARED`` names the folder with ``data/``: rows, ``published/`` and ``responses/``. Of the replies to
MedMCQA, every tenth is read. If one has no answer tag, its last line is put into one, since no model was asked for
tags.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from medtasks_utils import Scorer
from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.medcalc_bench.kinds import CALCULATORS
from medtasks_utils.benchmarks.medmarks_letters import tagged

DATA = Path(os.environ["MEDTASKS_SHARED"]) / "data"
KINDS = {calculator.id: calculator.kind.name for calculator in CALCULATORS}


def rows_of(benchmark: str) -> dict[str, dict[str, Any]]:
    """Return the rows of a benchmark by the ids that published replies have."""
    if benchmark == "medmcqa":
        lines = (DATA / "medmcqa" / "validation.jsonl").read_text("utf-8").splitlines()
        return {row["id"]: row for row in map(json.loads, lines)}
    with (DATA / "medcalc_bench" / "test.csv").open(encoding="utf-8", newline="") as file:
        return {row["Row Number"]: row for row in csv.DictReader(file)}


def published(benchmark: str) -> Iterator[tuple[str, str]]:
    """Yield the id of the example and the text of each published reply to a benchmark."""
    for path in sorted((DATA / "published").glob("*.jsonl.gz")):
        for line in gzip.decompress(path.read_bytes()).splitlines():
            reply = json.loads(line)
            if reply["benchmark"] == benchmark:
                yield reply["id"], reply["response"]


def cause_of_value(content: str, row: dict[str, Any]) -> str:
    """Return why the two rules differ on a value: the form of what the tag contains."""
    kind = KINDS[int(row["Calculator ID"])]
    if "%" in content:
        return "a percentage"
    if kind == "integer":
        listed = re.search(r"-?\d+(, ?-?\d+)+", content)
        return "a list, whose length is read" if listed else "a whole number that is written otherwise"
    if kind == "decimal" and float(row["Lower Limit"]) > float(row["Upper Limit"]):
        return "limits in the wrong order"
    return f"another form of {kind}"


def cause_of_letter(content: str) -> str:
    """Return why the two rules differ on a letter: the form of what the tag contains."""
    if not content.strip():
        return "an empty tag"
    if "\\" in content or "$" in content:
        return "LaTeX, or a comment in it"
    if re.search(r"\banswer is an? ", content, re.IGNORECASE):
        return '"the answer is a …"'
    return "a letter with another text" if re.match(r"\W*[A-D]\b", content) else "a text"


def print_causes(name: str, pairs: Iterator[tuple[str, bool, bool]]) -> None:
    """Print, by cause, how many replies are right by only one of the rules."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    n = 0
    for cause, theirs, ours in pairs:
        n += 1
        if theirs != ours:
            counts[cause]["Medmarks" if theirs else "ours"] += 1
    print(f"{name}: {n:,} replies")
    for cause, by in sorted(counts.items(), key=lambda item: -sum(item[1].values())):
        print(f"  {cause}: right only by ours {by['ours']}, only by Medmarks' {by['Medmarks']}")


def scored(benchmark: str, task: str) -> Iterator[tuple[str, bool, bool]]:
    """Yield, for each published reply, the cause of a possible difference, and whether each rule counts it as right."""
    rows, scorer = rows_of(benchmark), Scorer(task)
    replies = published(benchmark)
    for name, response in islice(replies, 0, None, 10) if benchmark == "medmcqa" else replies:
        if name not in rows or not response.strip():
            continue
        found = tagged(response)
        last = found[-1] if found else response.strip().splitlines()[-1]
        text = response if found or benchmark == "medcalc_bench" else f"{response}\n<answer>{last}</answer>"
        score = scorer(rows[name], text)
        theirs, ours = (
            score[filter_name].metrics["acc"] == 1.0 for filter_name in ("strict-match", "flexible-extract")
        )
        cause = cause_of_value(last, rows[name]) if benchmark == "medcalc_bench" else cause_of_letter(last)
        yield cause, theirs, ours


def verdicts() -> Iterator[tuple[str, bool, bool]]:
    """Yield the same for replies to MedHallu, in which the verdict that a person read is right."""
    benchmark = benchmarks()["medmarks_medhallu"]()
    for path in sorted((DATA / "responses").glob("*.jsonl")):
        for row in map(json.loads, path.read_text("utf-8").splitlines()):
            if row["benchmark"] == "medhallu" and row["gold"] is not None:
                text = row["response"]
                read = [
                    reader(text, {"difficulty": "easy"}).value == row["gold"] for reader in benchmark.readers.values()
                ]
                yield "no box" if "\\boxed{" not in text else "a box that holds more than the digit", read[0], read[1]


if __name__ == "__main__":
    print_causes("MedCalc-Bench", scored("medcalc_bench", "medmarks_medcalc_v1_2"))
    print_causes("MedHallu", verdicts())
    print_causes("MedMCQA", scored("medmcqa", "medmarks_medmcqa"))
