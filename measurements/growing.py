"""Runs that grow: what they lose when they are killed, how fast and large kept replies are, and budgets of tokens.

Usage: python measurements/growing.py [--part kills|files|budget] [--moments 20] [--replies 100000]

``kills`` ends a run with ``--extend`` by SIGKILL at so many moments, from its start to its end, and extends it again:
it prints how many requests were sent twice, at most those under way, and whether the results equal a whole run's.
``files`` prints size and processor time of so many kept replies. ``budget`` (with torch) trains a model of a few MB to
reason at length, runs it greedily at several ``max_gen_toks``, and compares the accuracy of each with what the longest
run's curve says of that budget. Prints the tables of measurements/growing.md.
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
from tiny_llama import new_llama

from medtasks_utils import load_runs
from medtasks_utils.__main__ import main as medtasks
from medtasks_utils.harness.replies import Reply
from medtasks_utils.harness.reply_store import ReplyStore
from medtasks_utils.results.budgets import budget_curve
from medtasks_utils.results.run import Run

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
    """Kill a run that extends at moments from its start to its end."""

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
    """Print the size of the archive of so many replies, and the processor time that it takes."""
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


# ---- budgets


def train(folder: Path, prompts: list[str]) -> None:
    """Save a small Llama that has learned replies to these prompts by heart: some thinking, then an answer."""
    import torch

    chance = random.Random(0)
    replies = [
        " hm" * chance.choice([3, 12, 24, 48, 90])
        + f" \\boxed{{{chance.choice('AB') if 'Choices' in prompt else chance.choice('01')}}}"
        for prompt in prompts
    ]
    shape = {"hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 3, "max_position_embeddings": 2048}
    fast, model = new_llama(folder, [*prompts, *replies], 2000, **shape)
    steps = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for step in range(400):
        losses = []
        for place in chance.sample(range(len(prompts)), 8):
            prompt, reply = fast(prompts[place])["input_ids"][-300:], fast(replies[place] + "</s>")["input_ids"]
            labels = torch.tensor([[-100] * len(prompt) + reply])
            losses.append(model(input_ids=torch.tensor([prompt + reply]), labels=labels).loss)
        loss = torch.stack(losses).mean()
        steps.zero_grad()
        loss.backward()
        steps.step()
        if step % 50 == 0:
            print(f"step {step}: loss {loss.item():.3f}", file=sys.stderr, flush=True)
    model.save_pretrained(folder)


def only_run(folder: Path) -> Run:
    """Return the run in a folder."""
    (run,) = load_runs(folder)
    return run


def budget() -> None:
    """Compare runs of several limits with the curve of the longest."""
    tasks = ["--data", "sample", "--tasks", "medmcqa_openmed,medhallu", "--apply_chat_template"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prompts: list[str] = []

        def answer(body: Request) -> str:
            prompts.append("".join(f"<{one['role']}>{one['content']}" for one in body["messages"]) + "<assistant>")
            return "\\boxed{A}"

        with LocalServer(answer) as server:
            evaluated(*tasks, *server.flags()[:4], "--output_path", str(folder / "prompts"))
        train(folder / "model", sorted(set(prompts)))
        runs = {}
        for limit in (256, 64, 32, 16):
            model = ["--model", "hf", "--model_args", f"pretrained={folder / 'model'}", "--batch_size", "1"]
            out = folder / str(limit)
            evaluated(
                *tasks, *model, "--device", "cpu", "--gen_kwargs", f"max_gen_toks={limit}", "--output_path", str(out)
            )
            runs[limit] = only_run(out)
        longest = runs.pop(256)
        print(
            "| task | budget | the curve of the long run says | a run with this limit | within |\n|---|---|---|---|---|"
        )
        for task in longest.tasks.values():
            curve = budget_curve(task)
            assert curve, "some reply must be right"
            points = {point["tokens"]: point for point in curve["points"]}
            for limit, run in runs.items():
                if limit in points:
                    low, high = points[limit]["low"], points[limit]["high"]
                    acc = run.tasks[task.task].metrics["acc", "strict-match"].value
                    told = f"{points[limit]['acc']:.1%} [{low:.1%}, {high:.1%}]"
                    print(f"| {task.task} | {limit} | {told} | {acc:.1%} | {low <= acc <= high} |")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=["kills", "files", "budget"])
    parser.add_argument("--moments", type=int, default=20)
    parser.add_argument("--replies", type=int, default=100_000)
    given = parser.parse_args()
    if given.part in (None, "kills"):
        kills(given.moments)
    if given.part in (None, "files"):
        files(given.replies)
    if given.part in (None, "budget"):
        budget()


if __name__ == "__main__":
    main()
