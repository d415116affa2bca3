"""``medtasks sweep`` on this machine: real runs against local servers, failures, kills and resumes."""

import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import Future, wait
from contextlib import nullcontext
from threading import Event
from unittest.mock import Mock, call
from urllib.parse import urlsplit

import pytest
import yaml
from commanding import clean_environment
from filelock import FileLock
from given import ROOT, each_row, error_line, table
from judge_server import JudgeServer
from local_server import Fault
from places import as_its_row_says
from saved_runs import drawn, save_run
from scripts import Held

from medtasks_utils.__main__ import main
from medtasks_utils.errors import UsageError
from medtasks_utils.sweep import local_executor, report, scheduler
from medtasks_utils.sweep.allocation import is_up
from medtasks_utils.sweep.job import allocations_of, jobs_of
from medtasks_utils.sweep.local_executor import LocalExecutor, visible_gpus
from medtasks_utils.sweep.plan import Plan, read_plan
from medtasks_utils.sweep.ray_executor import forwarded_environment
from medtasks_utils.sweep.records import is_whole, note_end
from medtasks_utils.sweep.scheduler import run_all
from medtasks_utils.writing import write_whole

A_RUN = {"name": "a", "tasks": "medhallu"}


@pytest.fixture
def server():
    with JudgeServer(lambda request: "\\boxed{1}") as server:
        yield server


def written(folder, content):
    path = folder / "plan.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return path


def program(folder, name, text):
    """Write a shell script that is a program in a folder on the path."""
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


test_a_function_of_sweeps_returns_what_its_row_says = as_its_row_says("functions_of_sweep")


@pytest.fixture
def plan(tmp_path, server):
    """Return a function that writes a plan, with one run of a model at a running server, and changes to it."""
    arguments = {"model": "m0", "base_url": f"{server.url}/chat/completions", "num_concurrent": 2}
    model = {"name": "m0", "model_args": arguments, "flags": {"apply_chat_template": True}}
    content = {"output": str(tmp_path / "sweep"), "data": "sample", "runs": [A_RUN], "models": [model]}
    return lambda **changed: written(tmp_path, content | changed)


def sweep(path, *flags):
    """Run the command in this process."""
    return main(["sweep", str(path), *flags])


def only_job(path):
    (job,) = jobs_of(read_plan(path))
    return job


