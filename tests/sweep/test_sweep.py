"""``medtasks sweep`` on this machine: real runs against local servers, failures, kills and resumes."""

import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import Future, wait
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Any
from unittest.mock import Mock
from urllib.parse import urlsplit

import pytest
import yaml
from commanding import clean_environment
from filelock import FileLock
from given import ROOT, each_row, error_line, table
from judge_server import JudgeServer
from local_server import Fault
from places import at
from saved_runs import drawn, save_run
from scripts import Held

from medtasks_utils.__main__ import main
from medtasks_utils.errors import MedtasksError, UsageError
from medtasks_utils.sweep import local_executor, report, scheduler
from medtasks_utils.sweep.allocation import is_up
from medtasks_utils.sweep.job import Allocation, Job, allocations_of, jobs_of
from medtasks_utils.sweep.job_size import size_of
from medtasks_utils.sweep.local_executor import LocalExecutor, visible_gpus
from medtasks_utils.sweep.plan import Plan, read_plan
from medtasks_utils.sweep.ray_executor import forwarded_environment, run_on_node
from medtasks_utils.sweep.records import is_whole, note_end
from medtasks_utils.sweep.scheduler import run_all
from medtasks_utils.writing import write_whole

A_RUN = {"name": "a", "tasks": "medhallu"}


@pytest.fixture
def server():
    with JudgeServer(lambda request: "\\boxed{1}") as server:
        yield server


def written(folder: Path, content: dict[str, Any]) -> Path:
    path = folder / "plan.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return path


def program(folder: Path, name: str, text: str) -> None:
    """Write a shell script that is a program in a folder on the path."""
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


@each_row("functions_of_sweep")
def test_a_function_of_sweeps_returns_what_its_row_says(name, place, expected):
    assert at(place, expected) == expected


@pytest.fixture
def plan(tmp_path, server):
    """Return a function that writes a plan, with one run of a model at a running server, and changes to it."""
    arguments = {"model": "m0", "base_url": f"{server.url}/chat/completions", "num_concurrent": 2}
    model = {"name": "m0", "model_args": arguments, "flags": {"apply_chat_template": True}}
    content = {"output": str(tmp_path / "sweep"), "data": "sample", "runs": [A_RUN], "models": [model]}
    return lambda **changed: written(tmp_path, content | changed)


def sweep(path: Path, *flags: str) -> int:
    """Run the command in this process."""
    return main(["sweep", str(path), *flags])


def only_job(path: Path) -> Job:
    (job,) = jobs_of(read_plan(path))
    return job


def finish(job: Job) -> None:
    job.note(0, "done")
    write_whole(job.folder / "m" / "results_1.json", '{"results": {}}')


def command(path: Path, *more: str) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-m", "medtasks_utils.__main__", "sweep", str(path), "--cpus", "2", *more]
    environment = clean_environment({"PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}"})
    return subprocess.Popen(
        arguments, env=environment, cwd=path.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def state(process: str) -> str:
    """Return the kernel's state of a process; Z if it has ended."""
    with suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2]
    return "Z"


def test_ctrl_c_ends_all_jobs(server, plan, capsys, monkeypatch):
    said: list[str] = []

    def say(message: str) -> None:
        said.append(message)
        if "replies" in message:
            raise KeyboardInterrupt

    monkeypatch.setattr(scheduler, "_say", say)
    monkeypatch.setattr(scheduler, "_PROGRESS_INTERVAL", -1)
    server.answer = held = Held(0, server.answer)
    path = plan()
    assert sweep(path) == 130
    held.release.set()
    assert said == ["m0/a: running", "m0/a: 0 of 28 replies"]
    assert capsys.readouterr().err == "medtasks: interrupted\n"
    job = only_job(path)
    assert (job.exit_code, job.state) == (None, "stopped")


@each_row("status")
def test_the_status_says_how_large_the_jobs_are_and_how_far(runs, lines, server, plan, capsys):
    """A limit of 0.3 is rounded up, as the harness does; a task that compares letters asks for each."""
    path = plan(models=[{"name": "m", "model": "dummy", "resources": {"cpus": 9}}], runs=runs)
    twice, share, killed, failed, letters = jobs_of(read_plan(path))
    twice.note(None, "stopped")
    write_whole(twice.folder / "m" / "replies_1.jsonl", "a\nb\n")
    finish(share)
    write_whole(share.folder / "cost.json", '{"gpu_seconds": 7200}')
    killed.note(None, "running", since=1.0, had=0)
    write_whole(failed.folder / "log.txt", "a\nCUDA out of memory: " + "x " * 50)
    failed.note(None, "running")
    note_end(failed.folder, 7)
    write_whole(letters.folder / "job.json", "")
    assert sweep(path, "--status") == 0
    out, errors = capsys.readouterr()
    assert [" ".join(line.split()) for line in out.splitlines()[:7]] == lines
    assert max(map(len, out.splitlines()[:7])) <= 80 and f"{letters.folder}/job.json is damaged" in errors
    assert sweep(path, "--dry_run", "--json") == 0
    job = json.loads(capsys.readouterr().out)[1]
    assert (job["folder"], job["cost"]) == (str(share.folder), {"gpu_seconds": 7200})
    assert sweep(path, "--cpus", "8") == 2
    assert not server.requests


