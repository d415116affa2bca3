"""Wall time of conversations with tools against a server with heavy-tailed delays, and our own time for a turn.

Usage: MEDTASKS_DATA=DIR [TOOL_FORMAT=text] python measurements/turns.py [--repeat 3] [--examples 300 1047]
    [--connections 32 128]

A server in a process of its own answers each turn after a lognormal delay that prompt and turn settle. Conversations
have 4 turns on average and 15 at most; each turn but the last calls the calculator. The harness's own client and this
pack's tasks run against it, and are compared with a simulation of the same delays under an ideal schedule: each
conversation goes on as soon as its own reply is there, first come, first served, and nothing else takes time.
"""

from __future__ import annotations

import argparse
import asyncio
import heapq
import json
import logging
import math
import multiprocessing
import os
import random
import statistics
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from multiprocessing.connection import Connection
from typing import Any

os.environ["TQDM_DISABLE"] = "1"
os.environ.setdefault("OPENAI_API_KEY", "none")

from lm_eval.api.model import CachingLM
from lm_eval.models.openai_completions import LocalChatCompletion
from lm_eval.tasks import TaskManager

from medtasks_utils.benchmarks.yaml_tasks import tasks_path
from medtasks_utils.harness.patches.evaluator import evaluate_with_known_model
from medtasks_utils.tools.python import PythonTool

TASK = "medcalc_bench_calculator"
MOST_TURNS = 15
FORMAT = os.environ.get("TOOL_FORMAT", "native")
_STOPS = 0.246  # the chance that a turn is the last: 4 turns on average

Chat = list[dict[str, str]]


def delays(chat: Chat, mean: float, sigma: float) -> list[float]:
    """The delay of each turn of the conversation that begins with a prompt; as many as it has turns."""
    rng = random.Random(json.dumps(chat[:2]))
    turns = 1
    while turns < MOST_TURNS and rng.random() > _STOPS:
        turns += 1
    return [mean * rng.lognormvariate(-(sigma**2) / 2, sigma) if mean else 0.0 for _ in range(turns)]


# ---- the server


def serve(pipe: Connection) -> None:
    """Answer until the process is ended; takes (mean, sigma) from the pipe and gives the most requests at once."""
    asyncio.run(_serve(pipe))


async def _serve(pipe: Connection) -> None:
    from aiohttp import web

    state = {"mean": 0.0, "sigma": 1.0, "at once": 0, "most": 0}

    async def answer(request: web.Request) -> web.Response:
        state["at once"] += 1
        state["most"] = max(state["most"], state["at once"])
        body = await request.json()
        chat = body["messages"]
        turn = sum(message["role"] == "assistant" for message in chat)
        waits = delays(chat, state["mean"], state["sigma"])
        await asyncio.sleep(waits[turn])
        state["at once"] -= 1
        message = said(turn, turn + 1 == len(waits), natively="tools" in body)
        return web.json_response({"choices": [{"index": 0, "message": {"role": "assistant", **message}}]})

    application = web.Application(client_max_size=1 << 26)
    application.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=512).start()
    pipe.send(runner.addresses[0][1])
    while True:
        state["mean"], state["sigma"] = await asyncio.to_thread(pipe.recv)
        most, state["most"] = state["most"], 0
        pipe.send(most)


def said(turn: int, is_last: bool, natively: bool) -> dict[str, Any]:
    """The content of a reply, and its call."""
    if is_last:
        return {"content": "<answer>7</answer>"}
    arguments = {"expression": f"{turn} * 7 + 0.5"}
    if natively:
        function = {"name": "calculator", "arguments": json.dumps(arguments)}
        return {"content": "Next.", "tool_calls": [{"id": f"call-{turn}", "type": "function", "function": function}]}
    call = json.dumps({"name": "calculator", "arguments": arguments})
    return {"content": f"Next.\n<tool_call>{call}</tool_call>"}


