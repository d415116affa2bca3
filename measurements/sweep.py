"""A sweep of six models over the four benchmarks: wall time beside the ideal, faults included.

Usage: python measurements/sweep.py [--slots 2] [--limit 60] [--data sample] [--ray] [--kill]

Six local servers, one for each model, with a delay of each its own; a reply depends on the prompt alone, so each of the
24 jobs must give what one run of its benchmark gives, to the last digit and in every sample. The ideal wall time is the
sum of the jobs' own seconds, their starts aside, over the slots, or the longest job if that is more. ``--ray`` runs the
jobs on a local cluster of two nodes of one processor each. ``--kill`` kills the driver in the middle and starts it
again; with ``--ray``, a node before that, and the rest is done on the other.

A reply counts as received if its client read it: it asked on over the same connection, or left without unread data.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml

DELAYS = {f"m{number}": 0.05 * (number + 1) for number in range(6)}
"""Seconds that each model takes to answer."""
RUNS = {
    "medmcqa": "medmcqa_openmed",
    "medexqa": "medexqa_all",
    "medcalc": "medcalc_bench",
    "medhallu": "medhallu",
}
OPTIONS = {"medexqa": {"use_explanations": False}}
CONNECTIONS = 4  # of each job
MEDTASKS = [sys.executable, "-m", "medtasks_utils.__main__"]


def prompt_key(messages: Any) -> str:
    """A chat as a key."""
    return json.dumps(messages, sort_keys=True)


def replies(data: str, limit: int) -> dict[str, dict[str, str]]:
    """By run and prompt: right, random, unreadable or unsure, as the prompt has it."""
    from medtasks_utils.harness.catalog import manager_for
    from medtasks_utils.selfcheck.known_answers import BEHAVIOURS, known_answer

    found: dict[str, dict[str, str]] = {}
    manager = manager_for(metadata={"medtasks_data": data, **OPTIONS})
    for run, name in RUNS.items():
        task: Any = manager.load([name])["tasks"][name]
        task.build_all_requests(limit=limit, apply_chat_template=True, chat_template=lambda chat, **_: json.dumps(chat))
        for instance in task.instances:
            key = prompt_key(json.loads(instance.args[0]))
            behaviour = random.Random(key).choice(["right", *BEHAVIOURS])
            found.setdefault(run, {})[key] = known_answer(task.benchmark, behaviour, instance.doc, seed=key).text
    return found


# ---- the servers


@dataclass
class Asked:
    """A request: its prompt, and whether its reply was read."""

    prompt: str
    received: bool = False


class Server(ThreadingHTTPServer):
    """Answers what it knows after a delay, and remembers every request."""

    request_queue_size = 128
    daemon_threads = True

    def __init__(self, known: Mapping[str, str], delay: float) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.known, self.delay = known, delay
        self.asked: list[Asked] = []
        self.others: list[Asked] = []  # to see whether there is a server, when a job starts
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1/chat/completions"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed is no news here."""


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    last: Asked | None = None

    def handle(self) -> None:
        super().handle()  # raises if the client went with a reply unread
        self._read()

    def _read(self) -> None:
        if self.last is not None:
            self.last.received = True

    def do_POST(self) -> None:
        self._read()
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.last = Asked(prompt_key(request["messages"]))
        (self.server.asked if self.last.prompt in self.server.known else self.server.others).append(self.last)
        time.sleep(self.server.delay)
        message = {"role": "assistant", "content": self.server.known.get(self.last.prompt, "Ready.")}
        body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


# ---- the sweep, and single runs


def write_plan(folder: Path, servers: Mapping[str, Server], data: str, limit: int) -> Path:
    """All models, all benchmarks."""
    plan = {
        "output": str(folder / "sweep"),
        "data": data,
        "runs": [
            {"name": name, "tasks": task, "flags": {"limit": limit}, "options": OPTIONS} for name, task in RUNS.items()
        ],
        "models": [
            {
                "name": name,
                "model": "local-chat-completions",
                "model_args": {"model": name, "base_url": server.url, "num_concurrent": CONNECTIONS},
                "flags": {"apply_chat_template": True},
            }
            for name, server in servers.items()
        ],
    }
    path = folder / "plan.yaml"
    path.write_text(yaml.safe_dump(plan), encoding="utf-8")
    return path


def start(plan: Path, more: Sequence[str]) -> subprocess.Popen[str]:
    """The command, with its messages on this program's standard error."""
    command = [*MEDTASKS, "sweep", str(plan), *more]
    return subprocess.Popen(command, env={**os.environ, "OPENAI_API_KEY": "none"}, stdout=subprocess.PIPE, text=True)


def single_run(run: str, server: Server, data: str, limit: int, folder: Path) -> float:
    """One ``medtasks eval``; its seconds."""
    began = time.perf_counter()
    command = [
        *(*MEDTASKS, "eval", "--model", "local-chat-completions", "--tasks", RUNS[run], "--data", data),
        *("--model_args", f"model=m0,base_url={server.url},num_concurrent={CONNECTIONS}", "--apply_chat_template"),
        *("--limit", str(limit), "--metadata", json.dumps(OPTIONS), "--output_path", str(folder), "--log_samples"),
    ]
    subprocess.run(command, env={**os.environ, "OPENAI_API_KEY": "none"}, check=True, capture_output=True)
    return time.perf_counter() - began


