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
from medtasks_utils.writing import JsonObject, write_whole

from .allocation import last_lines
from .job import NOT_STARTED, Allocation, Job, allocations_of, jobs_of
from .job_size import size_of
from .local_executor import LocalExecutor
from .plan import Plan
from .ray_executor import RayExecutor
from .slurm_executor import SlurmExecutor

_MOST_ATTEMPTS = 3  # maximum attempts in a sweep; after that, a job counts as failed
_USAGE_ERROR = 2  # the exit code of a job that is not tried again
_PROGRESS_INTERVAL = 60.0  # seconds between lines about the progress of jobs
_LOG_LINES = 8  # number of lines of a job's log that are shown


Executor = LocalExecutor | RayExecutor | SlurmExecutor
"""What runs allocations: ``start`` returns False if there is no room for one yet, ``ended`` waits briefly and returns
those that have ended, ``running`` has the others, and ``stop`` ends what cannot go on without the sweep."""


def job_records(plan: Plan) -> list[JsonObject]:
    """Return, for each job, a record of its name, folder, number of requests, progress, state and cost so far."""
    return [
        {
            "name": job.name,
            "folder": str(job.folder),
            "requests": size_of(job),
            "answers": _answers(job),
            "state": job.state,
            "cost": job.cost,
        }
        for job in jobs_of(plan)
    ]


def _answers(job: Job) -> int:
    """Return the number of replies that a job has so far."""
    kept = sum(path.read_bytes().count(b"\n") for path in job.folder.glob("*/answers_*.jsonl"))
    return size_of(job) if job.is_done else min(kept, size_of(job))


def sweep(plan: Plan, cpus: int | None, address: str | None) -> list[Job]:
    """Run the jobs that are not done, and return those that failed.

    They run on the Ray cluster at the address, if there is one; else under Slurm, if the plan says so; else on
    ``cpus`` processors of this machine (None for all).

    Raises:
        MedtasksError: before any job runs, if a job's tasks, options or data are not valid, the output folder is not
            writable, or another sweep is running in it.
    """
    is_slurm = plan.slurm is not None and not address
    jobs = jobs_of(plan)
    try_folder(plan.output, "output")
    for job in jobs:
        size_of(job, is_run_here=not address and not is_slurm)
    try:
        with FileLock(plan.lock, timeout=0):  # released when the process ends or crashes
            for job in jobs:
                if job.exit_code is not None and not job.is_done:  # it failed, or its results were deleted
                    job.note(None, NOT_STARTED)
            if address:
                executor: Executor = RayExecutor(address)
            elif is_slurm:
                executor = SlurmExecutor()
            else:
                executor = LocalExecutor(plan, cpus)
            return run_all(allocations_of(jobs, is_slurm), executor)
    except Timeout:
        raise MedtasksError(
            f"another sweep is running in {plan.output}: wait until it ends, or use another output folder in this plan"
        ) from None


def run_all(allocations: Sequence[Allocation], executor: Executor) -> list[Job]:
    """Run allocations until each job is over; return the jobs that failed."""
    jobs = list(chain.from_iterable(allocations))
    waiting = [allocation for allocation in allocations if not all(job.is_done for job in allocation)]
    attempts, shown, summary_at = Counter[Allocation](), dict.fromkeys(jobs, NOT_STARTED), time.monotonic()
    try:
        while waiting or executor.running:
            waiting = [allocation for allocation in waiting if not executor.start(allocation)]
            for allocation in executor.ended():
                attempts[allocation] += 1
                if _try_again(allocation, is_last=attempts[allocation] == _MOST_ATTEMPTS):
                    waiting.append(allocation)
            _say_what_changed(shown)
            if time.monotonic() - summary_at > _PROGRESS_INTERVAL:
                summary_at = time.monotonic()
                for job, state in shown.items():
                    if state == "running":
                        _say(f"{job.name}: {_answers(job)} of {size_of(job)} replies")
    finally:
        executor.stop()
    return [job for job in jobs if not job.is_done]


def _try_again(allocation: Allocation, is_last: bool) -> bool:
    """Decide whether an allocation that has ended is started again, and record that for its jobs that are not done."""
    left = [job for job in allocation if job.exit_code not in (0, _USAGE_ERROR)]
    for job in left:
        state = "lost its node, or its Slurm job" if job.exit_code is None else job.state
        if is_last:
            job.note(job.exit_code or 1, state)
        else:
            job.note(None, f"{state}, retrying")
    return bool(left) and not is_last


def _say_what_changed(shown: dict[Job, str]) -> None:
    """Print the states that are not those shown last, and update these."""
    for job, last in shown.items():
        shown[job] = state = job.state
        if state != last:
            _say(f"{job.name}: {state}")


def _say(message: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {message}", file=sys.stderr, flush=True)


def report(plan: Plan, failed: Sequence[Job]) -> Path | None:
    """Print why jobs failed, write a report on all jobs that are done, and return its path; None if no job is done."""
    for job in failed:
        log = job.folder / "log.txt"
        end = f"; the end of {log}:\n{last_lines(log, _LOG_LINES)}" if log.exists() else ""
        print(f"\n{job.name}: {job.state}{end}", file=sys.stderr)
    done_jobs = [job for job in jobs_of(plan) if job.is_done]
    if not done_jobs:
        return None
    from medtasks_utils.report.page import build_page
    from medtasks_utils.results import merged, read_runs

    runs = []
    for job in done_jobs:
        run = read_runs(job.folder)[-1]
        run.model = job.variant
        run.results.setdefault("medtasks", {})["cost"] = job.cost
        runs.append(run)
    path = plan.output / "report.html"
    write_whole(path, build_page(merged(runs)))
    return path
