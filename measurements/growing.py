"""Measure what runs with ``--extend`` lose when they are killed, and the size and speed of kept replies.

Usage: python measurements/growing.py [--part kills|files] [--moments 20] [--replies 100000]

``kills`` kills a run with ``--extend`` at several moments, from its start to its end, and extends it again. It prints
how many requests were sent twice (at most those under way), and whether the results equal those of a whole run.
``files`` prints the size and the processor time of many kept replies. The tables are those of measurements/growing.md.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
os.environ["TQDM_DISABLE"] = "1"

from local_server import LocalServer, Request
from scripts import draw, prompt_of

from medtasks_utils.__main__ import main as medtasks
from medtasks_utils.inference.replies import Reply
from medtasks_utils.inference.reply_store import ReplyStore

_CONNECTIONS = 4


def evaluated(*words: str) -> dict[str, Any]:
    """Run ``medtasks eval`` in this process, and return what ``--json`` prints."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        code = medtasks(["eval", "--log_samples", "--json", *words])
    assert code == 0
    result: dict[str, Any] = json.loads(printed.getvalue())
    return result


# ---- kills


def kills(moments: int) -> None:
    """Kill a run with ``--extend`` at moments from its start to its end, extend it, and print the table."""

    def answer(body: Request) -> str:
        time.sleep(0.4)
        return f"\\boxed{{{draw(prompt_of(body)).choice('AB01')}}}"

    with LocalServer(answer) as server, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        words = ["--data", "sample", "--tasks", "medhallu,medmcqa_openmed", *server.flags(num_concurrent=_CONNECTIONS)]
        whole = evaluated(*words, "--output_path", str(folder / "whole"))
        requests = len(server.requests)
        evaluated(*words, "--limit", "4", "--output_path", str(folder / "begun"))
        missing = 2 * requests - len(server.requests)
        command = [sys.executable, "-m", "medtasks_utils", "eval", "--log_samples", *words, "--extend"]
        seconds = 0.0
        print("| killed after | with so many sent | sent twice | results equal |\n|---|---|---|---|")
        for moment in range(moments + 1):  # the first is not killed, and tells how long a run takes
            out = folder / str(moment)
            shutil.copytree(folder / "begun", out)
            server.requests.clear()
            started = time.monotonic()
            process = subprocess.Popen(
                [*command, "--output_path", str(out)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait((seconds or 600) * (moment / moments if moment else 1))
            process.kill()
            process.wait()
            seconds = seconds or time.monotonic() - started
            sent = len(server.requests)
            time.sleep(0.3)  # those under way end
            grown = evaluated(*words, "--extend", "--output_path", str(out))
            twice = len(server.requests) - missing
            if moment:
                when = f"{100 * moment / moments:.0f} % of {seconds:.1f} s"
                print(f"| {when} | {sent} | {twice} | {grown['scores'] == whole['scores']} |", flush=True)


# ---- files


def files(replies: int) -> None:
    """Print the size of the archive of this number of replies, and the processor time to keep and reuse them."""
    words = Path(__file__).with_suffix(".py").read_text("utf-8").split()
    chance = random.Random(1)
    texts = [" ".join(chance.choices(words, k=chance.randrange(40, 160))) for _ in range(replies)]
    settings = {"max_gen_toks": 2048, "temperature": 0.0, "until": [], "do_sample": False, "seed": 1234}
    model = {"kind": "local-chat-completions", "model": "m", "base_url": "http://127.0.0.1:8000"}
    prompts = [f'[{{"role": "user", "content": "{place} {"x" * 600}"}}]' for place in range(replies)]
    with tempfile.TemporaryDirectory() as name:

        def timed(what: str, since: float) -> float:
            print(f"| {what} | {time.process_time() - since:.1f} s |", flush=True)
            return time.process_time()

        print(f"| {replies:,} replies | processor time |\n|---|---|")
        now = time.process_time()
        store = ReplyStore(Path(name), model)
        for prompt, text in zip(prompts, texts, strict=True):
            store.put("generate_until", (prompt, settings), [Reply(text, "stop", len(text) // 4)])
        now = timed("kept, one by one", now)
        store.end()
        now = timed("moved into the archive", now)
        store = ReplyStore(Path(name), model, extend=True)
        now = timed("read by a run that extends", now)
        assert all(store.take("generate_until", (prompt, settings)) for prompt in prompts)
        timed("taken over by its requests", now)
        (archive,) = Path(name).iterdir()
        size, of_text = archive.stat().st_size, len(gzip.compress("\n".join(texts).encode()))
        print(f"\n{size / 1e6:.1f} MB, {size / of_text:.2f} times the text of the replies in gzip")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=["kills", "files"])
    parser.add_argument("--moments", type=int, default=20)
    parser.add_argument("--replies", type=int, default=100_000)
    given = parser.parse_args()
    if given.part in (None, "kills"):
        kills(given.moments)
    if given.part in (None, "files"):
        files(given.replies)


if __name__ == "__main__":
    main()
