"""Run allocations under Slurm, each as a Slurm job that is submitted through submitit.

The jobs continue if the sweep ends, and the next sweep finds them by their job IDs, which are stored in the models'
folders. A job that reaches its time limit or is preempted requeues itself, and continues with its kept replies.
"""

import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from medtasks_utils.errors import MedtasksError, UsageError, install, reason_of
from medtasks_utils.writing import JsonObject, one_line, write_whole

from .allocation import run_allocation
from .job import USAGE_ERROR, Allocation, Job, note_waiting
from .records import last_lines

_MOST_TIME_LIMITS = 5  # number of times that a Slurm job may reach its time limit before it fails
_MINUTES = 1440  # the default time limit of a Slurm job
_NEVER = {"PartitionTimeLimit", "PartitionNodeLimit", "BadConstraints", "InvalidAccount", "InvalidQOS"}
_LOG_LINES = 3  # number of lines of Slurm's log that are quoted
WAITING = "in Slurm's queue"


class _Task:
    """The function that a Slurm job calls, to run an allocation on its node."""

    def __call__(self, allocation: Allocation) -> None:
        run_allocation(allocation, {})

    def checkpoint(self, allocation: Allocation) -> object:
        """Return the same task, for submitit to submit again after a time limit or preemption."""
        from submitit.helpers import DelayedSubmission

        return DelayedSubmission(self, allocation)


def queue() -> dict[str, str] | None:
    """Return why each of the user's Slurm jobs waits ("None" if it runs), by job ID; None if Slurm does not respond."""
    words = ["squeue", "--noheader", "--array", "--me", "--format=%i %r"]
    try:
        answer = subprocess.run(words, capture_output=True, text=True)
    except OSError:
        return None
    lines = (line.partition(" ")[::2] for line in answer.stdout.splitlines())
    return None if answer.returncode else dict(lines)


def number_of(allocation: Iterable[Job]) -> str:
    """Return the Slurm job ID of an allocation; empty if it was never submitted."""
    path = _number_file(allocation)
    return path.read_text() if path.exists() else ""


def _number_file(allocation: Iterable[Job]) -> Path:
    return next(iter(allocation)).folder.parent / "slurm_job.txt"


def _options(allocation: Allocation) -> JsonObject:
    """Return the options of an allocation's Slurm job, under submitit's names."""
    plan, model = allocation[0].plan, allocation[0].model
    cpus = max(1, model.resources.cpus)
    return {
        "job_name": model.name,
        "cpus_per_task": cpus,
        "srun_args": ["--cpus-per-task", str(cpus)],  # srun no longer inherits it from sbatch since Slurm 22.05
        "time": _MINUTES,
        "gpus_per_node": model.gpus or None,
        **(plan.slurm or {}),
        **model.slurm,
    }


def batch_script(allocation: Allocation) -> str:
    """Return the batch script that would be submitted to Slurm for an allocation."""
    from submitit.slurm.slurm import _make_sbatch_string

    options = {name: value for name, value in _options(allocation).items() if value is not None}
    folder = _folder(allocation)
    command = f"{sys.executable} -u -m submitit.core._submit {folder}"
    return str(_make_sbatch_string(command=command, folder=folder, **options))


def _folder(allocation: Allocation) -> Path:
    return allocation[0].plan.output / "slurm"


def _executor(allocation: Allocation) -> Any:
    """Return submitit's executor with the options of an allocation; raise UsageError for an unknown option."""
    import submitit

    executor = submitit.SlurmExecutor(_folder(allocation), max_num_timeout=_MOST_TIME_LIMITS)
    try:
        executor.update_parameters(**_options(allocation))
    except ValueError as error:
        raise UsageError(f"{allocation[0].model.name}: slurm: {one_line(str(error))}") from None
    return executor


class SlurmExecutor:
    """An executor for Slurm, which submits jobs and checks the queue in each round.

    Raises:
        MedtasksError: if submitit or Slurm is not installed.
    """

    def __init__(self) -> None:
        if find_spec("submitit") is None or shutil.which("sbatch") is None:
            raise MedtasksError(f"slurm needs sbatch on this machine, and submitit: {install('slurm')}")
        self._futures: dict[Allocation, Future[None]] = {}
        self._submitted: dict[Allocation, str] = {}
        self._responds = True

    def submit(self, allocation: Allocation) -> Future[None]:
        """Check an allocation's options, and return the future of its Slurm job, which the next round submits."""
        _executor(allocation)
        self._futures[allocation] = Future()
        return self._futures[allocation]

    def watch(self) -> None:
        """Submit allocations, record why they wait, and complete the futures of those that have left the queue.

        A job that Slurm would never start is cancelled, and fails. If Slurm does not respond, print a message once, and
        change nothing.
        """
        queued = queue()
        if queued is None:
            if self._responds:
                print("squeue fails: nothing is submitted until Slurm responds", file=sys.stderr, flush=True)
            self._responds = False
            return
        self._responds = True
        for allocation, number in list(self._submitted.items()):
            reason = queued.get(number)
            log = _folder(allocation) / f"{number}_0_log.err"
            is_waiting = any(job.state.startswith(WAITING) for job in allocation)
            if reason is None:
                end_of_log = f"{one_line(last_lines(log, _LOG_LINES))} ({log})"
                if is_waiting:
                    note_waiting(allocation, f"its Slurm job ended before it started: {end_of_log}", USAGE_ERROR)
                self._end(allocation, MedtasksError(end_of_log))
            elif reason in _NEVER:
                subprocess.run(["scancel", number])
                problem = f"Slurm would never start it: {reason}; change the options under slurm in the plan"
                note_waiting(allocation, problem, USAGE_ERROR)
                self._end(allocation)
            elif is_waiting and reason != "None":
                note_waiting(allocation, f"{WAITING}: {reason}")
        self._submit([allocation for allocation in self._futures if allocation not in self._submitted], queued)

    def _end(self, allocation: Allocation, error: MedtasksError | None = None) -> None:
        """Complete the future of an allocation, with ``error`` if given."""
        self._submitted.pop(allocation, None)
        future = self._futures.pop(allocation)
        future.set_exception(error) if error else future.set_result(None)

    def _submit(self, allocations: list[Allocation], queued: Mapping[str, str]) -> None:
        """Submit allocations, unless they are in the queue from an earlier sweep.

        Allocations with equal options are submitted as an array if the options contain ``array_parallelism``.
        Allocations that Slurm refuses fail with its reason.
        """
        arrays: dict[object, list[Allocation]] = defaultdict(list)
        for allocation in allocations:
            options = {**_options(allocation), "job_name": ""}
            if (number := number_of(allocation)) in queued:
                self._submitted[allocation] = number
            else:
                arrays[str(options) if "array_parallelism" in options else allocation].append(allocation)
        for together in arrays.values():
            executor = _executor(together[0])
            for allocation in together:
                note_waiting(allocation, WAITING)  # before the job may note that it runs
            try:
                with executor.batch():
                    submitted = [executor.submit(_Task(), allocation) for allocation in together]
            except Exception as error:  # submitit's, which quotes sbatch
                for allocation in together:
                    note_waiting(allocation, f"Slurm refuses it: {reason_of(error)}", USAGE_ERROR)
                    self._end(allocation)
                continue
            for allocation, slurm_job in zip(together, submitted, strict=True):
                self._submitted[allocation] = slurm_job.job_id
                write_whole(_number_file(allocation), slurm_job.job_id)

    def stop(self) -> None:
        """Do nothing: the jobs continue under Slurm."""