@each_row("sizes_of_jobs")
def test_a_job_has_as_many_requests_as_its_examples_and_their_repeats_or_choices(name, run, model, requests, plan):
    path = plan(
        runs=[{"name": "a", "flags": {"limit": 2}, **run}],
        models=[{"name": "m", "model_args": {"model": "m"}, **model}],
    )
    assert size_of(only_job(path)) == requests


@pytest.mark.parametrize(("had", "answers", "seconds"), [(0, 3, 30), (1, 2, 120)])
def test_a_job_that_is_extended_has_an_end_and_the_lock_says_that_it_runs(
    had, answers, seconds, plan, capsys, monkeypatch
):
    """The expected end does not depend on replies from before the job started."""
    monkeypatch.setattr("medtasks_utils.sweep.status.time", Mock(wraps=time, **{"time.return_value": 1060.0}))
    path = plan(runs=[{**A_RUN, "flags": {"limit": 4}}])
    job = only_job(path)
    job.note(None, "running", since=1000.0, had=had)
    write_whole(job.folder / "m" / "replies_1.jsonl", "a\nb\n")
    write_whole(job.folder / "log.txt", "WARNING --extend: 1 reply reused; requests to send: 3 with a prompt …\n")
    with FileLock(job.plan.lock):
        assert sweep(path, "--status", "--json") == 0
    (record,) = json.loads(capsys.readouterr().out)
    assert (record["state"], record["answers"], record["until"]) == ("running", answers, 1060 + seconds)


def test_a_dry_run_shows_the_script_that_slurm_would_get_and_the_jobs(plan, capsys):
    pytest.importorskip("submitit", reason="needs submitit")
    model = {"name": "m", "model": "dummy", "model_args": {"api_key": "sk-1"}}
    assert sweep(plan(slurm={"partition": "gpu"}, models=[model]), "--dry_run") == 0
    out = capsys.readouterr().out
    assert "#SBATCH --partition=gpu\n" in out and "medtasks eval --model=dummy" in out
    assert "sk-1" not in out


@each_row("sweep_mistakes")
def test_a_wrong_plan_is_one_line_before_anything_runs(changed, named, code, server, plan, capsys):
    path = plan(**changed)
    assert sweep(path) == code
    errors = capsys.readouterr().err.strip().splitlines()
    assert re.match(f"medtasks: error: .*{named}", errors[-1])
    assert not server.requests


@each_row("changed_plans")
def test_a_job_runs_again_if_its_settings_change(changed, is_another, plan, tmp_path):
    jobs = only_job(plan()), only_job(plan(**changed))
    assert (jobs[0].fingerprint != jobs[1].fingerprint) == is_another
    jobs[0].note(0, "done")
    assert not is_another or jobs[1].exit_code is None
    if "runs" in changed or not is_another:
        assert jobs[0].identity == jobs[1].identity


@each_row("served_by")
def test_replies_are_not_reused_if_the_server_s_command_changes_what_matters(added, is_another, plan):
    """Words are added to a server's command; kept replies are reused only if they do not change replies."""
    serve = "vllm serve org/m --port {port}"
    jobs = [only_job(plan(models=[{"name": "m", "serve": words}])) for words in (serve, f"{serve} {added}")]
    assert (jobs[0].identity != jobs[1].identity) == is_another


def test_a_job_runs_again_if_versions_or_contents_of_files_change(plan, tmp_path, monkeypatch):
    files = [tmp_path / "tasks" / "mine.yaml", tmp_path / "rows" / "medhallu" / "a.jsonl", tmp_path / "x.jinja"]
    monkeypatch.setenv("HOME", str(tmp_path))
    options = {"medhallu": {"template": "~/x.jinja"}}
    run = {**A_RUN, "flags": {"include_path": str(tmp_path / "tasks")}, "options": options}
    path = plan(runs=[run], data=f"{tmp_path}/rows")
    fingerprints = [only_job(path).fingerprint]
    for file in files:
        write_whole(file, "a: 1")
        fingerprints.append(only_job(path).fingerprint)
        write_whole(tmp_path / "tasks" / "__pycache__" / "mine.pyc", str(file))
        assert only_job(plan(runs=[run], data=f"{tmp_path}/rows/")).fingerprint == fingerprints[-1]
    files[0].parent.joinpath("deeper").mkdir()
    files[0].rename(files[0].parent / "deeper" / files[0].name)
    for versions in ({}, {"medtasks": "0"}, {"lm_eval": "0"}):
        fingerprints.append(only_job(path).fingerprint)
        monkeypatch.setattr("medtasks_utils.sweep.job._version", versions.get)
        fingerprints.append(only_job(path).fingerprint)
    assert len({*fingerprints}) == 8


