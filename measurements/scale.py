"""Measure what a run takes on the machine that sends the requests, by numbers of examples, turns and judge calls.

Usage: python measurements/scale.py [--examples 1000 4000 20000] [--turns 1 4 16] [--judged 60 240]

Each line is one ``medtasks eval`` in a separate process, with cache and samples, against a local server that answers at
once. It has the duration, the processor time and the peak memory of this process. Rows are those of the bundled sample,
repeated under other names.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
from judge_server import JudgeServer, sound
from local_server import Answer

from medtasks_utils.harness.sources import SAMPLE

LETTERS: list[str] = []
"""The right answers of MedExQA's rows, by number."""


def write_rows(folder: Path, examples: int) -> Path:
    """Write MedMCQA's and MedExQA's rows of the sample, repeated, and return their folder."""
    (folder / "medmcqa").mkdir(parents=True)
    lines = (SAMPLE / "medmcqa" / "validation.jsonl").read_text("utf-8").splitlines()
    with (folder / "medmcqa" / "validation.jsonl").open("w", encoding="utf-8") as file:
        for number in range(examples):
            row = json.loads(lines[number % len(lines)])
            row.update(id=f"{row['id']}-{number}", question=f"Case {number}: {row['question']}")
            file.write(json.dumps(row) + "\n")
    for path in sorted((SAMPLE / "medexqa").rglob("*.tsv")):
        rows = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
        target = folder / path.relative_to(SAMPLE)
        target.parent.mkdir(parents=True, exist_ok=True)
        is_asked = path.name.startswith("clinical_psych") and path.parent.name == "test"
        chosen = [rows[number % len(rows)] for number in range(examples)] if is_asked else rows
        if is_asked:
            LETTERS[:] = [row[7] for row in chosen]
        text = "".join("\t".join([f"Case {at}: {row[0]}", *row[1:]]) + "\n" for at, row in enumerate(chosen))
        target.write_text(text, encoding="utf-8")
    (folder / "medcalc_bench").mkdir()
    for name in ("test.csv", "one_shot.csv"):
        (folder / "medcalc_bench" / name).write_bytes((SAMPLE / "medcalc_bench" / name).read_bytes())
    return folder


def measured(folder: Path, url: str, task: str, *more: str, data: Path) -> tuple[float, float, float]:
    """Run a task, and return its duration and processor time in seconds and its peak memory in MB."""
    command = [
        *(sys.executable, "-m", "medtasks_utils.__main__", "eval", "--tasks", task, "--data", str(data)),
        *("--model", "local-chat-completions", "--apply_chat_template", "--output_path", str(folder), "--log_samples"),
        *("--model_args", f"model=m,base_url={url}/chat/completions,num_concurrent=32"),
        *("--use_cache", str(folder / "cache"), *more),
    ]
    environment = {**os.environ, "OPENAI_API_KEY": "none", "JUDGE_API_KEY": "none", "TQDM_DISABLE": "1"}
    began = time.perf_counter()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    errors = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit(errors.decode())
    return time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def answer(turns: int) -> Any:
    """Return a server's reply function: the right letter after ``turns`` turns with a calculator, or a judgement."""

    def reply(request: dict[str, Any]) -> Answer:
        chat = request["messages"]
        if request["model"] == "judge":
            return sound(request)
        turn = 1 + sum(message["role"] == "assistant" for message in chat)
        if turn < turns:
            return f'<tool_call>{{"name": "calculator", "arguments": {{"expression": "{turn} * 7"}}}}</tool_call>'
        found = re.search(r"Case (\d+):", chat[-1]["content"])
        letter = LETTERS[int(found[1])] if found and int(found[1]) < len(LETTERS) else "A"
        return f"\\boxed{{{letter}}} The answer is {letter}. " + "It follows from what is known. " * 30

    return reply


def show(what: str, requests: int, found: tuple[float, float, float]) -> None:
    wall, cpu, memory = found
    print(
        f"| {what} | {requests:,} | {wall:.0f} | {cpu:.0f} | {1000 * cpu / requests:.1f} | {memory:.0f} |", flush=True
    )


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, nargs="*", default=[1000, 4000, 20000])
    parser.add_argument("--turns", type=int, nargs="*", default=[1, 4, 16])
    parser.add_argument("--judged", type=int, nargs="*", default=[60, 240])
    given = parser.parse_args()
    print("| | requests | s | processor s | ms a request | MB |\n|---|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for count in given.examples:
            data = write_rows(folder / f"data{count}", count)
            with JudgeServer(answer(1)) as server:
                show(
                    f"{count:,} examples",
                    count,
                    measured(folder / f"e{count}", server.url, "medmcqa_openmed", data=data),
                )
        for turns in given.turns:
            with JudgeServer(answer(turns)) as server:
                more = ["--set", "medcalc_bench.repeats=10", "--gen_kwargs", "do_sample=true,temperature=1"]
                task, out = "medcalc_bench_calculator", folder / f"t{turns}"
                found = measured(out, server.url, task, *more, data=SAMPLE)
                show(f"conversations of {turns} turns", len(server.requests) - 1, found)
        for count in given.judged:
            data = write_rows(folder / f"judged{count}", count)
            for mode in ("g-eval", "factscore"):
                with JudgeServer(answer(1)) as server:
                    judge = {
                        "use_judge": True,
                        "judge_mode": mode,
                        "judge_base_url": server.url,
                        "judge_model": "judge",
                    }
                    options = {"medexqa": {**judge, "judge_cache": str(folder / f"{mode}{count}.db")}}
                    more = ["--metadata", json.dumps(options)]
                    task, out = "medexqa_clinical_psychology", folder / f"{mode}{count}"
                    found = measured(out, server.url, task, *more, data=data)
                    judged = sum(request["model"] == "judge" for request in server.requests)
                    show(f"{count} answers judged by {mode}, {judged:,} calls", len(server.requests), found)


if __name__ == "__main__":
    main()
