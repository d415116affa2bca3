"""One run over several servers behind HAProxy, one of which is ended in the middle.

Usage: python measurements/servers.py [--limit 400]    (needs haproxy, of which 2.6 was tried)

Each server, a process of its own, answers eight requests at once, each after a quarter of a second.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
from judge_server import JudgeServer
from launching import free_port

CONFIGURATION = """\
defaults
  mode http
  timeout connect 2s
  timeout client 10m
  timeout server 10m
  retries 3
  option redispatch
frontend here
  bind 127.0.0.1:{port}
  default_backend models
backend models
  balance leastconn
{servers}
"""
_SLOTS = threading.Semaphore(8)


def serve() -> None:
    """A server; says its address, and at each line of input how many requests it has had."""

    def answer(request: object) -> str:
        with _SLOTS:
            time.sleep(0.25)
        return "\\boxed{A}"

    with JudgeServer(answer) as server:
        print(server.url, flush=True)
        for _ in sys.stdin:
            print(len(server.requests), flush=True)


def start_server() -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(
        [sys.executable, __file__, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def asked(process: subprocess.Popen[str]) -> int:
    assert process.stdin is not None
    assert process.stdout is not None
    print(file=process.stdin, flush=True)
    return int(process.stdout.readline())


def run(url: str, limit: int, folder: Path, end: subprocess.Popen[str] | None = None) -> str:
    """One run; a server to end once it has had a third of its share. How it went."""
    model = f"model=m,base_url={url}/chat/completions,num_concurrent=24"
    command = [
        *(sys.executable, "-m", "medtasks_utils.__main__", "eval", "--tasks", "medmcqa_openmed", "--limit", str(limit)),
        *("--model", "local-chat-completions", "--model_args", model, "--apply_chat_template"),
        *("--output_path", str(folder), "--log_samples", "--use_cache", str(folder / "cache")),
    ]
    environment = {**os.environ, "OPENAI_API_KEY": "none"}
    began = time.perf_counter()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    before = asked(end) if end is not None else 0
    while end is not None and process.poll() is None and asked(end) < before + limit / 9:
        time.sleep(0.1)
    if end is not None:
        end.kill()
    output, _ = process.communicate()
    if process.returncode:
        return f"exit code {process.returncode}: {output[-600:]}"
    (results,) = folder.rglob("results_*.json")
    scores = json.loads(results.read_text("utf-8"))["results"]["medmcqa_openmed"]
    return f"{time.perf_counter() - began:.1f} s, acc {scores['acc,strict-match']}"


def main() -> None:
    """One server; three behind a balancer; one of these ended."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=400)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve()
        return
    servers = [start_server() for _ in range(3)]
    with tempfile.TemporaryDirectory() as name:
        folder, port = Path(name), free_port()
        lines = [f"  server s{at} {url.split('/')[2]} check inter 1s" for at, (_, url) in enumerate(servers)]
        (folder / "haproxy.cfg").write_text(CONFIGURATION.format(port=port, servers="\n".join(lines)))
        proxy = subprocess.Popen(["haproxy", "-q", "-f", str(folder / "haproxy.cfg")], stderr=subprocess.DEVNULL)
        time.sleep(1)
        try:
            print("one server:", run(servers[0][1], given.limit, folder / "one"))
            before = asked(servers[0][0])
            balanced = f"http://127.0.0.1:{port}/v1"
            print("three:", run(balanced, given.limit, folder / "three"))
            print("  requests of each:", asked(servers[0][0]) - before, *(asked(process) for process, _ in servers[1:]))
            print("one of three ended:", run(balanced, given.limit, folder / "ended", servers[2][0]))
        finally:
            proxy.kill()
            for process, _ in servers:
                process.kill()


if __name__ == "__main__":
    main()
