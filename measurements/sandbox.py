"""Measure the time of calls of the Python tool, with isolation, and check what honest programs print in it.

Usage: python measurements/sandbox.py [costs|crowd|honest] [--calls 200] [--many 10000] [--container]
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import errno
import io
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from medtasks_utils.errors import MedtasksError
from medtasks_utils.sandbox import Sandbox

CODE = """
import numpy as np
from scipy import stats

def clearance(age, weight, creatinine, female):
    value = (140 - age) * weight / (72 * creatinine)
    return value * 0.85 if female else value

values = np.array([clearance(age, 72.0, 1.4, age % 2) for age in range(40, 90)])
print(f"{values.mean():.2f} {stats.norm.cdf(1.96):.4f}")
round(float(np.median(values)), 3)
"""
FRESH = "import numpy, scipy.stats"


def seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def milliseconds(samples: list[float]) -> str:
    ordered = sorted(samples)
    return f"{1000 * statistics.median(ordered):.1f} | {1000 * ordered[int(0.95 * (len(ordered) - 1))]:.1f}"


def in_this_process() -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        tree = ast.parse(CODE)
        exec(compile(tree, "main.py", "exec"), {})


def calls(sandbox: Sandbox, count: int) -> None:
    fresh, warm, least, own = [], [], [], []
    sandbox.run([("warm-up", CODE)])
    for number in range(count):
        fresh.append(seconds(lambda n=number: sandbox.run([(f"s{n}", CODE)])))  # type: ignore[misc]
        warm.append(seconds(lambda n=number: sandbox.run([(f"s{n}", CODE)])))  # type: ignore[misc]
        least.append(seconds(lambda n=number: sandbox.run([(f"s{n}", "1")])))  # type: ignore[misc]
        sandbox.forget(f"s{number}")
        own.append(seconds(in_this_process))
    started = [
        seconds(lambda: subprocess.run([sys.executable, "-c", FRESH + CODE], capture_output=True)) for _ in range(5)
    ]
    print(f"first call of an example, ms | {milliseconds(fresh)}")
    print(f"later call of an example, ms | {milliseconds(warm)}")
    print(f"later call of the code `1`, ms | {milliseconds(least)}")
    print(f"the same code parsed, compiled and run in this process, ms | {milliseconds(own)}")
    print(f"a fresh interpreter per call, ms | {milliseconds(started)}")
    ratio = statistics.median(started) / statistics.median(fresh)
    print(f"ratio of medians, fresh interpreter to first call | {ratio:.0f}")


MISBEHAVING = (
    "while True: pass",
    "x = 'a' * 10**11",
    "import os\nos._exit(1)",
    "import ctypes\nctypes.string_at(0)",
    "while True: print('x' * 10**5)",
)


def crowd(count: int, examples: int = 64, share: float = 0.03) -> None:
    """Run calls of many examples at once, some of them misbehaving; print waiting times and errors of honest ones."""
    taken: list[float] = []
    wrong: list[str] = []

    def converse(example: int) -> None:
        draw = random.Random(example)
        for _ in range(count // examples):
            code = draw.choice(MISBEHAVING)
            if is_honest := draw.random() >= share:
                a, b = draw.randrange(100), draw.randrange(100)
                code = f"import numpy as np\nprint(int(np.sum([{a}, {b}])))"
            start = time.perf_counter()
            (result,) = sandbox.run([(f"c{example}", code)])
            if is_honest:
                taken.append(time.perf_counter() - start)
                if result.text != str(a + b):
                    wrong.append(result.text)

    with Sandbox(timeout=1) as sandbox, ThreadPoolExecutor(examples) as threads:
        sandbox.started()
        list(threads.map(converse, range(examples)))
    taken.sort()
    at = [f"{taken[int(part * (len(taken) - 1))]:.2f}" for part in (0.5, 0.99, 1)]
    print(f"{len(taken):,} honest calls, wrong answers; median, p99, longest in s | {len(wrong)} | {' | '.join(at)}")


def of_ours() -> tuple[int, int, int]:
    """Return the numbers of child processes, of files in temporary folders, and of open descriptors."""
    folders = {"/tmp", "/var/tmp", "/dev/shm", tempfile.gettempdir()}
    files = sum(name.startswith("medtasks-python-") for folder in folders for name in os.listdir(folder))
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split()
    return len(children), files, len(os.listdir("/proc/self/fd"))


def honest(in_container: bool) -> None:
    """Compare honest programs in the sandbox with CPython, with all layers on and with some off."""
    recorded = Path(__file__).parents[1] / "tests" / "sandbox" / "tables" / "programs.jsonl"
    pairs = [json.loads(line) for line in recorded.read_text(encoding="utf-8").split("\n") if line]
    programs, wanted = [program for program, _ in pairs], [said for _, said in pairs]
    if in_container:  # as Docker's default profile has it
        from pyseccomp import ALLOW, ERRNO, SyscallFilter

        profile = SyscallFilter(ALLOW)
        for name in ("unshare", "setns", "mount", "umount2", "pivot_root"):
            profile.add_rule(ERRNO(errno.EPERM), name)
        profile.load()
    print(f"user {os.getuid()}; of {len(wanted)} honest programs, as CPython has them")
    for off in ((), ("namespaces",), ("landlock",), ("namespaces", "landlock"), ("seccomp",), ("limits",)):
        with Sandbox(timeout=60, max_output=100_000, _off=off) as sandbox:
            try:
                on = sandbox.started().description
                results = sandbox.run([(f"honest {number}", program) for number, program in enumerate(programs)])
                equal = [text == result.text for text, result in zip(wanted, results, strict=True)]
                failed = sum(result.failed for result in results)
                said = f"{sum(equal)} equal, {failed} end in an error, {equal.count(False)} differ | {on}"
            except MedtasksError as error:
                said = f"it does not run: {str(error)[:120]}"
        print(f"without {', '.join(off) or 'nothing'} | {said}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["all", "costs", "crowd", "honest"], default="all")
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--many", type=int, default=10_000, help="number of calls of crowd")
    parser.add_argument("--container", action="store_true", help="run honest without namespaces, as in a container")
    arguments = parser.parse_args()
    print("load | " + " | ".join(f"{load:.1f}" for load in os.getloadavg()), flush=True)
    before = of_ours()
    if arguments.what in ("all", "honest"):
        honest(arguments.container)
    if arguments.what in ("all", "costs"):
        with Sandbox() as sandbox:
            print("layers off |", {name: reason for name, reason in sandbox.layers.items() if reason} or "none")
            calls(sandbox, arguments.calls)
    if arguments.what in ("all", "crowd"):
        crowd(arguments.many)
    print(f"processes, files and descriptors before and after it all | {before} | {of_ours()}")
    print("load | " + " | ".join(f"{load:.1f}" for load in os.getloadavg()))


if __name__ == "__main__":
    main()
