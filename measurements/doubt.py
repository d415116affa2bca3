"""Measure precision and recall of `medtasks doubt` by the labels that physicians corrected.

Usage: python measurements/doubt.py DATA [--seeds 5] [--json]

DATA is a data directory with MedCalc-Bench's first release (`medcalc_bench/test.csv`) and the physicians' labels
(`corrected.csv`). Runs are simulated on the rows that have both labels. A run gives the physicians' answer with a
probability, its accuracy, and abstains where that answer is N/A. Otherwise it errs: with the probability "alike" in the
same way as all runs, else by itself. The common error is the benchmark's label in half of the rows where this is wrong.
Answers are scored against the benchmark's labels, as in a real run, and then read by the code of the command.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from datetime import date, timedelta
from pathlib import Path
from statistics import mean
from typing import Any

from medtasks_utils.audit.doubted_labels import doubts
from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.facts import KNOWN_ISSUES, UNANSWERED, Example, LoadReport
from medtasks_utils.benchmarks.medcalc_bench.kinds import KINDS, NOT_AVAILABLE
from medtasks_utils.filters import STRICT
from medtasks_utils.harness.sources import BenchmarkFiles
from medtasks_utils.results import Run, Sample, TaskRun
from medtasks_utils.results.samples import SampleLog
from medtasks_utils.writing import table

TASK = "medcalc_bench"
BENCHMARK = benchmarks()[TASK]()
FIRST = 50  # of the list


def items(root: str) -> list[Example]:
    """Return the rows with both labels, the benchmark's and the physicians'."""
    examples = BENCHMARK.load(BenchmarkFiles(root, type(BENCHMARK)), "test", LoadReport())
    for example, issues in zip(examples, BENCHMARK.known_issues(examples), strict=True):
        example[KNOWN_ISSUES] = "; ".join(issues)
    return [example for example in examples if example.get("other_label")]


def wrong_answer(truth: str, kind: str, chance: random.Random) -> str:
    """Return a wrong answer near the truth."""
    if kind == "date":
        value = KINDS["date"].strict(truth)
        moved = date(value.year, value.month, value.day) + timedelta(days=chance.choice((-14, -7, -3, -1, 1, 3, 7, 14)))
        return f"{moved.month}/{moved.day}/{moved.year}"
    number = float(truth)
    if kind == "integer":
        return str(round(number) + chance.choice((-3, -2, -1, 1, 2, 3)))
    return f"{number * chance.choice((0.25, 0.5, 0.7, 0.85, 1.15, 1.3, 2, 4)) * chance.uniform(0.98, 1.02):.4g}"


def simulated(examples: list[Example], accuracies: list[float], alike: float, chance: random.Random) -> list[Run]:
    """Return simulated runs whose accuracies by the physicians' labels are given."""
    common = []
    for example in examples:
        label = example["ground_truth"]
        basis = (
            label if example["other_label"]["ground_truth"] == NOT_AVAILABLE else example["other_label"]["ground_truth"]
        )
        repeats_label = example["other_label"]["differs"] and chance.random() < 0.5
        common.append(label if repeats_label else wrong_answer(basis, example["judgement"], chance))
    runs = []
    for number, accuracy in enumerate(accuracies):
        samples = []
        for place, (example, shared) in enumerate(zip(examples, common, strict=True)):
            truth = example["other_label"]["ground_truth"]
            if chance.random() < accuracy:
                text = "" if truth == NOT_AVAILABLE else truth
            elif chance.random() < alike:
                text = shared
            else:
                basis = example["ground_truth"] if truth == NOT_AVAILABLE else truth
                text = wrong_answer(basis, example["judgement"], chance)
            answer = BENCHMARK.answer(text, example)
            acc = BENCHMARK.is_right(answer.value, example)
            shown = UNANSWERED if answer.value is None else str(answer)
            sample = Sample(place, str(place), example, [], [text], example["shown_truth"])
            sample.answers[STRICT], sample.metrics[STRICT] = [shown], {"acc": float(acc)}
            samples.append(sample)
        task = TaskRun(TASK, TASK, {}, {})
        task.__dict__["_log"] = SampleLog(samples, [])
        runs.append(Run(f"run {number}", f"run {number}", Path(), "", {}, {TASK: task}, {}))
    return runs


