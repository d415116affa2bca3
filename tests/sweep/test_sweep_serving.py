"""Models that a sweep serves: their servers start, answer and end, whatever ends the sweep or them."""

import json
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import psutil
import pytest
import yaml
from given import ROOT, each_row, table
from saved_runs import drawn
from test_sweep import command, program, state, written

from medtasks_utils.__main__ import main
from medtasks_utils.sweep import allocation as allocation_module
from medtasks_utils.sweep.allocation import run_allocation
from medtasks_utils.sweep.child_process import start
from medtasks_utils.sweep.job import allocations_of, jobs_of
from medtasks_utils.sweep.plan import EXAMPLE, Plan
from medtasks_utils.writing import read_json, write_whole

RUNS = [
    {"name": "answers", "tasks": ["medmcqa_openmed", "medhallu"], "flags": {"limit": 12}},
    {"name": "hallu", "tasks": "medhallu"},
]


def served(folder: Path, seconds: float = 0.3, **changed: Any) -> dict[str, Any]:
    """A plan with one model, whose server is a program of these tests."""
    paths = (sys.executable, f"{ROOT}/tests/support/served_model.py", f"{folder}/requests")
    python, program, requests = map(shlex.quote, paths)
    serve = f"{python} {program} {{port}} {requests} {seconds}"
    model = {"name": "m", "serve": serve, "model_args": {"model": "m", "num_concurrent": 2}, **changed}
    return {"output": str(folder / "sweep"), "data": "sample", "runs": RUNS, "models": [model]}


@pytest.fixture
def quick(monkeypatch):
    """Lets jobs be other programs than ``medtasks eval``."""

    def set_program(program):
        def started(words, *rest):
            return start([sys.executable, "-c", program, *words] if "eval" in words else words, *rest)

        monkeypatch.setattr(allocation_module, "start", started)

    return set_program


def steps(content: dict[str, Any], by_model: bool = False, **environment: str) -> Iterator[None]:
    """The steps of the plan's only allocation, which are taken no faster than those of a sweep."""
    plan = Plan(**content)
    (allocation,) = allocations_of(jobs_of(plan), by_model)
    with closing(run_allocation(allocation, environment)) as taken:
        for step in taken:
            time.sleep(0.05)
            yield step


def states(folder: Path) -> list[Any]:
    return [read_json(path) for path in sorted(folder.glob("sweep/m/*/job.json"))]


def running(folder: Path) -> int:
    return [job["state"] for job in states(folder)].count("running")


@each_row("servers_not_ready")
def test_a_server_that_does_not_get_ready_is_one_line_with_the_end_of_its_log(server, said, tmp_path):
    log = tmp_path / "sweep" / "m" / "server0.log"
    log.parent.mkdir(parents=True)
    log.write_text("of an earlier attempt\n")
    list(steps(served(tmp_path, serve=server, ready_timeout=0.5 if "sleep" in server else 300)))
    assert len(states(tmp_path)) == 2
    for job in states(tmp_path):
        assert job["code"] == 1 and re.fullmatch(rf"{said} \({log}\)", job["state"])


def test_replicas_have_gpus_of_their_own_and_share_the_jobs(tmp_path, quick, monkeypatch):
    quick("import os, sys, time; print(sys.argv[1:], os.environ); time.sleep(1)")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "intranet")
    content = served(tmp_path, replicas=2, resources={"gpus": 2, "cpus": 2})
    monkeypatch.setattr(allocation_module, "is_up", Mock(side_effect=[True, False, True]))
    assert [running(tmp_path) for _ in steps(content, CUDA_VISIBLE_DEVICES="4,5,6,7")][:2] == [0, 2]
    for number, gpus in enumerate(("4,5", "6,7")):
        assert (tmp_path / f"sweep/m/server{number}.log").read_text().startswith(f"GPUs {gpus}\n")
    logs = [path.read_text() for path in tmp_path.glob("sweep/m/*/log.txt")]
    assert len({re.findall(r"127.0.0.1:(\d+)/v1/chat/completions", log)[0] for log in logs}) == 2
    for word in ("intranet,127.0.0.1", content["models"][0]["serve"], "--log_samples"):
        assert all(word in log for log in logs), "no proxy stands between a job and its server"
    costs = [read_json(path) for path in tmp_path.glob("sweep/m/*/cost.json")]
    assert all(cost["gpu_seconds"] == pytest.approx(4 * cost["seconds"]) for cost in costs)


@pytest.mark.parametrize("is_same", [True, False])
def test_a_left_over_server_is_ended_but_no_other_process_with_its_number(tmp_path, quick, is_same):
    quick("")
    left_over = subprocess.Popen(["sleep", "600"], start_new_session=True)
    mark = tmp_path / "sweep" / "m" / "server0.json"
    mark.parent.mkdir(parents=True)
    started = psutil.Process(left_over.pid).create_time()
    mark.write_text(json.dumps({"pid": left_over.pid, "started": started if is_same else started - 60}))
    try:
        list(steps(served(tmp_path)))
        assert (left_over.poll() is not None) == is_same
        assert read_json(mark)["pid"] != left_over.pid
    finally:
        left_over.kill()
        left_over.wait()


