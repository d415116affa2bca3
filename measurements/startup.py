"""How quickly ``medtasks eval`` starts against ``lm_eval run``: seconds to the first request, and to the end of a run.

Usage: python measurements/startup.py [--repeat 5] [--tasks medhallu]

Both commands run the same tasks on the bundled sample, one example each, against a local server that answers at once.
They take turns, so that a busy machine slows both; medians and their ratio are shown.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

from medtasks_utils.benchmarks.yaml_tasks import tasks_path
from medtasks_utils.selfcheck import serving

MODEL = "instant"


class Answers(dict[str, str]):
    """Answers any prompt, and remembers when the first came."""

    first: float | None = None

    def get(self, key: str, default: str | None = None) -> str:  # type: ignore[override]
        self.first = self.first or time.perf_counter()
        return "\\boxed{0}"


def seconds(command: list[str], answers: Answers, folder: str) -> tuple[float, float]:
    """Seconds to the first request and to the end."""
    answers.first = None
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OPENAI_API_KEY": "none", "MEDTASKS_DATA": "sample"}
    start = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    end = time.perf_counter()
    if done.returncode or answers.first is None:
        raise SystemExit(done.stderr)
    return answers.first - start, end - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--tasks", default="medhallu")
    arguments = parser.parse_args()
    answers = Answers()
    with serving({MODEL: answers}) as address, tempfile.TemporaryDirectory() as folder:
        run = [
            "--tasks", arguments.tasks, "--limit", "1", "--apply_chat_template", "--output_path", "results",
            "--model", "local-chat-completions", "--model_args", f"model={MODEL},base_url={address},max_retries=1",
        ]  # fmt: skip
        commands = {
            "lm_eval run": [sys.executable, "-m", "lm_eval", "run", "--include_path", str(tasks_path()), *run],
            "medtasks eval": [sys.executable, "-m", "medtasks_utils.__main__", "eval", *run],
        }
        for command in commands.values():  # once for the disk's cache
            seconds(command, answers, folder)
        measured: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for _ in range(arguments.repeat):
            for name, command in commands.items():
                measured[name].append(seconds(command, answers, folder))
    medians = {
        name: [statistics.median(column) for column in zip(*times, strict=True)] for name, times in measured.items()
    }
    print("| command | first request, s | end, s |\n|---|--:|--:|")
    for name, (first, end) in medians.items():
        print(f"| `{name}` | {first:.2f} | {end:.2f} |")
    first, end = (slow / quick for slow, quick in zip(medians["lm_eval run"], medians["medtasks eval"], strict=True))
    print(f"| ratio | {first:.1f} | {end:.1f} |")


if __name__ == "__main__":
    main()