@each_row("shared_out")
def test_allocations_get_processors_and_gpus_or_wait(gpus, needs, given, plan, monkeypatch):
    """Null stands for an allocation that has to wait."""
    models = [{"name": f"m{number}", "resources": each} for number, each in enumerate(needs)]
    sweep_plan, found, release = read_plan(plan(models=models)), {}, Event()

    def run(allocation, environment, stopping):
        found[allocation] = environment["CUDA_VISIBLE_DEVICES"]
        release.wait(60)

    monkeypatch.setattr(local_executor, "run_allocation", run)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", gpus)
    place, allocations = LocalExecutor(sweep_plan, 3), allocations_of(jobs_of(sweep_plan), False)
    futures = [place.submit(allocation) for allocation in allocations]
    release.set()
    wait(filter(None, futures))
    assert [found.get(allocation) for allocation in allocations] == given
    assert all(place.submit(allocation) for allocation in allocations[:1]), "what has ended makes room"
    place.stop()


def test_long_allocations_start_first_and_a_small_one_does_not_wait_for_room_for_a_large_one(plan, monkeypatch):
    runs = [{**A_RUN, "name": str(limit), "flags": {"limit": limit}} for limit in (2, 9, 4)]
    models = [{"name": "m", "model": "dummy"}, {"name": "big", "model": "dummy", "resources": {"gpus": 8, "cpus": 0}}]
    place = Scripted(codes=[0] * 6)
    monkeypatch.setattr(scheduler, "LocalExecutor", lambda *_: place)
    monkeypatch.setattr(scheduler, "size_of", lambda job, **_: job.run.flags["limit"])
    sweep_plan = read_plan(plan(runs=runs, models=models))
    for job in jobs_of(sweep_plan):
        job.note(1, "failed in an earlier sweep")
    assert scheduler.sweep(sweep_plan, 1, None) == []
    assert place.started == ["big/9", "big/4", "big/2", "m/9", "m/4", "m/2"]


class Scripted(Mock):
    """An executor in which an allocation's last job ends at once with the next exit code; None for a lost node."""

    codes: list[int | None]

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.started: list[str] = []

    def submit(self, allocation: Allocation) -> Future[None]:
        job, code = allocation[-1], self.codes.pop(0)
        assert job.exit_code is None
        self.started.append(job.name)
        job.note(code, "running" if code is None else f"failed with exit code {code}")
        if code is not None:
            write_whole(job.folder / "m" / "results_1.json", '{"results": {}}')
        ended: Future[None] = Future()
        ended.set_result(None)
        return ended


@each_row("tried_again")
def test_a_lost_or_failed_job_is_restarted_unless_it_is_a_usage_error(codes, starts, said, plan, capsys):
    done, job = jobs_of(read_plan(plan(runs=[A_RUN, {**A_RUN, "name": "b"}])))
    finish(done)
    place, last = Scripted(codes=[*codes]), codes[-1]
    assert run_all([(done, job)], place) == ([job] if last else [])
    errors = capsys.readouterr().err
    assert len(place.started) == starts and said in errors
    assert re.match(r"\d\d:\d\d:\d\d m0/a: done\n", errors)
    assert (done.exit_code, job.exit_code) == (0, last)


@each_row("places")
def test_a_failed_job_is_named_with_its_log_and_is_not_done(
    changed, words, place, given, tmp_path, plan, capsys, monkeypatch
):
    path = plan(**changed)
    job = only_job(path)
    job.note(len(words) - 2, "failed in an earlier sweep, or its results are gone")
    executor = Mock(return_value=Scripted(codes=[1, 1, 1]))
    monkeypatch.setattr(scheduler, place, executor)
    assert sweep(path, *words) == 1
    assert [*executor.call_args.args[-1:]] == given
    out, errors = capsys.readouterr()
    assert f"m0/a: failed with exit code 1; its log: {job.folder}/log.txt\n" in errors
    assert out == "no report: no job has finished\n"
    with FileLock(tmp_path / "sweep" / ".lock"):
        assert sweep(path, *words) == 1
    assert "another sweep is running" in capsys.readouterr().err


