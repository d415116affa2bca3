"""How quickly ``medtasks eval`` starts against ``lm_eval run``, and what scoring from Python costs.

Usage: python measurements/startup.py [--repeat 5] [--tasks medhallu]

Both commands run the same tasks on the bundled sample, one example each, against a local server that answers at once.
They take turns, so that a busy machine slows both; medians and their ratio are shown, of seconds by the clock and of
processor seconds, which say more on a busy machine. Scoring is measured in processor time, each time in a new process.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from medtasks_utils.benchmarks.yaml_tasks import tasks_path
from medtasks_utils.selfcheck.answer_server import serving

MODEL = "instant"
SCORING = """
import json, sys, time
start = time.process_time()
from medtasks_utils import Scorer
print(time.process_time() - start)
row = json.loads(sys.argv[2])
shown = {"shown": "ground_truth"} if sys.argv[1] == "medhallu" else {}
response = ("The patient is 64 years old, and the value is 3.2 mg/dL. " * 18)[:980] + " The answer is (B)."
start = time.process_time()
scorer = Scorer(sys.argv[1])
scorer(row, response, **shown)
print(time.process_time() - start)
start = time.process_time()
for number in range(200):
    scorer(row, response.replace("64", str(number)), **shown)
print((time.process_time() - start) / 200)
"""
"""Prints the seconds of the import, of the first score with what it prepares, and of each of 200 more."""


class Answers(dict[str, str]):
    """Answers any prompt, and remembers when the first came, and what the asking process had taken by then."""

    process: int | None = None
    first: tuple[float, float] | None = None

    def get(self, key: str, default: str | None = None) -> str:  # type: ignore[override]
        if self.first is None and self.process is not None:
            ticks = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()[11:13]
            self.first = time.perf_counter(), sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
        return "\\boxed{0}"


def seconds(command: list[str], answers: Answers, folder: str) -> tuple[float, float, float]:
    """To the first request and to the end by the clock; to the first request of the processor."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OPENAI_API_KEY": "none", "MEDTASKS_DATA": "sample"}
    answers.first = None
    start = time.perf_counter()
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        answers.process = process.pid
        _, errors = process.communicate()
    if process.returncode or answers.first is None:
        raise SystemExit(errors)
    first, processor = answers.first
    return first - start, time.perf_counter() - start, processor


def start(tasks: str, repeat: int) -> None:
    """Print the table of starts."""
    answers = Answers()
    with serving({MODEL: answers}) as address, tempfile.TemporaryDirectory() as folder:
        run = [
            "--tasks", tasks, "--limit", "1", "--apply_chat_template", "--output_path", "results",
            "--model", "local-chat-completions", "--model_args", f"model={MODEL},base_url={address},max_retries=1",
        ]  # fmt: skip
        commands = {
            "lm_eval run": [sys.executable, "-m", "lm_eval", "run", "--include_path", str(tasks_path()), *run],
            "medtasks eval": [sys.executable, "-m", "medtasks_utils.__main__", "eval", *run],
        }
        measured: dict[str, list[tuple[float, float, float]]] = {name: [] for name in commands}
        for _ in range(repeat + 1):
            for name, command in commands.items():
                measured[name].append(seconds(command, answers, folder))
    medians = {  # without the first, which fills the disk's cache
        name: [statistics.median(column) for column in zip(*times[1:], strict=True)] for name, times in measured.items()
    }
    print("| command | first request, s | end, s | first request, processor s |\n|---|--:|--:|--:|")
    for name, columns in medians.items():
        print(f"| `{name}` | " + " | ".join(f"{value:.2f}" for value in columns) + " |")
    ratios = [slow / quick for slow, quick in zip(*medians.values(), strict=True)]
    print("| ratio | " + " | ".join(f"{ratio:.1f}" for ratio in ratios) + " |")


def scoring(repeat: int) -> None:
    """Print the table of imports and scores."""
    import json

    from medtasks_utils.benchmarks.tables import read_rows
    from medtasks_utils.harness.sources import SAMPLE

    files = {
        "medmcqa": "medmcqa/validation.jsonl",
        "medcalc_bench": "medcalc_bench/test.csv",
        "medhallu": "medhallu/pqa_labeled.jsonl",
    }
    print("\n| benchmark | import, s | first score, s | a score, ms |\n|---|--:|--:|--:|")
    for name, file in files.items():
        row: Any = next(iter(read_rows(SAMPLE / file)))
        command = [sys.executable, "-c", SCORING, name, json.dumps(row, default=str)]
        found = [
            [float(line) for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()]
            for _ in range(repeat)
        ]
        imported, first, each = (statistics.median(column) for column in zip(*found, strict=True))
        print(f"| {name} | {imported:.2f} | {first:.2f} | {1000 * each:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--tasks", default="medhallu")
    arguments = parser.parse_args()
    start(arguments.tasks, arguments.repeat)
    scoring(arguments.repeat)


if __name__ == "__main__":
    main()
