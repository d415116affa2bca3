"""Run allocations under Slurm, each as a Slurm job that is submitted through submitit.

The jobs continue if the sweep ends, and the next sweep finds them by their numbers, which are stored in the models'
folders. A job that reaches its time limit or is preempted requeues itself, and continues with its kept replies.
"""

import shutil
import subprocess
import time
from importlib.util import find_spec

from medtasks_utils.errors import MedtasksError, UsageError, install
from medtasks_utils.writing import one_line, write_whole

from .allocation import run_to_the_end
from .job import Allocation

_POLL_INTERVAL = 2.0  # seconds between requests to Slurm
_MOST_TIME_LIMITS = 5  # number of times that a Slurm job may reach its time limit before it fails
_MINUTES = 1440  # the default time limit of a Slurm job


class _Task:
    """The function that a Slurm job runs: an allocation, on this node."""

    def __call__(self, allocation: Allocation) -> None:
        run_to_the_end(allocation, {})

    def checkpoint(self, allocation: Allocation) -> object:
        """Return what submitit runs after a time limit or preemption: the same again."""
        from submitit.helpers import DelayedSubmission

        return DelayedSubmission(self, allocation)


class SlurmExecutor:
    """An executor for Slurm.

    Attributes:
        running: by allocation, the number of its Slurm job.

    Raises:
        MedtasksError: if submitit or Slurm is not installed.
    """

    def __init__(self) -> None:
        if find_spec("submitit") is None or shutil.which("sbatch") is None:
            raise MedtasksError(f"slurm needs sbatch on this machine, and submitit: {install('slurm')}")
        self.running: dict[Allocation, str] = {}

    def start(self, allocation: Allocation) -> bool:
        """Submit an allocation, unless it is still in the queue from an earlier sweep.

        Raises:
            UsageError: for an option that submitit or Slurm rejects.
        """
        path = allocation[0].folder.parent / "slurm_job.txt"
        number = path.read_text() if path.exists() else ""
        if number not in self._queued():
            number = self._submit(allocation)
            write_whole(path, number)
        self.running[allocation] = number
        return True

    def _submit(self, allocation: Allocation) -> str:
        """Submit an allocation, and return the number of its Slurm job."""
        import submitit

        plan, model = allocation[0].plan, allocation[0].model
        cpus = max(1, model.resources.cpus)
        options = {
            "job_name": model.name,
            "cpus_per_task": cpus,
            "srun_args": ["--cpus-per-task", str(cpus)],  # srun no longer inherits it from sbatch since Slurm 22.05
            "time": _MINUTES,
            "gpus_per_node": model.gpus or None,
            **(plan.slurm or {}),
            **model.slurm,
        }
        executor = submitit.SlurmExecutor(plan.output / "slurm", max_num_timeout=_MOST_TIME_LIMITS)
        try:
            executor.update_parameters(**options)
            return str(executor.submit(_Task(), allocation).job_id)
        except (ValueError, submitit.core.utils.FailedJobError) as error:
            raise UsageError(f"{model.name}: slurm: {one_line(str(error))}") from None

    def _queued(self) -> set[str]:
        """Return the numbers of this user's pending and running Slurm jobs.

        If Slurm does not respond, all jobs that this sweep has submitted are assumed to be among them.
        """
        queue = subprocess.run(["squeue", "--noheader", "--me", "--format=%A"], capture_output=True, text=True)
        return {*self.running.values()} if queue.returncode else {*queue.stdout.split()}

    def ended(self) -> list[Allocation]:
        """Wait briefly, and return the allocations that are no longer in the queue."""
        time.sleep(_POLL_INTERVAL)
        queued = self._queued()
        ended_ones = [allocation for allocation, number in self.running.items() if number not in queued]
        for allocation in ended_ones:
            del self.running[allocation]
        return ended_ones

    def stop(self) -> None:
        """Do nothing, so that the jobs continue under Slurm."""
