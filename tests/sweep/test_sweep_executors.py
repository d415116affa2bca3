"""Calls of a sweep to Ray and Slurm, with stand-ins for both; tests on a cluster are in other files."""

import os
import sys
from unittest.mock import Mock, call

import pytest
from given import error_line
from test_sweep import program
from test_sweep_serving import ends, served

from medtasks_utils.errors import MedtasksError, UsageError
from medtasks_utils.sweep.job import allocations_of, jobs_of
from medtasks_utils.sweep.plan import Plan
from medtasks_utils.sweep.ray_executor import RayExecutor, run_on_node
from medtasks_utils.sweep.slurm_executor import SlurmExecutor, batch_script


@pytest.fixture
def submitit(tmp_path, monkeypatch):
    """Put stand-ins of Slurm's programs into the folder of the test."""
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    program(tmp_path, "squeue", "")
    program(tmp_path, "srun", "")
    return pytest.importorskip("submitit", reason="needs submitit")


def test_slurm_gets_a_job_per_model_and_a_later_sweep_finds_it(tmp_path, submitit, capsys):
    queue, script = tmp_path / "queue", tmp_path / "script"
    program(tmp_path, "sbatch", f"cat \"$1\" > '{script}'; echo x >> '{queue}'; echo Submitted batch job 42")
    program(tmp_path, "squeue", f"test ! -e '{queue}' || echo 42 Resources")
    content = served(tmp_path, resources={"gpus": 2, "cpus": 3}, replicas=2, slurm={"qos": "low"})
    plan = Plan(**content, slurm={"partition": "gpu", "qos": "high"})
    (allocation,) = allocations_of(jobs_of(plan), True)
    for _ in range(2):  # the second finds it in the queue
        executor = SlurmExecutor()
        future = executor.submit(allocation)
        executor.watch()
        executor.watch()
        assert queue.read_text() == "x\n" and not future.done()
        assert ends(tmp_path) == [(None, "in Slurm's queue: Resources")] * 2
        program(tmp_path, "squeue", "exit 1")
        executor.watch()
        executor.watch()
        assert not future.done()  # a Slurm that does not respond has not ended a job
        assert capsys.readouterr().err == "squeue fails: nothing is submitted until Slurm responds\n"
        other = SlurmExecutor()
        other.submit(allocation)
        other.watch()
        assert queue.read_text() == "x\n" and capsys.readouterr().err, "and gets none twice"
        program(tmp_path, "squeue", "echo 42 Resources")
    for option in ("job-name=m", "partition=gpu", "qos=low", "time=1440", "gpus-per-node=4", "cpus-per-task=3"):
        assert f"#SBATCH --{option}\n" in script.read_text()
    assert "--cpus-per-task 3" in script.read_text()
    assert f"{sys.executable} -u -m submitit" in batch_script(allocation)
    submitted = submitit.core.utils.DelayedSubmission.load(tmp_path / "sweep/slurm/42_submitted.pkl")
    assert submitted._timeout_countdown == 5
    (tmp_path / "sweep/slurm/42_0_log.err").write_text("line 3: module: command not found\n")
    program(tmp_path, "squeue", "")
    executor.watch()
    assert future.done()
    assert all(code == 2 and "module: command not found" in state for code, state in ends(tmp_path))


@pytest.mark.usefixtures("submitit")
def test_what_slurm_refuses_or_never_starts_is_told_and_the_rest_is_submitted_as_arrays(tmp_path):
    refuse = 'grep -q no-such "$1" && { echo sbatch: error: invalid partition >&2; exit 1; }'
    program(tmp_path, "sbatch", f"{refuse}; grep -- --array= \"$1\" >> '{tmp_path}/arrays'; echo Submitted batch job 7")
    (model,) = served(tmp_path)["models"]
    refused = {**model, "name": "no-such", "slurm": {"partition": "no-such"}}
    models = [refused, *({**model, "name": name} for name in "xyz")]
    plan = Plan(**{**served(tmp_path), "models": models}, slurm={"array_parallelism": 2})
    executor, allocations = SlurmExecutor(), allocations_of(jobs_of(plan), True)
    futures = [executor.submit(allocation) for allocation in allocations]
    executor.watch()
    assert [future.done() for future in futures] == [True, False, False, False]
    assert (allocations[0][0].exit_code, allocations[0][0].state[:17]) == (2, "Slurm refuses it:")
    assert "invalid partition" in allocations[0][0].state
    assert (tmp_path / "arrays").read_text() == "#SBATCH --array=0-2%2\n"
    assert (tmp_path / "sweep/z/slurm_job.txt").read_text() == "7_2"
    program(tmp_path, "squeue", "echo 7_0 PartitionTimeLimit; echo 7_1 Priority; echo 7_2 None")
    program(tmp_path, "scancel", f"echo $* > '{tmp_path}/cancelled'")
    executor.watch()
    assert [future.done() for future in futures] == [True, True, False, False]
    states = [allocation[0].state for allocation in allocations[2:]]
    assert states == ["in Slurm's queue: Priority", "in Slurm's queue"], "the last one runs"
    problem = "Slurm would never start it: PartitionTimeLimit; change the options under slurm in the plan"
    assert allocations[1][0].state == problem
    assert (tmp_path / "cancelled").read_text() == "7_0\n"
    (allocation, *_) = allocations_of(jobs_of(Plan(**served(tmp_path), slurm={"tme": 1})), True)
    assert "m: slurm: " in error_line(UsageError, executor.submit, allocation)


def test_ray_gets_a_task_per_allocation(tmp_path, monkeypatch):
    ray = Mock(__spec__=Mock())
    nodes = {True: {"CPU": 8.0, "GPU": 4.0}, False: {"CPU": 8.0, "GPU": 9.0}}
    ray.nodes.return_value = [{"Alive": is_up, "Resources": has} for is_up, has in nodes.items()]
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setenv("KEY", "k")
    (tmp_path / "keys.env").write_text("KEY=k")
    for gpus, said in ((2, "in Ray's queue"), (3, "waiting for a node with 6 GPUs and 3 CPUs; there is none")):
        content = served(tmp_path, resources={"gpus": gpus, "cpus": 3}, replicas=2)
        plan = Plan(**content, env=("HOME",), env_file=tmp_path / "keys.env")
        executor, allocation = RayExecutor("auto"), tuple(jobs_of(plan))
        assert executor.submit(allocation) and allocation[0].current["since"]
        assert ends(tmp_path) == [(None, said)] * 2
        task = call.remote(run_on_node).options(name="m", num_cpus=3, num_gpus=2 * gpus, max_retries=0)
        asked = task.remote(allocation, {"HOME": os.environ["HOME"], "KEY": "k"}).future()
        assert ray.mock_calls[-4:] == asked.call_list()
    executor.stop()
    ray.shutdown.assert_called_once_with()
    ray.init.side_effect = ConnectionError
    assert "no Ray cluster responds at auto" in error_line(MedtasksError, RayExecutor, "auto")
    monkeypatch.setitem(sys.modules, "ray", None)
    assert "needs Ray" in error_line(MedtasksError, RayExecutor, "auto")
