"""Give the jobs of a plan to an executor, restart lost jobs, and write the report."""

import sys
import time
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from filelock import FileLock, Timeout

from medtasks_utils.errors import MedtasksError
from medtasks_utils.harness.checks import try_folder
from medtasks_utils.writing import JsonObject, read_json, write_whole

from .allocation import exit_code, last_lines, note
from .job_size import size_of
from .local_executor import LocalExecutor
from .plan import LOCK, Allocation, Job, Plan, allocations_of
from .ray_executor import RayExecutor
from .slurm_executor import SlurmExecutor

_MOST_ATTEMPTS = 3  # maximum attempts in a sweep; after that, a job counts as failed
_USAGE_ERROR = 2  # the exit code of a job that is not tried again
_PROGRESS_INTERVAL = 60.0  # seconds between lines about the progress of jobs
_LOG_LINES = 8  # number of lines of a job's log that are shown
NOT_STARTED = "not started"


def job_records(plan: Plan) -> list[JsonObject]:
    """Return, for each job, a record of its name, folder, number of requests, progress, state and cost so far."""
    return [
        {
            "name": job.name,
            "folder": str(job.folder),
            "requests": size_of(job),
            "answers": _answers(job),
            "state": _state(job),
            "cost": read_json(job.folder / "cost.json"),
        }
        for job in plan.jobs()
    ]


def is_done(job: Job) -> bool:
    """Return True if the last process of a job ended with exit code 0, and its results are there."""
    return exit_code(job) == 0 and any(job.folder.glob("*/results_*.json"))


def _answers(job: Job) -> int:
    """Return the number of replies that a job has so far."""
    kept = sum(path.read_bytes().count(b"\n") for path in job.folder.glob("*/answers_*.jsonl"))
    return size_of(job) if is_done(job) else min(kept, size_of(job))


def _state(job: Job) -> str:
    """Return the last recorded state of a job, in words; ``not started`` if none was recorded."""
    return str(read_json(job.folder / "job.json").get("state", NOT_STARTED))


def sweep(plan: Plan, cpus: int | None, address: str | None) -> list[Job]:
    """Run the jobs that are not done, and return those that failed.

    Args:
        plan: the plan.
        cpus: the number of processors of this machine to use; None for all.
        address: the address of a Ray cluster; None to run the jobs under Slurm if the plan says so, else here.

    Raises:
        MedtasksError: before any job runs, if a job's tasks, options or data are not valid, the output folder is not
            writable, or another sweep is running in it.
    """
    is_slurm = plan.slurm is not None and not address
    jobs = plan.jobs()
    try_folder(plan.output, "output")
    for job in jobs:
        size_of(job, is_run_here=not address and not is_slurm)
    try:
        with FileLock(plan.output / LOCK, timeout=0):  # released when the process ends or crashes
            for job in jobs:
                if exit_code(job) is not None and not is_done(job):  # it failed, or its results were deleted
                    (job.folder / "job.json").unlink()
            allocations = allocations_of(jobs, is_slurm)
            if address:
                return run_all(allocations, RayExecutor(address))
            return run_all(allocations, SlurmExecutor() if is_slurm else LocalExecutor(plan, cpus))
    except Timeout:
        raise MedtasksError(
            f"another sweep is running in {plan.output}: wait until it ends, or use another output folder in this plan"
        ) from None


def run_all(allocations: Sequence[Allocation], executor: LocalExecutor | RayExecutor | SlurmExecutor) -> list[Job]:
    """Run allocations until each job is over; return the jobs that failed."""
    waiting = [allocation for allocation in allocations if not all(map(is_done, allocation))]
    attempts, shown, summary_at = Counter[Allocation](), dict[Job, str](), time.monotonic()
    try:
        while waiting or executor.running:
            waiting = [allocation for allocation in waiting if not executor.start(allocation)]
            for allocation in executor.ended():
                attempts[allocation] += 1
                is_retried = attempts[allocation] < _MOST_ATTEMPTS
                left = [job for job in allocation if exit_code(job) not in (0, _USAGE_ERROR)]
                for job in left:
                    code = exit_code(job)
                    state = "lost its node, or its Slurm job" if code is None else _state(job)
                    note(job, None if is_retried else code or 1, state + ", retrying" * is_retried)
                waiting += [allocation] if left and is_retried else []
            for job in chain.from_iterable(allocations):
                state = _state(job)
                if state != shown.get(job, NOT_STARTED):
                    _say(f"{job.name}: {state}")
                shown[job] = state
            if time.monotonic() - summary_at > _PROGRESS_INTERVAL:
                summary_at = time.monotonic()
                for job, state in shown.items():
                    if state == "running":
                        _say(f"{job.name}: {_answers(job)} of {size_of(job)} replies")
    finally:
        executor.stop()
    return [job for job in shown if not is_done(job)]


def _say(message: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {message}", file=sys.stderr, flush=True)


def report(plan: Plan, failed: Sequence[Job]) -> Path | None:
    """Print why jobs failed, write a report on all jobs that are done, and return its path.

    Return None if no job is done.
    """
    for job in failed:
        log = job.folder / "log.txt"
        end = f"; the end of {log}:\n{last_lines(log, _LOG_LINES)}" if log.exists() else ""
        print(f"\n{job.name}: {_state(job)}{end}", file=sys.stderr)
    done_jobs = [job for job in plan.jobs() if is_done(job)]
    if not done_jobs:
        return None
    from medtasks_utils.report.page import build_page
    from medtasks_utils.results import merged, read_runs

    runs = []
    for job in done_jobs:
        run = read_runs(job.folder)[-1]
        run.model = job.variant
        run.results.setdefault("medtasks", {})["cost"] = read_json(job.folder / "cost.json")
        runs.append(run)
    path = plan.output / "report.html"
    write_whole(path, build_page(merged(runs)))
    return path
