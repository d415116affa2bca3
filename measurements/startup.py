"""Measure how quickly ``medtasks eval`` starts, compared with ``lm_eval run``.

Usage: python measurements/startup.py [--repeat 5] [--tasks medhallu]

The commands run the same tasks on the bundled sample, one example each, against a local server that answers at once.
They take turns, so that a busy machine slows both. The table has medians, and their ratio, of the duration and of the
processor time, which is more reliable on a busy machine. The first request is the first prompt: the probe of one token
that ``medtasks eval`` sends does not count. A second table has the processor time of help texts.
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

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
from local_server import LocalServer, Request

from medtasks_utils.benchmarks.yaml_tasks import tasks_path


class FirstRequest:
    """A reply function that notes the time of the first request, and the processor time that the client had used."""

    process: int | None = None
    times: tuple[float, float] | None = None

    def __call__(self, request: Request) -> str:
        if self.times is None and self.process is not None:
            ticks = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()[11:13]
            self.times = time.perf_counter(), sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
        return "\\boxed{0}"


def seconds(command: list[str], answers: FirstRequest, folder: str) -> tuple[float, float, float]:
    """Return the seconds to the first request and to the end, and the processor seconds to the first request."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OPENAI_API_KEY": "none", "MEDTASKS_DATA": "sample"}
    answers.times = None
    start = time.perf_counter()
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        answers.process = process.pid
        _, errors = process.communicate()
    if process.returncode or answers.times is None:
        raise SystemExit(errors)
    first, processor = answers.times
    return first - start, time.perf_counter() - start, processor


def start(tasks: str, repeat: int) -> None:
    """Print the table of starts."""
    answers = FirstRequest()
    with LocalServer(answers) as server, tempfile.TemporaryDirectory() as folder:
        run = ["--tasks", tasks, "--limit", "1", "--output_path", "results", *server.flags()]
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


def help_texts(repeat: int) -> None:
    """Print the table of help texts, with ratios to ``lm_eval --help``."""
    ours = ["-m", "medtasks_utils.__main__"]
    commands = {"lm_eval --help": ["-m", "lm_eval", "--help"], "medtasks --help": [*ours, "--help"]}
    commands |= {f"medtasks {name} --help": [*ours, name, "--help"] for name in ("eval", "requests", "compare")}
    measured: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(repeat + 1):
        for name, words in commands.items():
            before = os.times()
            subprocess.run([sys.executable, *words], stdout=subprocess.DEVNULL, check=True)
            after = os.times()
            measured[name].append(after.children_user + after.children_system - sum(before[2:4]))
    medians = {name: statistics.median(times[1:]) for name, times in measured.items()}
    print("\n| command | processor s | ratio |\n|---|--:|--:|")
    for name, value in medians.items():
        print(f"| `{name}` | {value:.2f} | {value / medians['lm_eval --help']:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--tasks", default="medhallu")
    arguments = parser.parse_args()
    start(arguments.tasks, arguments.repeat)
    help_texts(arguments.repeat)


if __name__ == "__main__":
    main()
