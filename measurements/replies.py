"""Measure the time of a run with open reasoning after its last reply, and its files, here and in another checkout.

Usage: python measurements/replies.py [--before FOLDER] [--examples 1000] [--seconds 0 4] [--length 5000]

A server in a separate process answers each request after ``--seconds``. A reply reasons openly and then answers, in
about ``--length`` characters. Both checkouts take turns, and their samples and scores must be equal.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from aiohttp import web
from scale import write_rows

_HERE = Path(__file__).parents[1]
_AT_ONCE = 64
_STEPS = (
    "The presentation makes option {} worth a second look, since the history points to it.",
    "However, ({}) would be expected to show a normal count, which is not what we see here.",
    "Let me reconsider {}: it is common at this age, but not with these findings.",
    "So between {} and the others, the mechanism matters more than the frequency.",
)


def response(prompt: str, length: int) -> str:
    """Return random steps of reasoning and an answer, which depend only on the prompt."""
    draw = random.Random(prompt)
    steps = [draw.choice(_STEPS).format(draw.choice("ABCD")) for _ in range(length // 80)]
    return " ".join(steps) + f"\n\nThe answer is {draw.choice('ABCD')}."


def serve(port: Any, seconds: float, length: int, times: Any) -> None:
    """Answer until the process ends; store the times of the first request and the last reply in ``times``."""

    async def answer(request: web.Request) -> web.Response:
        body = await request.json()
        if body["max_tokens"] == 1:
            return web.json_response({"choices": [{"message": {"content": "."}, "finish_reason": "stop"}]})
        times[0] = times[0] or time.time()
        text = response(str(body["messages"]), length)
        await asyncio.sleep(seconds)
        times[1] = time.time()
        return web.json_response({"choices": [{"index": 0, "message": {"content": text}, "finish_reason": "stop"}]})

    async def main() -> None:
        application = web.Application()
        application.router.add_post("/v1/chat/completions", answer)
        runner = web.AppRunner(application)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port.value = runner.addresses[0][1]
        await asyncio.Event().wait()

    asyncio.run(main())


def measured(checkout: Path, data: Path, output: Path, seconds: float, length: int, *more: str) -> list[float]:
    """Return seconds to the last reply, from there to the end, and of the processor; and the samples' size in MB."""
    port, times = multiprocessing.Value("i", 0), multiprocessing.Array("d", 2)
    server = multiprocessing.Process(target=serve, args=(port, seconds, length, times), daemon=True)
    server.start()
    while not port.value:
        time.sleep(0.01)
    url = f"http://127.0.0.1:{port.value}/v1/chat/completions"
    command = [
        *(sys.executable, "-m", "medtasks_utils.__main__", "eval", "--tasks", "medmcqa_openmed", "--data", str(data)),
        *("--model", "local-chat-completions", "--apply_chat_template", "--output_path", str(output), "--log_samples"),
        *("--model_args", f"model=m,base_url={url},num_concurrent={_AT_ONCE}", *more),
    ]
    environment = {**os.environ, "PYTHONPATH": str(checkout), "OPENAI_API_KEY": "none", "TQDM_DISABLE": "1"}
    process = subprocess.Popen(command, cwd=output.parent, env=environment, stderr=subprocess.PIPE, stdout=-3)
    assert process.stderr is not None
    errors = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    end = time.time()
    server.terminate()
    if status:
        sys.exit(errors.decode())
    size = sum(path.stat().st_size for path in output.rglob("samples_*.jsonl"))
    return [times[1] - times[0], end - times[1], used.ru_utime + used.ru_stime, size / 1e6]


def saved(output: Path) -> Any:
    """Return the scores and samples of a run."""
    (results,) = (json.loads(path.read_bytes()) for path in output.rglob("results_*.json"))
    (samples,) = (path.read_text("utf-8").splitlines() for path in output.rglob("samples_*.jsonl"))
    return results["results"], [json.loads(line) for line in samples]


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--examples", type=int, default=1000)
    parser.add_argument("--seconds", type=float, nargs="*", default=[0, 4])
    parser.add_argument("--length", type=int, default=5000)
    given = parser.parse_args()
    checkouts = {"before": given.before, "now": _HERE} if given.before else {"now": _HERE}
    print("| a reply takes | run | requests, s | after the last reply, s | processor, s | samples, MB |")
    print("|--:|---|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as name:
        data = write_rows(Path(name, "data"), given.examples)
        for seconds in given.seconds:
            kept: list[Any] = []
            for more in ((), ("--no_keep",)):
                for which, checkout in checkouts.items():
                    output = Path(name, f"{which}{seconds}{''.join(more)}", "out")
                    output.parent.mkdir()
                    columns = measured(checkout, data, output, seconds, given.length, *more)
                    cells = [f"{seconds:g} s", " ".join([which, *more]), *(f"{value:.1f}" for value in columns)]
                    print(f"| {' | '.join(cells)} |", flush=True)
                    kept.append(saved(output))
            if any(run != kept[0] for run in kept):
                sys.exit("samples or scores differ")


if __name__ == "__main__":
    main()