def fewer_wrong(examples: list[Example], share: float, chance: random.Random) -> list[Example]:
    """Return the rows with right labels, and as many random rows with wrong labels as make up a share of all."""
    right = [example for example in examples if not example[KNOWN_ISSUES]]
    wrong = [example for example in examples if example[KNOWN_ISSUES]]
    return right + chance.sample(wrong, min(len(wrong), round(len(right) * share / (1 - share))))


def measure(
    examples: list[Example], accuracies: list[float], alike: float, seeds: int, share: float = 1.0
) -> dict[str, Any]:
    """Return means over seeds of shares from 0 to 1; ``share`` is the maximum share of wrong labels."""
    found: dict[str, list[float]] = {
        name: [] for name in ("wrong", "listed", "precision", "first", "recall", "recall_computable")
    }
    for seed in range(seeds):
        chosen = examples if share == 1.0 else fewer_wrong(examples, share, random.Random(seed))
        for name, value in measured(chosen, accuracies, alike, seed).items():
            found[name].append(value)
    means = {name: round(mean(values), 3) for name, values in found.items()}
    return {"accuracies": accuracies, "alike": alike, **means}


def measured(examples: list[Example], accuracies: list[float], alike: float, seed: int) -> dict[str, float]:
    """Return the figures of simulated runs with one seed."""
    corrected = {place for place, example in enumerate(examples) if example[KNOWN_ISSUES]}
    computable = {place for place in corrected if examples[place]["other_label"]["ground_truth"] != NOT_AVAILABLE}
    runs = simulated(examples, accuracies, alike, random.Random(seed))
    listed = [doubt.doc_id for doubt in doubts(runs, STRICT)[0]]
    return {
        "wrong": len(corrected) / len(examples),
        "listed": len(listed),
        "precision": len(corrected.intersection(listed)) / max(1, len(listed)),
        "first": len(corrected.intersection(listed[:FIRST])) / max(1, len(listed[:FIRST])),
        "recall": len(corrected.intersection(listed)) / len(corrected),
        "recall_computable": len(computable.intersection(listed)) / max(1, len(computable)),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("data", help="a data directory")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    examples = items(arguments.data)
    if not examples:
        raise SystemExit(f"{arguments.data} has no rows with both labels")
    cells = []
    for accuracies in ([0.5] * 3, [0.65] * 3, [0.8] * 3, [0.65] * 5, [0.8] * 5, [0.4, 0.5, 0.6, 0.7, 0.8]):
        for alike in (0.0, 0.3, 0.6):
            cells.append(measure(examples, accuracies, alike, arguments.seeds))
    for share in (0.05, 0.01):
        for accuracies in ([0.5] * 3, [0.65] * 3, [0.8] * 3, [0.8] * 5):
            cells += [measure(examples, accuracies, alike, 4 * arguments.seeds, share) for alike in (0.0, 0.6)]
    if arguments.json:
        print(json.dumps(cells, indent=2))
        return 0
    corrected = sum(example[KNOWN_ISSUES] != "" for example in examples)
    print(f"{len(examples)} rows, {corrected} labels corrected, {arguments.seeds} seeds; shares in per cent")
    head = (
        "wrong labels",
        "accuracies",
        "alike",
        "listed",
        "precision",
        f"of first {FIRST}",
        "recall",
        "of the computable",
    )
    rows = []
    for cell in cells:
        stated = " ".join(f"{100 * accuracy:.0f}" for accuracy in cell["accuracies"])
        shares = [f"{100 * cell[name]:.0f}" for name in ("alike", "precision", "first", "recall", "recall_computable")]
        rows.append((f"{100 * cell['wrong']:.0f}", stated, shares[0], f"{cell['listed']:.0f}", *shares[1:]))
    print(table([head, *rows]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
