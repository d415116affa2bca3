"""How long the longest hostile responses keep the readings busy, in processor time.

Usage: python measurements/hostile.py [--length 200000]

For each benchmark the three of the tests' hostile texts that take both readings longest, and by what factor that grows
when the text is twice as long: 2 where it is linear, 4 where it is quadratic.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))
from given import GENERATION_TASKS
from hostile_texts import UNITS, cases, long, texts
from running import reader


def hostile(length: int) -> dict[str, str]:
    """Texts by what they are."""
    repeated = {unit: (unit * length)[:length] for unit in (*UNITS, *texts("pieces"))}
    return {**repeated, **long(length)}


def seconds(task: Any, text: str) -> float:
    """Of both readings, for the kind of document that takes longest."""
    taken = []
    for doc in cases(task):
        started = time.process_time()
        task.strict(text, doc)
        task.flexible(text, doc)
        taken.append(time.process_time() - started)
    return max(taken)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--length", type=int, default=200_000)
    length = parser.parse_args().length
    short, whole = hostile(length // 2), hostile(length)
    for name in GENERATION_TASKS:
        task = reader(name)
        taken = {label: seconds(task, text) for label, text in whole.items()}
        slowest = sorted(taken, key=lambda label: -taken[label])[:3]
        shown = (
            f"{label!r} {1000 * taken[label]:.0f} ms ({taken[label] / seconds(task, short[label]):.1f})"
            for label in slowest
        )
        print(f"{name}: {', '.join(shown)}")


if __name__ == "__main__":
    main()