def test_the_report_shows_finished_jobs_and_their_cost(tmp_path, server, plan, capsys, monkeypatch):
    path = plan(runs=[{**A_RUN, "flags": {"gen_kwargs": {"max_gen_toks": [7]}}}])
    job = only_job(path)
    for task in ("medmcqa_openmed", "medhallu"):  # the later run is the job's
        save_run(job.folder, tasks=task, limit=4)
    job.note(0, "done")
    write_whole(job.folder / "cost.json", '{"gpu_seconds": 7200}')
    assert sweep(path) == 0
    page = tmp_path / "sweep" / "report.html"
    assert capsys.readouterr().out == f"{page}\n" and not server.requests
    shown = drawn(page.read_text())
    assert "m0,max_gen_toks=7" in shown and "2.00 h" in shown and "medhallu" in shown and "medmcqa" not in shown
    monkeypatch.setattr(scheduler, "run_all", lambda *_: [job])
    assert sweep(path) == 1


def test_a_model_is_a_row_of_the_report_and_what_failed_is_named(tmp_path, plan, monkeypatch):
    models = [{"name": name, "model": "dummy"} for name in ("one", "lost")]
    runs = [{"name": task, "tasks": task} for task in ("medhallu", "medmcqa_openmed")]
    path = plan(models=models, runs=[*runs, {**A_RUN, "name": "hot", "flags": {"gen_kwargs": {"temperature": 1}}}])
    for job in jobs_of(read_plan(path))[:3]:
        save_run(job.folder, tasks=str(job.run.tasks), limit=4)
        job.note(0, "done")
    lost = jobs_of(read_plan(path))[3]
    write_whole(lost.folder / "log.txt", "CUDA out of memory")
    lost.note(None, "running")
    note_end(lost.folder, 1)
    page = report.write_report(read_plan(path))
    assert page
    shown = drawn(page.read_text())
    assert "one against one hot" in shown
    assert "lost: medhallu: failed with exit code 1: CUDA out of memory" in page.read_text()
    built = Mock(return_value="")
    monkeypatch.setattr("medtasks_utils.report.page.build_page", built)
    report.write_report(read_plan(path))
    assert [len(run.notes) for run in built.call_args.args[0]] == [0, 0, 3]


def test_variables_in_the_env_file_are_set_for_the_sweep(tmp_path, plan, monkeypatch):
    monkeypatch.setattr(os, "environ", dict(os.environ))
    (tmp_path / "keys.env").write_text("# keys\nexport A_KEY='a b'\nB=2=3\n")
    read_plan(plan(env_file=str(tmp_path / "keys.env")))
    assert (os.environ["A_KEY"], os.environ["B"]) == ("a b", "2=3")
    (tmp_path / "open.env").write_text("B='2")
    for file in ("nowhere", "open.env"):
        assert "cannot be read" in error_line(UsageError, read_plan, plan(env_file=f"{tmp_path}/{file}"))


@pytest.mark.slow
def test_a_job_whose_record_or_results_are_lost_requests_nothing_again(server, plan):
    path = plan(runs=[{**A_RUN, "flags": {"limit": 4}}])
    job = only_job(path)
    assert sweep(path) == 0
    (job.folder / "job.json").unlink()
    assert sweep(path) == 0
    for results in job.folder.glob("*/results_*.json"):
        results.write_text("")
    is_whole.cache_clear()
    assert sweep(path) == 0
    assert len(server.requests) == 4 and sum(map(is_whole, job.folder.glob("*/results_*.json"))) == 1


def test_a_server_is_ready_when_it_responds_with_a_status_below_500(server):
    server.page = Fault(499)
    port = urlsplit(server.url).port
    assert is_up(port)
    server.page = Fault(500)
    assert not is_up(port) and not is_up(1)


def test_the_machine_s_gpus_are_those_of_nvidia_smi_unless_none_may_be_seen(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert visible_gpus() == []
    program(tmp_path, "nvidia-smi", "echo 'GPU 0: H100'; echo 'GPU 1: H100'; echo ' MIG 3'")
    assert visible_gpus() == ["0", "1"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert visible_gpus() == []


def test_a_node_that_does_not_see_the_output_runs_nothing(plan):
    job = only_job(plan())
    assert "that all nodes share" in error_line(MedtasksError, run_on_node, (job,), {})
    assert not job.folder.exists()


@each_row("variables_that_travel")
def test_ray_jobs_get_the_variables_that_match_the_patterns(env, names, monkeypatch):
    """Null stands for the plan's default."""
    monkeypatch.setattr(os, "environ", dict.fromkeys(table("variables"), "x"))
    assert forwarded_environment(env or Plan.model_fields["env"].default) == dict.fromkeys(names, "x")


@each_row("no_plans")
def test_a_file_that_is_no_plan_is_an_error_that_says_why(text, message, tmp_path):
    path = tmp_path / "p.yaml"
    if text:
        path.write_text(text)
    assert message in error_line(UsageError, read_plan, path)