class Server:
    """The process, and what it is told."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self.address = f"http://127.0.0.1:{pipe.recv()}/v1/chat/completions"

    def becomes(self, mean: float, sigma: float) -> int:
        """Set the delays; the most requests at once since the last time."""
        self._pipe.send((mean, sigma))
        return int(self._pipe.recv())


@contextmanager
def server() -> Iterator[Server]:
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,), daemon=True)
    process.start()
    try:
        yield Server(ours)
    finally:
        process.kill()


# ---- schedules


def free_schedule(conversations: Sequence[Sequence[float]], connections: int) -> float:
    """Seconds if each conversation goes on as soon as its own reply is there, first come, first served."""
    waiting = deque((number, 0) for number in range(len(conversations)))
    busy: list[tuple[float, int, int]] = []
    now = 0.0
    while waiting or busy:
        while waiting and len(busy) < connections:
            number, turn = waiting.popleft()
            heapq.heappush(busy, (now + conversations[number][turn], number, turn))
        now, number, turn = heapq.heappop(busy)
        if turn + 1 < len(conversations[number]):
            waiting.append((number, turn + 1))
    return now


def in_rounds(conversations: Sequence[Sequence[float]], connections: int) -> float:
    """Seconds if every conversation waits for the slowest of its round."""
    rounds = range(max(map(len, conversations)))
    going = [[[delays[turn]] for delays in conversations if len(delays) > turn] for turn in rounds]
    return sum(free_schedule(each, connections) for each in going)


# ---- runs


class Measured:
    """One run of the conversations: its seconds, those of our processor, the turns, and all delays."""

    def __init__(
        self, address: str, examples: int, connections: int, mean: float, sigma: float, cache: str = ""
    ) -> None:
        model = LocalChatCompletion(base_url=address, model="m", num_concurrent=connections, max_retries=1)
        evaluate_with_known_model(self._run)(CachingLM(model, cache) if cache else model, {}, limit=examples)
        self.conversations = [delays(chat, mean, sigma) for chat in self._chats]
        assert self.turns == sum(map(len, self.conversations))

    def _run(self, lm: Any, task_dict: Any, limit: int) -> None:
        metadata = {"medcalc_bench": {"tool_format": FORMAT}}
        manager = TaskManager(include_path=str(tasks_path()), include_defaults=False, metadata=metadata)
        task: Any = manager.load(TASK)["tasks"][TASK]
        task.build_all_requests(limit=limit, apply_chat_template=True, chat_template=lm.apply_chat_template)
        assert len(task.instances) == limit, f"only {len(task.instances)} rows"
        self._chats = [json.loads(instance.args[0].prompt) for instance in task.instances]
        start, processor = time.perf_counter(), time.process_time()
        for instance, reply in zip(task.instances, lm.generate_until(task.instances), strict=True):
            instance.resps.append(reply)
        task.turns.finish()
        self.seconds, self.processor = time.perf_counter() - start, time.process_time() - processor
        self.turns = sum(instance.conversation.turns for instance in task.instances)


def cell(to: Server, examples: int, connections: int, sigma: float, load: float, repeat: int) -> str:
    """A row of the table: medians over the runs."""
    mean = connections / load
    to.becomes(mean, sigma)
    runs = [Measured(to.address, examples, connections, mean, sigma) for _ in range(repeat)]
    most = to.becomes(mean, sigma)
    free = free_schedule(runs[0].conversations, connections)
    seconds = statistics.median(run.seconds for run in runs)
    stepped = in_rounds(runs[0].conversations, connections)
    return (
        f"| {examples:,} | {connections} | {sigma} | {free:.1f} | {seconds:.1f} | {seconds / free:.2f} "
        f"| {stepped / free:.2f} | {most} |"
    )


def own_time(to: Server, examples: int, connections: int, repeat: int, with_cache: bool) -> str:
    """Milliseconds a turn against a server that answers at once: of the clock, and of our processor."""
    to.becomes(0.0, 1.0)
    with tempfile.TemporaryDirectory() as folder:
        caches = [f"{folder}/{number}.db" if with_cache else "" for number in range(repeat)]
        runs = [Measured(to.address, examples, connections, 0.0, 1.0, cache) for cache in caches]
    clock, processor = (
        1000 * statistics.median(getattr(run, what) / run.turns for run in runs) for what in ("seconds", "processor")
    )
    return f"| {'yes' if with_cache else 'no'} | {clock:.2f} | {processor:.2f} |"


def python_calls(at_once: int, each: int) -> str:
    """Milliseconds a Python call takes of the clock with so many conversations calling at once, and each one's wait."""
    with closing(PythonTool()) as tool, ThreadPoolExecutor(at_once) as threads:

        def converse(number: int) -> list[float]:
            waits = []
            for call in range(each):
                start = time.perf_counter()
                (outcome,) = tool.run([(str(number), f"x = {call}\nx * 7")])
                waits.append(time.perf_counter() - start)
                assert outcome.text == str(call * 7), outcome
            return waits

        list(threads.map(converse, range(at_once)))  # processes start
        start = time.perf_counter()
        waits = [wait for found in threads.map(converse, range(at_once)) for wait in found]
        seconds = time.perf_counter() - start
    return f"| {1000 * seconds / len(waits):.2f} | {1000 * statistics.median(waits):.1f} |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--examples", type=int, nargs="+", default=[300, 1047])
    parser.add_argument("--connections", type=int, nargs="+", default=[32, 128])
    parser.add_argument("--sigma", type=float, nargs="+", default=[0.5, 1.2])
    parser.add_argument("--load", type=float, default=200.0, help="turns that the server completes in a second")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    assert math.isclose(sum((1 - _STOPS) ** turn for turn in range(MOST_TURNS)), 4, abs_tol=0.01)
    with server() as to:
        Measured(to.address, 20, 8, 0.0, 1.0)  # imports
        print(
            "| examples | connections | sigma | ideal schedule, s | measured, s | ratio | ratio in rounds | at once |"
        )
        print("|--:|--:|--:|--:|--:|--:|--:|--:|", flush=True)
        for sigma in arguments.sigma:
            for examples in arguments.examples:
                for connections in arguments.connections:
                    print(cell(to, examples, connections, sigma, arguments.load, arguments.repeat), flush=True)
        print("\n| --use_cache | a turn, ms | of them processor, ms |\n|---|--:|--:|")
        for with_cache in (False, True):
            print(own_time(to, 300, 32, arguments.repeat, with_cache))
    print("\n| a Python call, 32 at once, ms | wait of one, ms |\n|--:|--:|")
    print(python_calls(32, 30))


if __name__ == "__main__":
    main()
