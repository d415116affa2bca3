"""A sweep of six models over the four benchmarks: wall time beside the ideal, faults included.

Usage: python measurements/sweep.py [--slots 2] [--limit 12] [--ray] [--kill]

Six models by one local server, each with a delay of its own, on the bundled sample: 24 jobs. The ideal is the sum of
the jobs' own seconds over the slots, or the longest job if that is more. ``--ray`` runs them on a local cluster of two
nodes of one processor each. ``--kill`` kills a node (with ``--ray``) and then the driver, starts again, and counts how
often each prompt was answered.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from judge_server import JudgeServer, whole

MODELS = {f"m{number}": 0.02 * (number + 1) for number in range(6)}
"""Seconds that each takes to answer."""
RUNS = {
    "medmcqa": "medmcqa_openmed",
    "medexqa": "medexqa_all",
    "medcalc": "medcalc_bench",
    "medhallu": "medhallu",
}


def write_plan(folder: Path, url: str, limit: int) -> Path:
    """All models, all benchmarks."""
    without_metrics = {"medexqa": {"use_explanations": False}}
    plan = {
        "output": str(folder / "sweep"),
        "data": "sample",
        "runs": [
            {"name": name, "tasks": task, "flags": {"limit": limit}, "options": without_metrics}
            for name, task in RUNS.items()
        ],
        "models": [
            {
                "name": name,
                "model": "local-chat-completions",
                "model_args": {"model": name, "base_url": f"{url}/chat/completions", "num_concurrent": 2},
                "flags": {"apply_chat_template": True},
            }
            for name in MODELS
        ],
    }
    path = folder / "plan.yaml"
    path.write_text(yaml.safe_dump(plan), encoding="utf-8")
    return path


def start(plan: Path, more: list[str]) -> subprocess.Popen[str]:
    """The command, with its messages on this program's standard error."""
    command = [sys.executable, "-m", "medtasks_utils.cli", "sweep", str(plan), *more]
    return subprocess.Popen(command, env={**os.environ, "OPENAI_API_KEY": "none"}, stdout=subprocess.PIPE, text=True)


def answered_by(request: dict[str, Any]) -> str:
    """An answer after the model's own delay."""
    time.sleep(MODELS[request["model"]])
    return "The answer is B. \\boxed{1} <answer>1</answer>"


def main() -> None:
    """Run it and print what was seen."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--limit", type=int, default=12)
    parser.add_argument("--ray", action="store_true")
    parser.add_argument("--kill", action="store_true")
    arguments = parser.parse_args()
    cluster = nodes = None
    more = ["--cpus", str(arguments.slots)]
    if arguments.ray:
        from ray.cluster_utils import Cluster

        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
        nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
        more = ["--ray", cluster.address]
    with tempfile.TemporaryDirectory() as name, JudgeServer(answered_by) as server:
        folder = Path(name)
        plan = write_plan(folder, server.url, arguments.limit)
        began = time.perf_counter()
        driver = start(plan, more)
        if arguments.kill:
            if cluster is not None and nodes:
                _wait_for(server, 60)
                cluster.remove_node(nodes[1], allow_graceful=False)
                cluster.add_node(num_cpus=1)
            _wait_for(server, 120)
            driver.kill()
            driver.wait()
            time.sleep(2)
            driver = start(plan, more)
        output, _ = driver.communicate()
        wall = time.perf_counter() - began
        ended = [json.loads(path.read_text()) for path in (folder / "sweep").glob("*/*/job.json")]
        seconds = [job["seconds"] for job in ended]
        ideal = max(sum(seconds) / arguments.slots, max(seconds))
        asked = Counter((request["model"], whole(request["messages"])) for request in server.requests)
        print(output.strip())
        print(f"exit code {driver.returncode}; {sum(job['code'] == 0 for job in ended)} of {len(ended)} jobs done")
        if not arguments.kill:
            print(f"wall {wall:.1f} s, ideal {ideal:.1f} s, ratio {wall / ideal:.2f}")
        print(f"{len(server.requests)} requests, {len(asked)} distinct, {sum(asked.values()) - len(asked)} made again")
    if cluster is not None:
        cluster.shutdown()


def _wait_for(server: JudgeServer, count: int) -> None:
    while len(server.requests) < count:
        time.sleep(0.1)


if __name__ == "__main__":
    main()
