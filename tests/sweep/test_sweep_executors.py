"""What a sweep asks of Ray and of Slurm, with stand-ins for both; their own tests need a cluster."""

import os
import sys
from unittest.mock import Mock

import pytest
from given import error_line
from test_sweep import program
from test_sweep_serving import served, states

from medtasks_utils.errors import MedtasksError, UsageError
from medtasks_utils.sweep import slurm_executor
from medtasks_utils.sweep.job import allocations_of, jobs_of
from medtasks_utils.sweep.plan import Plan
from medtasks_utils.sweep.ray_executor import RayExecutor, run_on_node
from medtasks_utils.sweep.slurm_executor import SlurmExecutor


class RayError(Exception):
    """Ray's error of a task whose node is gone."""


class RayTaskError(RayError):
    """Ray's error of a task that raised an error."""

    cause = ImportError("no medtasks")


def test_slurm_gets_a_job_a_model_and_is_asked_for_it_again(tmp_path, monkeypatch):
    submitit = pytest.importorskip("submitit", reason="needs submitit")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(slurm_executor, "_POLL_INTERVAL", 0)
    queue = tmp_path / "queue"
    program(tmp_path, "sbatch", f"cat \"$1\" > '{tmp_path}/script'; echo x >> '{queue}'; echo Submitted batch job 42")
    program(tmp_path, "squeue", f"test ! -e '{queue}' || echo 42")
    program(tmp_path, "srun", "")
    content = served(tmp_path, resources={"gpus": 2, "cpus": 3}, replicas=2, slurm={"qos": "low"})
    plan = Plan(**content, slurm={"partition": "gpu", "qos": "high"})
    (allocation,) = allocations_of(jobs_of(plan), True)
    for _ in range(2):  # the second finds it in the queue
        executor = SlurmExecutor()
        assert executor.start(allocation) and executor.running == {allocation: "42"}
        assert queue.read_text() == "x\n" and executor.ended() == []
    script = (tmp_path / "script").read_text()
    for option in ("job-name=m", "partition=gpu", "qos=low", "time=1440", "gpus-per-node=4", "cpus-per-task=3"):
        assert f"#SBATCH --{option}\n" in script
    assert "--cpus-per-task 3" in script
    submitted = submitit.core.utils.DelayedSubmission.load(tmp_path / "sweep/slurm/42_submitted.pkl")
    assert submitted._timeout_countdown == 5
    program(tmp_path, "squeue", "exit 1")
    assert executor.ended() == [], "a Slurm that does not respond has not ended a job"
    program(tmp_path, "squeue", "")
    assert executor.ended() == [allocation] and executor.running == {}
    program(tmp_path, "sbatch", "exit 1")
    for settings, says in ({}, "m: slurm: "), ({"tme": 1}, "m: slurm: .*tme"):
        (allocation,) = allocations_of(jobs_of(Plan(**content, slurm=settings)), True)
        with pytest.raises(UsageError, match=says):
            executor.start(allocation)


def test_ray_gets_a_task_an_allocation(tmp_path, monkeypatch):
    task, ray = Mock(), Mock(__spec__=Mock(), exceptions=Mock(RayError=RayError, RayTaskError=RayTaskError))
    ray.remote.return_value.options.return_value = task
    ray.wait.side_effect = lambda references, **_: (references[:1], references[1:])
    ray.get.side_effect = [None, RayTaskError(), RayError()]
    monkeypatch.setitem(sys.modules, "ray", ray)
    plan = Plan(**served(tmp_path, resources={"gpus": 2, "cpus": 3}, replicas=2), env=("HOME",))
    executor, allocation = RayExecutor("auto"), tuple(jobs_of(plan))
    lost = {"code": 1, "state": "could not start: no medtasks"}
    for state in ([], [lost, lost], [lost, lost]):
        assert executor.start(allocation) and executor.ended() == [allocation]
        assert (executor.running, states(tmp_path)) == ({}, state)
    ray.remote.assert_called_with(run_on_node)
    ray.remote.return_value.options.assert_called_with(name="m", num_cpus=3, num_gpus=4, max_retries=0)
    task.remote.assert_called_with(allocation, {"HOME": os.environ["HOME"]})
    executor.stop()
    ray.shutdown.assert_called_once_with()
    ray.init.side_effect = ConnectionError
    assert "no Ray cluster responds at auto" in error_line(MedtasksError, RayExecutor, "auto")
    monkeypatch.setitem(sys.modules, "ray", None)
    assert "needs Ray" in error_line(MedtasksError, RayExecutor, "auto")