def command(path, *more):
    arguments = [sys.executable, "-m", "medtasks_utils.__main__", "sweep", str(path), "--cpus", "2", *more]
    environment = clean_environment({"PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}"})
    return subprocess.Popen(
        arguments, env=environment, cwd=path.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_ctrl_c_ends_all_jobs(server, plan, capsys, monkeypatch):
    say = Mock(side_effect=[None, KeyboardInterrupt])
    monkeypatch.setattr(scheduler, "_say", say)
    monkeypatch.setattr(scheduler, "_PROGRESS_INTERVAL", -1)
    server.answer = held = Held(0, server.answer)
    path = plan()
    assert sweep(path) == 130
    held.release.set()
    assert say.mock_calls == [call("m0/a: running"), call("m0/a: 0 of 28 replies")]
    assert capsys.readouterr().err == "medtasks: interrupted\n"
    job = only_job(path)
    assert (job.exit_code, job.state) == (None, "stopped")


@each_row("status")
def test_the_records_in_its_folder_say_how_far_a_job_is(
    name, changed, note, files, expected, plan, capsys, monkeypatch
):
    """At 1060 seconds; the expected end does not depend on replies from before the job started."""
    monkeypatch.setattr("medtasks_utils.sweep.status.time", Mock(wraps=time, **{"time.return_value": 1060.0}))
    path = plan(**changed)
    job = only_job(path)
    job.note(**note)
    for file, text in files.items():
        write_whole(job.folder / file, text)
    with FileLock(job.plan.lock) if expected["state"] == "running" else nullcontext():
        assert sweep(path, "--status", "--json") == 0
    out, errors = capsys.readouterr()
    assert json.loads(out) == [{"name": job.name, "folder": str(job.folder), **expected}]
    assert ("/job.json is damaged" in errors) == ("job.json" in files)


@each_row("sweep_mistakes")
def test_a_wrong_plan_is_one_line_before_anything_runs(changed, named, code, server, plan, capsys):
    path = plan(**changed)
    assert sweep(path) == code
    errors = capsys.readouterr().err.strip().splitlines()
    assert re.match(f"medtasks: error: .*{named}", errors[-1])
    assert not server.requests


@each_row("changed_plans")
def test_a_job_runs_again_if_its_settings_change_and_reuses_replies_of_the_same_model(
    changed, is_another, is_another_model, plan, monkeypatch
):
    done, job = only_job(plan()), only_job(plan(**changed))
    monkeypatch.setattr("medtasks_utils.sweep.job.Job.record", {"code": 0, "fingerprint": done.fingerprint})
    assert job.exit_code == (None if is_another else 0)
    assert (job.identity != done.identity) == is_another_model


def test_a_job_runs_again_if_versions_or_contents_of_files_change(plan, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    options = {"medhallu": {"template": "~/x.jinja"}}
    run = {**A_RUN, "flags": {"include_path": str(tmp_path / "tasks")}, "options": options}
    model = {"name": "m0", "serve": f"s {{port}} '{tmp_path}/y.jinja'"}
    path = plan(runs=[run], data=f"{tmp_path}/rows", models=[model])
    fingerprints = [only_job(path).fingerprint]

    def note():
        fingerprints.append(only_job(path).fingerprint)

    for file in ("tasks/mine.yaml", "rows/medhallu/a.jsonl", "x.jinja", "y.jinja", "tasks/__pycache__/mine.pyc"):
        write_whole(tmp_path / file, "a: 1")
        note()
    assert fingerprints.pop() == fingerprints[-1], "what Python caches is no content"
    (tmp_path / "tasks" / "mine.yaml").rename(tmp_path / "tasks" / "other.yaml")
    for versions in ({}, {"medtasks": "0"}, {"lm_eval": "0"}):
        note()
        monkeypatch.setattr("medtasks_utils.sweep.job._version", versions.get)
    note()
    assert len({*fingerprints}) == 9


@each_row("shared_out")
def test_allocations_get_processors_and_gpus_or_wait(gpus, needs, given, plan, monkeypatch):
    """Null stands for an allocation that has to wait."""
    release = Event()
    run = Mock(side_effect=lambda *_: release.wait(60))
    monkeypatch.setattr(local_executor, "run_allocation", run)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", gpus)
    sweep_plan = read_plan(
        plan(models=[{"name": f"m{number}", "resources": each} for number, each in enumerate(needs)])
    )
    place, allocations = LocalExecutor(sweep_plan, 3), allocations_of(jobs_of(sweep_plan), False)
    futures = [place.submit(allocation) for allocation in allocations]
    release.set()
    wait(filter(None, futures))
    found = {each.args[0]: each.args[1]["CUDA_VISIBLE_DEVICES"] for each in run.call_args_list}
    assert [found.get(allocation) for allocation in allocations] == given
    assert place.submit(allocations[0]), "what has ended makes room"
    place.stop()


def scripted(*codes):
    """Return an executor in which an allocation's last job ends at once with the next code; None for a lost node."""
    left = iter(codes)

    def submit(allocation):
        job, code = allocation[-1], next(left)
        assert job.exit_code is None
        finish(job, code)
        ended: Future[None] = Future()
        ended.set_result(None)
        return ended

    return Mock(**{"submit.side_effect": submit})


def finish(job, code=0):
    job.note(None, "running", since=1)
    write_whole(job.folder / "m" / "results_1.json", '{"results": {}}')
    if code is not None:
        note_end(job.folder, code)


def test_long_allocations_start_first(plan, monkeypatch):
    """Requests that are done do not count."""
    runs = [{**A_RUN, "name": str(limit), "flags": {"limit": limit}} for limit in (2, 9, 4)]
    models = [{"name": "m", "model": "dummy"}, {"name": "big", "model": "dummy", "resources": {"gpus": 8}}]
    place = scripted(*[0] * 6)
    monkeypatch.setattr(scheduler, "LocalExecutor", lambda *_: place)
    for _ in range(2):  # the second finds all done
        assert scheduler.sweep(read_plan(plan(runs=runs, models=models)), 1, None) == []
    started = [allocation[0].name for (allocation,) in (call.args for call in place.submit.call_args_list)]
    assert started == ["big/9", "big/4", "big/2", "m/9", "m/4", "m/2"]
    done, left = jobs_of(read_plan(plan(runs=runs[1:])))
    finish(done)
    assert scheduler._length((done, left)) == 4


@each_row("tried_again")
def test_a_lost_or_failed_job_is_restarted_unless_it_is_a_usage_error(codes, said, plan, capsys):
    done, job = jobs_of(read_plan(plan(runs=[A_RUN, {**A_RUN, "name": "b"}])))
    finish(done)
    place = scripted(*codes)
    assert run_all([(done, job)], place) == ([job] if codes[-1] else [])
    assert place.submit.call_count == len(codes)
    assert re.match(rf"\d\d:\d\d:\d\d m0/a: done\n(.*\n)*.*{said}", capsys.readouterr().err)
    assert (done.exit_code, done.record.get("since"), job.exit_code) == (0, None, codes[-1])


@each_row("places")
def test_a_failed_job_is_named_with_its_log_and_is_not_done(changed, words, place, given, plan, capsys, monkeypatch):
    path = plan(**changed)
    job = only_job(path)
    job.note(len(words) - 2, "failed in an earlier sweep, or its results are gone")
    executor = Mock(return_value=scripted(1, 1, 1))
    monkeypatch.setattr(scheduler, place, executor)
    assert sweep(path, *words, "--json") == 1
    assert [*executor.call_args.args[-1:]] == given
    out, errors = capsys.readouterr()
    assert f"m0/a: failed with exit code 1: ; its log: {job.folder}/log.txt\n" in errors
    assert '"failed with exit code 1: "' in out, "not the state before"
    with FileLock(job.plan.lock):
        assert sweep(path, *words) == 1
    assert "another sweep is running" in capsys.readouterr().err


def test_the_report_has_a_row_for_each_model_with_its_cost_and_names_what_failed(plan, capsys):
    """Of the runs in a job's folder, the last counts. A second run of a task has a row of its own."""
    flags = {"gen_kwargs": {"max_gen_toks": [7]}}
    models = [{"name": name, "model": "dummy", "flags": flags} for name in ("one", "lost")]
    runs = [A_RUN, {"name": "b", "tasks": "medmcqa_openmed"}, {**A_RUN, "name": "hot"}, {**A_RUN, "name": "c"}]
    path = plan(models=models, runs=runs)
    *done, _, lost = jobs_of(read_plan(path))[:5]
    for job in done:
        for tasks in ("medcalc_bench", str(job.run.tasks)):
            save_run(job.folder, tasks=tasks, limit=4)
        job.note(0, "done")
    write_whole(done[0].folder / "cost.json", '{"gpu_seconds": 7200}')
    write_whole(lost.folder / "log.txt", "CUDA out of memory")
    finish(lost, 1)
    page = report.write_report(read_plan(path))
    assert page
    shown = drawn(page.read_text())
    assert "one,max_gen_toks=7 against one,max_gen_toks=7 hot" in shown
    assert "2.00 h" in shown and "medmcqa" in shown and "medcalc" not in shown
    assert "lost,max_gen_toks=7: a: failed with exit code 1: CUDA out of memory" in shown
    assert shown.count(": not started") == 5
    assert sweep(plan(models=models[:1], runs=runs[:3])) == 0  # all of its jobs are done
    assert capsys.readouterr().out == f"{page}\n"


def test_variables_in_the_env_file_are_set_for_the_sweep(tmp_path, plan, monkeypatch):
    monkeypatch.setattr(os, "environ", dict(os.environ))
    (tmp_path / "keys.env").write_text("# keys\nexport A_KEY='a b'\nB=2=3\n")
    read_plan(plan(env_file=str(tmp_path / "keys.env")))
    assert os.environ.items() >= {("A_KEY", "a b"), ("B", "2=3")}
    (tmp_path / "open.env").write_text("B='2")
    assert "cannot be read" in error_line(UsageError, read_plan, plan(env_file=f"{tmp_path}/open.env"))


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


@each_row("variables_that_travel")
def test_ray_jobs_get_the_variables_that_match_the_patterns(env, names, monkeypatch):
    """Null stands for the plan's default."""
    monkeypatch.setattr(os, "environ", dict.fromkeys(table("variables"), "x"))
    assert forwarded_environment(env or Plan.model_fields["env"].default) == dict.fromkeys(names, "x")
