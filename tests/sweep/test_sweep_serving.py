"""Models that a sweep serves: their servers start, answer and end, whatever ends the sweep or them."""

import asyncio
import os
import re
import shlex
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import psutil
import pytest
import yaml
from given import ROOT, each_row
from saved_runs import drawn
from test_sweep import command, program, written

from medtasks_utils.__main__ import main
from medtasks_utils.sweep import allocation as allocation_module
from medtasks_utils.sweep.allocation import run_allocation
from medtasks_utils.sweep.balancer import balance
from medtasks_utils.sweep.child_process import MARK_VARIABLE, start
from medtasks_utils.sweep.job import allocations_of, jobs_of
from medtasks_utils.sweep.plan import EXAMPLE, Plan
from medtasks_utils.writing import read_json, write_whole

RUNS: list[dict[str, Any]] = [
    {"name": "answers", "tasks": ["medmcqa_openmed", "medhallu"], "flags": {"limit": 12}},
    {"name": "hallu", "tasks": "medhallu"},
]


def served(folder, seconds=0.3, **changed):
    """Return a plan with one model, whose server is a program of these tests."""
    paths = (sys.executable, f"{ROOT}/tests/support/served_model.py", f"{folder}/requests")
    python, program, requests = map(shlex.quote, paths)
    serve = f"{python} {program} {{port}} {requests} {seconds}"
    model = {"name": "m", "serve": serve, "model_args": {"model": "m", "num_concurrent": 2}, **changed}
    return {"output": str(folder / "sweep"), "data": "sample", "runs": RUNS, "models": [model]}


@pytest.fixture
def quick(monkeypatch):
    """Let jobs run another program than ``medtasks eval``."""

    def set_program(program):
        def started(words, *rest):
            return start([sys.executable, "-c", program, *words] if "eval" in words else words, *rest)

        monkeypatch.setattr(allocation_module, "start", started)

    return set_program


def run(content, by_model=False, **environment):
    """Run the plan's only allocation."""
    (allocation,) = allocations_of(jobs_of(Plan(**content)), by_model)
    run_allocation(allocation, environment)


def ends(folder):
    jobs = map(read_json, sorted(folder.glob("sweep/m/*/job.json")))
    return [(job["code"], job["state"]) for job in jobs]


@each_row("servers_not_ready")
def test_a_server_that_does_not_get_ready_is_one_line_with_the_end_of_its_log(model, said, tmp_path, monkeypatch):
    """The stand-in of vLLM says with what it is started."""
    program(tmp_path, "vllm", "echo the key $VLLM_API_KEY and $*; exit 1")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    log = tmp_path / "sweep" / "m" / "server0.log"
    write_whole(log, "of an earlier attempt\n")
    run({**served(tmp_path), "models": [{"name": "m", **model}]})
    line = re.compile(rf"{said} \({re.escape(str(log))}\)")
    assert [(code, bool(line.fullmatch(state))) for code, state in ends(tmp_path)] == [(1, True)] * 2