@each_row("jobs_at_once")
def test_how_many_jobs_run_at_once(by_model, changed, most, tmp_path, quick):
    quick("import sys, time; time.sleep(0.6); sys.exit(3)")
    content = served(tmp_path, **changed)
    content["runs"] = [*RUNS, {"name": "again", "tasks": "medhallu"}]
    if by_model:
        del content["models"][0]["serve"]
    assert max(running(tmp_path) for _ in steps(content, by_model)) == most
    assert states(tmp_path) == [{"code": 3, "state": "failed with exit code 3"}] * 3


def test_cost_is_shared_and_energy_is_what_nvidia_smi_measures(tmp_path, monkeypatch):
    program(tmp_path, "nvidia-smi", f"echo $* > '{tmp_path}/asked'; echo 300.5; echo [N/A]; echo 99.5")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    now = [100.0]
    monkeypatch.setattr(allocation_module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(allocation_module, "is_up", lambda _: True)
    jobs = jobs_of(Plan(**served(tmp_path, resources={"gpus": 2}, ready_timeout=9)))
    attempt = allocation_module._Attempt(list(jobs), {"CUDA_VISIBLE_DEVICES": "2,3"})
    server, process = Mock(pid=0, poll=lambda: None), Mock()
    monkeypatch.setattr(attempt, "_start", Mock(side_effect=[server, process, process]))
    taken = attempt.steps()
    for seconds, code, cost in table("costs_of_jobs"):  # both wait for the first ten seconds
        now[0] += seconds
        process.poll.return_value = code
        taken.close() if code == "closed" else next(taken)
        assert [read_json(job.folder / "cost.json").get("seconds") for job in jobs] == cost
    assert read_json(jobs[0].folder / "cost.json") == {"seconds": 19, "gpu_seconds": 38, "joules": 7600}
    assert (tmp_path / "asked").read_text().startswith("--id=2,3 ")


@each_row("served_models")
def test_what_serves_a_model_and_the_flags_that_name_it(model, started, flags, monkeypatch):
    monkeypatch.setenv("MEDTASKS_DATA", "sample")
    content: Any = {"output": "x", "runs": RUNS, "models": [{"name": "q", **model}]}
    job = jobs_of(Plan(**content))[0]
    assert " ".join(job.model.server_command(80)) == started
    assert [flag for flag in job.flags(80) if re.match("--model|--apply|--meta", flag)] == flags


def test_the_example_is_a_plan():
    content = yaml.safe_load(EXAMPLE.partition("\nflags are")[0])["example of a plan"]
    plan = Plan(**content)
    names = [model.settings["model_args"].get("model") for model in plan.models]
    assert names == [None, "Qwen/Qwen3-32B", "mine", "m"] and Plan.model_fields.keys() == content.keys()
    smaller = [bool(job.smaller) for job in jobs_of(plan)]
    assert (len(smaller), sum(smaller)) == (11, 4)
    assert plan.models[3].ready_timeout == 1800


def test_a_larger_budget_gets_the_replies_of_the_smaller_and_keeps_its_own(tmp_path, quick):
    quick("import sys, time; print(sys.argv[1:]); time.sleep(0.3)")
    content = served(tmp_path, resources={"cpus": 2})
    content["runs"] = [
        {"name": "a", "tasks": "medhallu", "flags": {"gen_kwargs": {"max_gen_toks": [40, 20, 30, 20], "until": ["E"]}}}
    ]
    small, middle, large = jobs_of(Plan(**content))
    assert (small.name, large.name) == ("m/a,max_gen_toks=20", "m/a,max_gen_toks=40")
    for job, name in (small, 1), (small, 2), (large, 1):
        write_whole(job.folder / f"m/answers_{name}.jsonl.gz", job.name)
    for _ in steps(content):
        assert running(tmp_path) <= 1
    kept = [(large.folder / f"m/answers_{name}.jsonl.gz").read_text() for name in (1, 2)]
    assert kept == [large.name, small.name]
    assert all("'--extend'" in (job.folder / "log.txt").read_text() for job in (small, middle, large))


@pytest.mark.slow
@pytest.mark.parametrize("killed", ["sweep", "server"])
def test_what_kills_a_sweep_or_a_server_costs_what_was_in_flight(tmp_path, killed):
    path = written(tmp_path, served(tmp_path, resources={"cpus": 2}))
    asked = tmp_path / "requests"
    sweep = command(path)
    while not asked.exists() or len(asked.read_text().splitlines()) < 8:
        assert sweep.poll() is None, sweep.communicate()
        time.sleep(0.05)
    server = read_json(tmp_path / "sweep/m/server0.json")["pid"]
    if killed == "server":
        psutil.Process(server).kill()
    else:
        sweep.kill()
        sweep.communicate()
        while "Z" not in state(str(server)):  # it ends, or this test does not
            time.sleep(0.05)
        sweep = command(path)
    output, errors = sweep.communicate(timeout=300)
    assert sweep.returncode == 0, errors
    assert killed == "sweep" or ("its server ended with exit code -9" in errors and "retrying" in errors)
    prompts = asked.read_text().splitlines()
    assert len(prompts) - len({*prompts}) <= 2 * 2 + 12, "those in flight, and examples that the two runs share"
    page = tmp_path / "sweep" / "report.html"
    assert output == f"{page}\n" and re.search("m hallu-[0-9a-f]{8}", drawn(page.read_text()))
    assert main(["sweep", str(path)]) == 0 and asked.read_text().splitlines() == prompts, "all jobs were done"
    assert not any(psutil.pid_exists(read_json(mark)["pid"]) for mark in tmp_path.glob("sweep/m/server*.json"))
