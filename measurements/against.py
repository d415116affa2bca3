"""The share of the requests that ``medtasks eval --against`` sends, through the whole command.

Usage: python measurements/against.py [--sizes 940 4183] [--points 0 2 5 10] [--runs 3]

A scripted server answers questions, in another order in each run. Both models are right in half of them, about 20 % are
answered differently, and the new model is right that many points more often in expectation. Prints a row for each size
and difference of measurements/statistics.md: the mean share asked, the decisions, how many contradict the difference
over all questions, and how many intervals lack it.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
os.environ["TQDM_DISABLE"] = "1"

from local_server import LocalServer, Request
from scripts import prompt_of

from medtasks_utils.__main__ import main as medtasks

TASK = "medmcqa_openmed"


def write_rows(folder: Path, size: int, seed: int = 0) -> Path:
    """Write questions whose right answer is A, in an order that is another for each seed."""
    (folder / "medmcqa").mkdir(parents=True)
    with (folder / "medmcqa" / "validation.jsonl").open("w", encoding="utf-8") as file:
        for number in random.Random(seed).sample(range(size), size):
            options = {f"op{letter}": f"{number} {letter}" for letter in "abcd"}
            row = {"id": str(number), "question": f"Question {number}?", **options, "cop": 0, "choice_type": "single"}
            file.write(json.dumps({**row, "exp": "", "subject_name": "Anatomy", "topic_name": "None"}) + "\n")
    return folder


def is_right(number: int, model: int, points: int) -> bool:
    """Return whether a model is right: the saved one is 0; new ones, from 1 on, differ by points in expectation."""
    luck, other = random.Random(f"luck {number}").random(), random.Random(f"{model} {number}").random()
    saved = luck < 0.5
    if not model:
        return saved
    gap = points / 100
    return not saved if other < (0.2 - gap if saved else 0.2 + gap) else saved


def evaluated(data: Path, out: Path, right: Callable[[int], bool], *more: str) -> dict[str, Any]:
    """Run the command against a server that answers by ``right``; return what it prints."""

    def answer(body: Request) -> str:
        found = re.search(r"Question (\d+)\?", prompt_of(body))
        assert found
        return f"\\boxed{{{'A' if right(int(found[1])) else 'B'}}}"

    with LocalServer(answer) as server, contextlib.redirect_stdout(io.StringIO()) as printed:
        words = ["eval", "--data", str(data), "--tasks", TASK, *server.flags(num_concurrent=8), "--log_samples"]
        code = medtasks([*words, "--output_path", str(out), "--json", *more])
    assert code == 0
    return {**json.loads(printed.getvalue()), "sent": len(server.requests)}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=[940, 4183])
    parser.add_argument("--points", type=int, nargs="*", default=[0, 2, 5, 10])
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    print(
        "| questions, points | requests | asked | decisions | wrong | not covered |\n|---|---|---|---|---|---|",
        flush=True,
    )
    for size in given.sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            evaluated(write_rows(folder / "data", size), folder / "saved", lambda number: is_right(number, 0, 0))
            for points in given.points:
                decisions: Counter[str] = Counter()
                sent, wrong, uncovered = [], 0, 0
                for run in range(1, given.runs + 1):

                    def right(number: int, model: int = 100 * points + run, points: int = points) -> bool:
                        return is_right(number, model, points)

                    against = ["--against", str(folder / "saved"), "--no_keep"]
                    seed = 100 * points + run  # other questions come first
                    data = write_rows(folder / f"data {seed}", size, seed)
                    result = evaluated(data, folder / f"new {seed}", right, *against)
                    found = result["against"][TASK]
                    assert found["asked"] == result["sent"], "each question is asked once"
                    truth = sum(right(number) - is_right(number, 0, 0) for number in range(size)) / size
                    holds = {"better": truth > 0, "worse": truth < 0, "within": abs(truth) <= 0.02, "undecided": True}
                    wrong += not holds[found["decision"]]
                    uncovered += not found["low"] - 1e-9 <= truth <= found["high"] + 1e-9
                    decisions[found["decision"]] += 1
                    sent.append(result["sent"])
                mean = sum(sent) / len(sent)
                told = ", ".join(f"{count} {decision}" for decision, count in decisions.items())
                print(
                    f"| {size:,}, {points} | {mean:,.0f} | {mean / size:.0%} | {told} | {wrong} | {uncovered} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
