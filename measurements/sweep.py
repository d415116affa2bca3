"""Measure the loop of a sweep, and simulate a night: ``python measurements/sweep.py --jobs 400 --before CHECKOUT``.

The jobs are programs that sleep for a tenth of a second, on 64 assumed processors. The night is simulated, with models
of random sizes on eight GPUs.
"""

import argparse
import heapq
import os
import random
import statistics
import subprocess
import sys
from pathlib import Path

LOOP = """
import sys, tempfile, time
from pathlib import Path
from medtasks_utils.sweep import allocation, scheduler
from medtasks_utils.sweep.plan import Plan

started = allocation.start

def start(words, *others):
    if "eval" in words:
        folder = next(word for word in words if word.startswith("--output_path=")).partition("=")[2]
        words = ["sh", "-c", 'sleep 0.1; mkdir -p "$0/m"; echo "$1" > "$0/m/results_1.json"', folder, '{"a": 1}']
    return started(words, *others)

allocation.start = start
scheduler.size_of = lambda *_, **__: 1
scheduler.write_report = lambda _: None
if hasattr(scheduler, "Report"):  # before
    scheduler.Report.update = lambda _: None
with tempfile.TemporaryDirectory() as folder:
    models = [{"name": f"m{number}", "model": "dummy"} for number in range(int(sys.argv[1]) // 4)]
    runs = [{"name": f"r{number}", "tasks": "medhallu"} for number in range(4)]
    plan = Plan(output=Path(folder), data="sample", models=models, runs=runs)
    began, used = time.perf_counter(), time.process_time()
    assert scheduler.sweep(plan, 64, None) == []
    print(time.perf_counter() - began, time.process_time() - used)
"""
GPUS = 8
MODELS = 24


def seconds_of_loop(checkout: Path, jobs: int) -> list[float]:
    """Return the duration of a sweep of ``jobs`` jobs and the processor time of its loop, in seconds."""
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    words = [sys.executable, "-c", LOOP, str(jobs)]
    run = subprocess.run(
        words, env=environment, cwd=checkout, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    return list(map(float, run.stdout.split()))


def hours(models: list[tuple[int, float]]) -> float:
    """Return the hours until all models are done, given by GPUs and hours; each starts when GPUs are free."""
    now, free, running, waiting = 0.0, GPUS, list[tuple[float, int]](), list(models)
    while waiting or running:
        for model in list(waiting):
            if model[0] <= free:
                waiting.remove(model)
                free -= model[0]
                heapq.heappush(running, (now + model[1], model[0]))
        now, count = heapq.heappop(running)
        free += count
    return now


def night(seed: int) -> tuple[float, float]:
    """Return a night's duration over its lower bound, in the plan's order and with most requests × GPUs first."""
    draw = random.Random(seed)
    models = []
    for _ in range(MODELS):
        count, requests = draw.choice([1, 1, 1, 2, 2, 4]), draw.choice([1000, 5000, 20000])
        models.append((count, requests * count**0.7 * draw.lognormvariate(0, 0.3) / 5000, requests))
    bound = max(sum(count * each for count, each, _ in models) / GPUS, max(each for _, each, _ in models))
    longest = sorted(models, key=lambda model: -model[0] * model[2])
    in_order, longest_first = (hours([model[:2] for model in order]) / bound for order in (models, longest))
    return in_order, longest_first


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, nargs="*", default=[400])
    parser.add_argument("--before", type=Path, help="another checkout to measure")
    parser.add_argument("--nights", type=int, default=400)
    arguments = parser.parse_args()
    checkouts = {"now": Path(__file__).resolve().parents[1], "before": arguments.before}
    for jobs in arguments.jobs:
        for name, checkout in checkouts.items():
            if checkout:
                whole, used = seconds_of_loop(checkout, jobs)
                print(f"{jobs:>5} jobs, {name:<6} {whole:7.1f} s, of which the loop's processor time {used:6.1f} s")
    nights = [night(seed) for seed in range(arguments.nights)]
    for name, ratios in zip(("in the plan's order", "longest first"), zip(*nights, strict=True), strict=True):
        print(f"a night {name:<20} {statistics.mean(ratios):.2f} of the bound, at most {max(ratios):.2f}")
