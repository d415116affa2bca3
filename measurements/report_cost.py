"""Measure the processor time and memory that a page of many runs takes, in this checkout and an earlier one.

Usage: python measurements/report_cost.py RUN [--runs 40] [--before FOLDER] [--work FOLDER]

RUN is the folder of a saved run with samples. Other runs are made from it by removing random answers, in each run
from a different share of the samples. FOLDER is an earlier checkout, which makes the same page.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any


def vary(line: dict[str, Any], rng: random.Random, share: float) -> dict[str, Any]:
    """Return a line of a sample log; in a random ``share`` of lines, the answer is removed and scores are 0."""
    if rng.random() >= share:
        return line
    unread = dict.fromkeys(("acc", "answered"), 0.0)
    return {**line, **unread, "filtered_resps": ["[invalid]"], "resps": [[f"I do not know. {rng.random()}"]]}


def make_runs(run: Path, count: int, into: Path) -> None:
    """Write ``count`` runs, each with another model name."""
    (results,) = run.rglob("results_*.json")
    logs = list(results.parent.glob("samples_*.jsonl"))
    for number in range(count):
        rng, folder = random.Random(number), into / f"model-{number}"
        folder.mkdir(parents=True, exist_ok=True)
        content = json.loads(results.read_text(encoding="utf-8"))
        content["results"] = {task: {} for task in content["results"]}
        content["model_name"] = f"model-{number}"
        (folder / results.name).write_text(json.dumps(content), encoding="utf-8")
        for log in logs:
            state = rng.getstate()
            with log.open(encoding="utf-8") as lines, (folder / log.name).open("w", encoding="utf-8") as out:
                for line in map(json.loads, lines):
                    rng.seed(f"{number} {line['doc_id']}")
                    out.write(json.dumps(vary(line, rng, number / (2 * count))) + "\n")
            rng.setstate(state)


def cost(code: Path, runs: Path, page: Path) -> tuple[float, float]:
    """Return the processor seconds and the peak memory in GB of ``medtasks report`` from a checkout."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "medtasks_utils", "report", str(runs), "-o", str(page)]
    subprocess.run(command, check=True, cwd=code, env={**os.environ, "PYTHONPATH": str(code)}, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, after.ru_maxrss / 1e6


def main() -> int:
    """Print the costs; this checkout runs first, since the memory is the maximum over all commands so far."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--before", type=Path)
    arguments = parser.parse_args()
    with TemporaryDirectory() as place:
        work = Path(place)
        make_runs(arguments.run, arguments.runs, work / "runs")
        codes = [Path(__file__).resolve().parents[1], *filter(None, [arguments.before])]
        found = [cost(code, work / "runs", work / "page.html") for code in codes]
    for name, (seconds, memory) in zip(("now", "before"), found, strict=False):
        print(f"{name}: {arguments.runs} runs, {seconds:.0f} s of processor time, {memory:.1f} GB at most")
    if len(found) > 1:
        print(
            f"now / before: {found[0][0] / found[1][0]:.2f} of the time, {found[0][1] / found[1][1]:.2f} of the memory"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
