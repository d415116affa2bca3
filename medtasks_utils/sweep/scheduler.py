"""Give the jobs of a plan to an executor, retry failures, and write the report.

A job's folder holds ``log.txt``, the files of ``medtasks eval`` (its answers so far included), and ``job.json`` with
the exit code of its last process. A job is done when that is 0.
"""

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from medtasks_utils.errors import MedtasksError
from medtasks_utils.harness.checks import try_folder
from medtasks_utils.writing import JsonObject, table, write_whole

from .job_size import size_of
from .local_executor import LocalExecutor, Machine
from .plan import LOST, Job, Plan, forwarded_environment
from .ray_executor import RayExecutor

_LOG_LINES = 8  # lines of a failed job's log that are shown
_MOST_ATTEMPTS = 2  # in one sweep, after which a job counts as failed
_MOST_ATTEMPTS_AFTER = {2: 1, LOST: 6}
"""Exceptions by exit code: wrong usage (2) is not retried, a lost node is retried more often."""


def job_records(plan: Plan) -> list[JsonObject]:
    """Return each job's name, folder, tasks, number of requests, resources, and whether it is done."""
    return [
        {
            "name": job.name,
            "folder": str(job.folder),
            "tasks": ",".join(job.run.tasks),
            "requests": size_of(job),
            "gpus": job.model.resources.gpus,
            "cpus": job.model.resources.cpus,
            "done": is_done(job),
        }
        for job in plan.jobs()
    ]


def job_table(records: Sequence[JsonObject]) -> str:
    """Return the records of jobs as a table, without their folders."""
    columns = [name for name in records[0] if name != "folder"]
    return table([list(map(record.get, columns)) for record in records], columns, left=2)


def sweep(plan: Plan, machine: Machine, address: str | None = None) -> list[Job]:
    """Run the jobs that are not done, and return those that failed.

    Args:
        plan: the plan.
        machine: the resources of this machine that may be used.
        address: address of a Ray cluster; None runs the jobs on this machine.

    Raises:
        MedtasksError: before any job runs, if a job's tasks, options or data are wrong, the output folder cannot be
            written to, or another sweep is running in it.
    """
    jobs = plan.jobs()
    try_folder(plan.output, "output")
    environment = forwarded_environment(plan.env, os.environ) if address else {}
    for job in jobs:
        size_of(job, is_run_here=not address)
    try:
        with FileLock(plan.output / ".lock", timeout=0):  # released when the process ends, however it ends
            for job in [job for job in jobs if is_done(job)]:
                _report_progress(job, "already done")
                jobs.remove(job)
            if not jobs:
                return []
            if address:
                return run_all(jobs, RayExecutor(address, plan.output, environment))
            return run_all(jobs, LocalExecutor(jobs, machine))
    except Timeout:
        raise MedtasksError(
            f"another sweep is running in {plan.output}: wait for it to end, or give this plan another output folder"
        ) from None


def run_all(jobs: Sequence[Job], executor: LocalExecutor | RayExecutor) -> list[Job]:
    """Run jobs until each is done or has failed for the last time; return those that failed."""
    waiting, failed, attempts = list(jobs), [], Counter[Job]()
    try:
        while waiting or executor.running:
            for job in list(waiting):
                progress = executor.start(job)
                if progress:
                    waiting.remove(job)
                    _report_progress(job, progress)
            for job, code in executor.ended():
                attempts[job] += 1
                is_retried = code != 0 and attempts[job] < _MOST_ATTEMPTS_AFTER.get(code, _MOST_ATTEMPTS)
                _report_progress(job, _ending(code) + (", retrying" if is_retried else ""))
                write_whole(job.folder / "job.json", json.dumps({"code": code}), make_folder=True)
                if is_retried:
                    waiting.append(job)
                elif code != 0:
                    failed.append(job)
    except KeyboardInterrupt:
        print("re-run the same command to continue; finished answers are reused", file=sys.stderr)
        raise
    finally:
        executor.stop()
    return failed


def _ending(code: int) -> str:
    """Return the words for a job's exit code."""
    if code == LOST:
        return "lost its node"
    return f"failed with exit code {code}" if code else "done"


def _report_progress(job: Job, message: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {job.name}: {message}", file=sys.stderr, flush=True)


def report(plan: Plan, failed: Sequence[Job]) -> Path | None:
    """Print why jobs failed, write the report on all jobs that are done, and return its path; None if none is done."""
    for job in failed:
        print(f"\n{job.name} failed; the end of {job.folder / 'log.txt'}:\n{last_lines(job.folder)}", file=sys.stderr)
    done_jobs = [job for job in plan.jobs() if is_done(job)]
    if not done_jobs:
        return None
    from medtasks_utils.report.page import build_page
    from medtasks_utils.results import merged, name_apart, read_runs

    runs = []
    for job in done_jobs:
        (run,) = read_runs(job.folder)[-1:]
        run.model, run.name = job.model.name, job.name
        runs.append(run)
    rows = merged(runs)
    times = Counter(run.model for run in rows)
    for run in rows:
        run.model = run.name if times[run.model] > 1 else run.model
    name_apart(rows)
    path = plan.output / "report.html"
    write_whole(path, build_page(rows))
    return path


def is_done(job: Job) -> bool:
    """Return True if the job's last process ended with exit code 0."""
    with suppress(OSError):
        return bool(json.loads((job.folder / "job.json").read_bytes())["code"] == 0)
    return False


def last_lines(folder: Path) -> str:
    """Return the last lines of a job's log."""
    with suppress(OSError):
        lines = (folder / "log.txt").read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join([line for line in lines if line.strip()][-_LOG_LINES:])
    return ""