def saved(folder: Path) -> tuple[Any, list[Any]]:
    """The scores and the samples of the last run in a folder; one that ended as its driver was killed is run again."""
    results = max(folder.rglob("results_*.json"))
    date = results.stem.removeprefix("results_")
    lines = [line for path in folder.rglob(f"samples_*_{date}.jsonl") for line in path.read_text("utf-8").splitlines()]
    samples = [json.loads(line) for line in lines]
    samples.sort(key=lambda sample: (sample["doc_id"], sample["filter"]))
    return json.loads(results.read_text("utf-8"))["results"], samples


def singles(data: str, limit: int, known: Mapping[str, Mapping[str, str]], folder: Path) -> Iterator[tuple[str, float]]:
    """A run of each benchmark by itself, against a server as quick as the first model's."""
    for run, some in known.items():
        with Server(some, DELAYS["m0"]) as server:
            yield run, single_run(run, server, data, limit, folder / run)
            server.shutdown()


# ---- what is killed, and what is counted


def wait_for(driver: subprocess.Popen[str], servers: Mapping[str, Server], count: int) -> None:
    """Until so many requests have been made."""
    while sum(len(server.asked) for server in servers.values()) < count and driver.poll() is None:
        time.sleep(0.02)


def counted(servers: Mapping[str, Server], prompts: int) -> str:
    """How often prompts were asked, and asked again though a reply had been received."""
    made = sum(len(server.asked) for server in servers.values())
    received = Counter(
        (name, asked.prompt) for name, server in servers.items() for asked in server.asked if asked.received
    )
    asked_again = made - len({(name, asked.prompt) for name, server in servers.items() for asked in server.asked})
    twice = sum(received.values()) - len(received)
    others = sum(len(server.others) for server in servers.values())
    return (
        f"{others} trials of a server; {made} requests for {prompts} prompts; {asked_again} made again, of which "
        f"{asked_again - twice} had been in flight at a kill and {twice} had been answered and received"
    )


def run_to_its_end(arguments: argparse.Namespace, plan: Path, servers: Mapping[str, Server], prompts: int) -> str:
    """The sweep with what is done to it; how it went, in a line."""
    cluster = node = None
    more = ["--cpus", str(arguments.slots)]
    if arguments.ray:
        from ray.cluster_utils import Cluster

        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
        node = [cluster.add_node(num_cpus=1) for _ in range(arguments.slots)][-1]
        more = ["--ray", cluster.address]
    began = time.perf_counter()
    driver = start(plan, more)
    if arguments.kill and cluster is not None:
        wait_for(driver, servers, prompts // 3)
        cluster.remove_node(node, allow_graceful=False)
    if arguments.kill:
        wait_for(driver, servers, prompts * 2 // 3)
        driver.kill()
        driver.communicate()
        driver = start(plan, more)
    driver.communicate()
    wall = time.perf_counter() - began
    if cluster is not None:
        cluster.shutdown()
    codes = [json.loads(path.read_text())["code"] for path in plan.parent.glob("sweep/*/*/job.json")]
    results = [json.loads(path.read_text("utf-8")) for path in plan.parent.glob("sweep/*/*/*/results_*.json")]
    seconds = [float(result["total_evaluation_time_seconds"]) for result in results]
    ideal = max(sum(seconds) / arguments.slots, max(seconds))
    ratio = "" if arguments.kill else f", ideal {ideal:.1f} s, ratio {wall / ideal:.2f}"
    return f"exit code {driver.returncode}; {codes.count(0)} of {len(codes)} jobs done; wall {wall:.1f} s{ratio}"


def main() -> None:
    """Run it and print what was seen."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--limit", type=int, default=60)
    parser.add_argument("--models", type=int, default=len(DELAYS), help="how many of the six")
    parser.add_argument("--data", default="sample")
    parser.add_argument("--ray", action="store_true")
    parser.add_argument("--kill", action="store_true")
    arguments = parser.parse_args()
    delays = dict(list(DELAYS.items())[: arguments.models])
    known = replies(arguments.data, arguments.limit)
    everything = {key: text for some in known.values() for key, text in some.items()}
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        servers = {model: stack.enter_context(Server(everything, delay)) for model, delay in delays.items()}
        plan = write_plan(folder, servers, arguments.data, arguments.limit)
        prompts = len(delays) * len(everything)
        print(run_to_its_end(arguments, plan, servers, prompts))
        print(counted(servers, prompts))
        alone = dict(singles(arguments.data, arguments.limit, known, folder))
        print("by itself: " + ", ".join(f"{run} {seconds:.1f} s" for run, seconds in alone.items()))
        equal = sum(
            saved(next((folder / "sweep" / model).glob(f"{run}-*"))) == saved(folder / run)
            for model in delays
            for run in RUNS
        )
        print(f"{equal} of {len(delays) * len(RUNS)} jobs have the scores and samples of a single run")
        for server in servers.values():
            server.shutdown()


if __name__ == "__main__":
    main()
