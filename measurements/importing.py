"""Measure how the memory and disk space of an import grow with the number and the length of responses.

Usage: python measurements/importing.py [--rows 4000] [--lines 50000]

Prints the table of measurements/importing.md. Each line is one `medtasks import` in a separate process, of random
words in MedMCQA's form: short and long answers, many for each row, and one for each of many rows.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

_WORDS = Path(__file__).read_text("utf-8").split()


def text(chance: random.Random, words: int) -> str:
    """Return random words."""
    return " ".join(chance.choices(_WORDS, k=words))


def measure(folder: Path, rows: int, lines: int, words: int) -> str:
    """Import ``lines`` answers of ``words`` words each to ``rows`` rows, and return a line of the table."""
    chance = random.Random(1)
    data, path, out = folder / "data/medmcqa/validation.jsonl", folder / "lines.jsonl", folder / "out"
    data.parent.mkdir(parents=True)
    with data.open("w") as file:
        for row in range(rows):
            choices = {f"op{letter}": text(chance, 4) for letter in "abcd"}
            record = {"id": f"row-{row}", "question": text(chance, 40), **choices, "cop": row % 4}
            file.write(
                json.dumps({**record, "exp": "", "subject_name": "", "topic_name": "", "choice_type": ""}) + "\n"
            )
    with path.open("w") as file:
        for line in range(lines):
            said = f"{text(chance, words)}\nThe answer is {chance.choice('ABCD')}."
            file.write(json.dumps({"id": f"row-{line % rows}", "response": said}) + "\n")
    flags = ["--task", "medmcqa_openmed", "--id", "id", "--response", "response", "--data", str(folder / "data")]
    command = [sys.executable, "-m", "medtasks_utils", "import", str(path), *flags, "-o", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0
    read = path.stat().st_size + data.stat().st_size
    written = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    shown = (f"{rows:,}", f"{lines:,}", words, f"{read / 1e6:.1f}", f"{written / 1e6:.1f}", f"{written / read:.2f}")
    return f"| {' | '.join(map(str, shown))} | {usage.ru_maxrss / 1e3:,.0f} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=4_000)
    parser.add_argument("--lines", type=int, default=50_000)
    given = parser.parse_args()
    print("| rows | responses | words each | read, MB | written, MB | written / read | peak memory, MB |")
    print("|---|---|---|---|---|---|---|")
    for rows, lines, words in (
        (given.rows, given.rows, 20),
        (given.rows, given.lines, 20),
        (given.rows, given.lines, 200),
        (given.lines, given.lines, 20),
    ):
        with tempfile.TemporaryDirectory() as name:
            print(measure(Path(name), rows, lines, words), flush=True)


if __name__ == "__main__":
    main()
