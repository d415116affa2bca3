"""``medtasks sweep`` under a Slurm of one node or more; skipped where there is none."""

import json
import re
import shutil
import subprocess
import time

import pytest
from test_sweep import command, written
from test_sweep_serving import asked, served, wait_for

from medtasks_utils.__main__ import main

pytest.importorskip("submitit", reason="needs submitit")


def slurm(*words):
    """Run a command of Slurm, and return its output."""
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=60).stdout


@pytest.fixture(autouse=True)
def _slurm():
    if shutil.which("sinfo") is None or not slurm("sinfo", "--noheader", "--states=idle,mixed"):
        pytest.skip("needs Slurm, with a node that is free")
    yield
    slurm("scancel", "--me", "--name=m")


@pytest.mark.slow
def test_requeued_and_killed_jobs_go_on_and_a_sweep_finds_its_jobs_again(tmp_path, capsys):
    content = {**served(tmp_path, 1), "slurm": {"time": 10}, "runs": [{"name": "a", "tasks": "medhallu"}]}
    path = written(tmp_path, content)
    number = tmp_path / "sweep" / "m" / "slurm_job.txt"
    sweep = command(path)
    wait_for(tmp_path, 4, sweep)
    sweep.kill()
    sweep.communicate()
    first = number.read_text()
    slurm("scancel", "--signal=USR2", first)  # as Slurm does before a time limit, or to preempt
    while "PENDING" not in slurm("squeue", "--noheader", "--format=%T", f"--jobs={first}"):
        time.sleep(0.2)
    slurm("scontrol", "update", f"JobId={first}", "StartTime=now")
    sweep = command(path)
    wait_for(tmp_path, 12, sweep)
    assert number.read_text() == first, "it was found in the queue"
    assert main(["sweep", str(path), "--status", "--json"]) == 0
    assert 4 <= json.loads(capsys.readouterr().out)[0]["answers"] < 28
    slurm("scancel", first)
    _, errors = sweep.communicate(timeout=400)
    assert sweep.returncode == 0, errors
    assert re.search("lost its node, or its Slurm job: .*, retrying", errors) and number.read_text() != first
    prompts = asked(tmp_path)
    assert len(prompts) - len({*prompts}) <= 2 * 2, "those in flight"