def test_replicas_have_gpus_of_their_own_and_share_the_requests_of_a_run(tmp_path, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    content = served(tmp_path, 0.05, replicas=3, resources={"gpus": 2})
    content["models"][0]["serve"] = re.sub(r"(\S+/requests)", r"\1{port}", content["models"][0]["serve"])
    content["runs"] = RUNS[1:]
    run(content, CUDA_VISIBLE_DEVICES="4,5,6,7,8,9")
    assert ends(tmp_path) == [(0, "done")]
    for number, gpus in enumerate(("4,5", "6,7", "8,9")):
        assert (tmp_path / f"sweep/m/server{number}.log").read_text().startswith(f"GPUs {gpus}\n")
    asked = [len(path.read_text().splitlines()) for path in tmp_path.glob("requests*")]
    assert len(asked) == 3 and sum(asked) == 28


def test_a_connection_goes_to_the_replica_with_the_fewest_open_ones():
    async def greet(name, reader, writer):
        writer.write(name.encode())
        await reader.read()

    async def connect(port):
        while True:
            with suppress(OSError):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                return writer, await reader.read(1)

    async def run():
        servers = [await asyncio.start_server(partial(greet, name), "127.0.0.1", 0) for name in "ab"]
        port = allocation_module._free_port()
        balancing = asyncio.create_task(balance(port, [server.sockets[0].getsockname()[1] for server in servers]))
        opened = [await connect(port) for _ in range(2)]
        tasks = len(asyncio.all_tasks())
        opened.append(await connect(port))
        opened[1][0].close()
        while len(asyncio.all_tasks()) > tasks:
            await asyncio.sleep(0)
        opened += [await connect(port) for _ in range(2)]
        balancing.cancel()
        assert b"".join(name for _, name in opened) == b"ababb"

    asyncio.run(run())


def test_jobs_find_their_server_and_know_it_by_more_than_its_address(tmp_path, quick):
    quick("import os, sys; print(sys.argv[1:], os.environ)")
    content = served(tmp_path)
    content["models"][0]["serve"] += " --chat-template /templates/a.jinja"
    content["models"][0]["model_args"]["api_key"] = "sk-1"
    run(content)
    for path in tmp_path.glob("sweep/m/*/log.txt"):
        log = path.read_text()
        for word in ("/templates/a.jinja'", "--log_samples", "127.0.0.1:"):
            assert word in log
        assert "sk-1" not in log.partition("environ(")[0] and "sk-1" in log  # all may read arguments


def test_a_server_that_leaves_its_group_ends_with_its_jobs_or_with_the_next_sweep(tmp_path, quick):
    quick("")
    content = served(tmp_path)
    escaping = "import subprocess, sys; subprocess.run([sys.executable, *sys.argv[1:]], start_new_session=True)"
    words = [sys.executable, "-c", escaping, *shlex.split(content["models"][0]["serve"])[1:]]
    content["models"][0]["serve"] = shlex.join(words).replace("'{port}'", "{port}")
    run(content)
    folder = tmp_path / "sweep/m"
    assert ends(tmp_path) == [(0, "done")] * 2
    assert not allocation_module.is_up(read_json(folder / "server0.json")["port"])
    environment = {**os.environ, MARK_VARIABLE: str(folder)}
    left_over = subprocess.Popen(["sleep", "600"], env=environment, start_new_session=True)
    run({**content, "runs": [{**RUNS[1], "flags": {"limit": 5}}]})
    assert not psutil.pid_exists(left_over.pid)


@each_row("jobs_at_once")
def test_as_many_jobs_run_at_once_as_processors_allow(by_model, changed, most, tmp_path, quick):
    """Each job waits until the maximum number of jobs has started, and counts the running ones."""
    (tmp_path / "here").mkdir()
    quick(WAITING.format(folder=str(tmp_path / "here"), most=most))
    content = served(tmp_path, **changed)
    content["runs"] = [{"name": f"r{number}", "tasks": "medhallu"} for number in range(most + 1)]
    if by_model:
        del content["models"][0]["serve"]
    run(content, by_model)
    assert ends(tmp_path) == [(3, "failed with exit code 3: met")] * (most + 1)


WAITING = """
import os, pathlib, sys, time
folder = pathlib.Path({folder!r})
own = folder / f"{{os.getpid()}}.running"
own.touch()
own.with_suffix(".seen").touch()
while len(list(folder.glob("*.seen"))) < {most}:
    time.sleep(0.05)
time.sleep(0.3)
print("met" if len(list(folder.glob("*.running"))) <= {most} else "too many")
own.unlink()
sys.exit(3)
"""


def test_jobs_that_run_at_once_share_the_cost_and_those_that_wait_that_of_the_servers_start(tmp_path, monkeypatch):
    now = iter([100.0, 110.0, 119.0, 124.0])
    monkeypatch.setattr(allocation_module, "time", SimpleNamespace(monotonic=lambda: next(now)))
    jobs = jobs_of(Plan(**served(tmp_path, resources={"gpus": 1}, replicas=2)))
    attempt = allocation_module._Attempt(jobs, {})
    for running in ([], jobs[:1], jobs):
        attempt.running = dict.fromkeys(running, Mock())
        attempt._charge()
    assert [job.cost for job in jobs] == [{"seconds": 16.5, "gpu_seconds": 33}, {"seconds": 7.5, "gpu_seconds": 15}]


def test_the_example_in_the_help_is_a_valid_plan():
    content = yaml.safe_load(EXAMPLE.partition("\nflags are")[0])["example of a plan"]
    assert (len(jobs_of(Plan(**content))), content.keys()) == (11, Plan.model_fields.keys())


def test_a_larger_budget_gets_the_replies_of_the_smaller_and_keeps_its_own(tmp_path, quick):
    quick("import sys; print(sys.argv[1:])")
    content = served(tmp_path, resources={"cpus": 2})
    (renamed,) = jobs_of(Plan(**{**content, "runs": [{"name": "renamed", "tasks": "medhallu"}]}))
    renamed.note(0, "done")
    content["runs"] = [{**RUNS[1], "flags": {"gen_kwargs": {"max_gen_toks": [40, 20]}}}]
    jobs = jobs_of(Plan(**content))
    former, small, large = (job.folder / "m" / "replies_1.jsonl.gz" for job in (renamed, *jobs))
    for path, text in (former, "former "), (small, "small "), (large, "own "):
        write_whole(path, text)
    for _ in range(2):
        run(content)
        assert (small.read_text(), large.read_text()) == ("small former ", "own former small former "), "once"
        for job in jobs:
            job.note(None, "again")
    jobs[0].note(0, "done")
    run(content)
    logs = [(job.folder / "log.txt").read_text() for job in jobs]
    assert [log.count("'--extend'") for log in logs] == [2, 3]  # the log goes on


def asked(folder):
    """Return a line for each request that a served model has had."""
    path = folder / "requests"
    return path.read_text().splitlines() if path.exists() else []


def wait_for(folder, count, sweep):
    """Wait until a served model has had this number of requests."""
    while len(asked(folder)) < count:
        assert sweep.poll() is None, sweep.communicate()
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.parametrize("killed", ["sweep", "server"])
def test_killing_a_sweep_or_a_server_loses_only_requests_under_way(tmp_path, killed):
    path = written(tmp_path, served(tmp_path, resources={"cpus": 2}))
    sweep = command(path)
    wait_for(tmp_path, 8, sweep)
    server = read_json(tmp_path / "sweep/m/server0.json")["pid"]
    if killed == "server":
        psutil.Process(server).kill()
    else:
        sweep.kill()
        sweep.communicate()
        with suppress(psutil.NoSuchProcess):
            while psutil.Process(server).status() != "zombie":  # it ends, or this test does not
                time.sleep(0.05)
        sweep = command(path)
    output, errors = sweep.communicate(timeout=300)
    assert sweep.returncode == 0, errors
    assert killed == "sweep" or ("its server ended with exit code -9" in errors and "retrying" in errors)
    prompts = asked(tmp_path)
    assert len(prompts) - len({*prompts}) <= 2 * 2 + 12, "those in flight, and examples that the two runs share"
    page = tmp_path / "sweep" / "report.html"
    assert output == f"{page}\n" and "m hallu" in drawn(page.read_text())
    assert main(["sweep", str(path)]) == 0 and asked(tmp_path) == prompts, "all jobs were done"
    assert not any(psutil.pid_exists(read_json(mark)["pid"]) for mark in tmp_path.glob("sweep/m/server*.json"))
