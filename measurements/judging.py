"""Wall time of both judges against a local server that takes 200 ms a call, and what faults and a rerun cost.

Usage: python measurements/judging.py [--examples 500] [--concurrency 16] [--latency 0.2] [--pause 0.2]

The server runs in a process of its own. ``of ideal`` is wall / (calls x latency / concurrency), the wall time of a
client that keeps every slot busy and costs nothing itself. ``one by one`` is the same client with one slot and a pause
after each call, measured on a few examples and scaled to as many calls: the way of scripts that judge saved answers.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from medtasks_utils.judging import Case, Judgement, JudgeSettings, check, judge_all, make_judge

SERVER = Path(__file__).with_name("judge.py")
JUDGES = (("g-eval", False), ("factscore", False), ("factscore", True))
_SENTENCE = "the lesion of this nerve weakens extension while flexion and sensation are spared as the images show"


def cases(count: int) -> list[Case]:
    """Cases with an explanation of 150 words and two references of 60."""

    def text(number: int, words: int) -> str:
        return f"Reason {number}: {' '.join(itertools.islice(itertools.cycle(_SENTENCE.split()), words))}"

    return [
        Case(
            specialty="clinical_laboratory_science",
            question=f"{text(number, 25)}?",
            options=("one", "two", "three", "four"),
            answer_letter="C",
            explanation=text(number, 150),
            references=(text(number, 60), f"{text(number, 60)} too"),
        )
        for number in range(count)
    ]


@contextmanager
def serving(latency: float, faulty: bool = False) -> Iterator[str]:
    command = [sys.executable, str(SERVER), "--latency", str(latency), *(["--faulty"] if faulty else [])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def counts(url: str) -> dict[str, int]:
    with urllib.request.urlopen(url.removesuffix("/v1") + "/counts") as response:
        found: dict[str, int] = json.load(response)
    return found


def timed(name: str, coverage: bool, settings: JudgeSettings, todo: list[Case]) -> tuple[float, list[Judgement]]:
    start = time.perf_counter()
    judgements = judge_all(make_judge(name, use_coverage=coverage), settings, todo)
    return time.perf_counter() - start, judgements


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=500)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--latency", type=float, default=0.2, help="seconds")
    parser.add_argument("--pause", type=float, default=0.2, help="seconds between calls made one by one")
    arguments = parser.parse_args()
    todo = cases(arguments.examples)

    def settings(url: str, folder: str, **changed: float) -> JudgeSettings:
        limits = {"concurrency": arguments.concurrency, **changed}
        made = JudgeSettings.from_environment(model="judge", base_url=url, cache=Path(folder) / "cache", **limits)
        check(made)
        return made

    columns = "judge", "calls", "wall time, s", "relative to ideal", "most in flight", "re-run: calls", "re-run, s"
    print(f"| {' | '.join([*columns, 'one by one, s', 'ratio'])} |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for name, coverage in JUDGES:
        with serving(arguments.latency) as url, tempfile.TemporaryDirectory() as folder:
            wall, judgements = timed(name, coverage, settings(url, folder), todo)
            seen = counts(url)
            rerun, _ = timed(name, coverage, settings(url, folder), todo)
            rerun_calls = counts(url)["requests"] - seen["requests"]
            calls = seen["requests"] - 1  # without the check
            assert all(judgement.score is not None for judgement in judgements)
        few = todo[: max(1, 20 // (calls // len(todo)))]
        with serving(arguments.latency) as url, tempfile.TemporaryDirectory() as folder:
            alone, _ = timed(name, coverage, settings(url, folder, concurrency=1, pause=arguments.pause), few)
            alone *= calls / (counts(url)["requests"] - 1)
        ideal = calls * arguments.latency / arguments.concurrency
        label = f"{name}, coverage" if coverage else name
        print(
            f"| {label} | {calls} | {wall:.2f} | {wall / ideal:.3f} | {seen['most_at_once']} | {rerun_calls} "
            f"| {rerun:.2f} | {alone:.0f} | {alone / wall:.0f} |",
            flush=True,
        )
    print("\nWith faults: 10 % answered 429 and Retry-After: 1, 5 % answered 500, 3 % hung up\n")
    print("| judge | calls | answered | wall time, s | judged | failed |")
    print("|---|--:|--:|--:|--:|--:|")
    for name, coverage in JUDGES[:2]:
        with serving(arguments.latency, faulty=True) as url, tempfile.TemporaryDirectory() as folder:
            wall, judgements = timed(name, coverage, settings(url, folder), todo)
            seen = counts(url)
        failed = sum(judgement.score is None for judgement in judgements)
        print(
            f"| {name} | {seen['requests'] - 1} | {seen['answered'] - 1} | {wall:.2f} "
            f"| {len(todo) - failed} | {failed} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
