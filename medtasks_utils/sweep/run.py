"""A sweep from its plan to its report.

A job's folder holds ``log.txt``, what ``medtasks eval`` writes, its answers so far among it, and ``job.json`` (how its
last process ended). A job is done when that ended with 0.
"""

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from filelock import FileLock, Timeout

from medtasks_utils.errors import MedtasksError
from medtasks_utils.harness.checks import try_folder
from medtasks_utils.writing import table, write_whole

from .cluster import Cluster
from .local import Local, Machine
from .plan import LOST, Job, Plan, travelling
from .size import size_of

_SHOWN = 8  # lines
_ATTEMPTS = 2  # how often a job is tried in one sweep, before it is reported as failed
_ATTEMPTS_AFTER = {2: 1, LOST: 6}  # 2: wrong usage, which stays wrong


@dataclass(frozen=True)
class JobList:
    """The result of ``medtasks sweep --dry_run``: the jobs of a plan."""

    plan: Plan
    failed: ClassVar[bool] = False

    def to_data(self) -> list[dict[str, Any]]:
        """Return each job's name, folder, tasks, size, resources, and whether it is done."""
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
            for job in self.plan.jobs()
        ]

    def to_text(self) -> str:
        """Return the jobs as a table, without their folders."""
        jobs = self.to_data()
        columns = [name for name in jobs[0] if name != "folder"]
        return table([[job[name] for name in columns] for job in jobs], columns, left=2)


@dataclass(frozen=True)
class SweepResult:
    """The result of ``medtasks sweep``: its jobs, those that failed, and the report, None if no job is done."""

    plan: Plan
    failures: Sequence[Job]
    page: Path | None

    @property
    def failed(self) -> bool:
        """True if any job failed."""
        return bool(self.failures)

    def to_data(self) -> list[dict[str, Any]]:
        """Return the jobs, as :class:`JobList` does."""
        return JobList(self.plan).to_data()

    def to_text(self) -> str:
        """Return the report's path."""
        return str(self.page or "no job is done: no report")


def sweep(plan: Plan, machine: Machine, address: str | None = None) -> list[Job]:
    """Run what is not done yet, on this machine or the Ray cluster at an address; the jobs that failed.

    Raises:
        MedtasksError: for tasks, options or data that a job could not run with, or another sweep in the same folder,
            before any is run; where a folder cannot be written to.
    """
    jobs = plan.jobs()
    try_folder(plan.output, "output")
    environment = travelling(plan.env, os.environ) if address else {}
    for job in jobs:
        size_of(job, is_run_here=not address)
    try:
        with FileLock(plan.output / ".lock", timeout=0):  # a process that ends leaves it free
            for job in [job for job in jobs if is_done(job)]:
                _say(job, "done before")
                jobs.remove(job)
            if not jobs:
                return []
            return run_all(jobs, Cluster(address, plan.output, environment) if address else Local(jobs, machine))
    except Timeout:
        raise MedtasksError(
            f"another sweep is running in {plan.output}: wait for its end, or give this plan an output of its own"
        ) from None


def run_all(jobs: Sequence[Job], place: Local | Cluster) -> list[Job]:
    """Run jobs to their end; those that failed in the end."""
    waiting, failed, tries = list(jobs), [], Counter[Job]()
    try:
        while waiting or place.running:
            for job in list(waiting):
                if said := place.start(job):
                    waiting.remove(job)
                    _say(job, said)
            for job, code in place.ended():
                tries[job] += 1
                again = bool(code) and tries[job] < _ATTEMPTS_AFTER.get(code, _ATTEMPTS)
                how = "lost its node" if code == LOST else f"failed with exit code {code}" if code else "done"
                _say(job, f"{how}, tried again" if again else how)
                write_whole(job.folder / "job.json", json.dumps({"code": code}), make_folder=True)
                if again:
                    waiting.append(job)
                elif code:
                    failed.append(job)
    except KeyboardInterrupt:
        print("the same command goes on with what was not answered", file=sys.stderr)
        raise
    finally:
        place.stop()
    return failed


def _say(job: Job, what: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {job.name}: {what}", file=sys.stderr, flush=True)


def report(plan: Plan, failed: Sequence[Job]) -> Path | None:
    """Write the report over all jobs that are done, and say what failed and why; where the report is."""
    for job in failed:
        print(f"\n{job.name} failed; the end of {job.folder / 'log.txt'}:\n{last_lines(job.folder)}", file=sys.stderr)
    done = [job for job in plan.jobs() if is_done(job)]
    if not done:
        return None
    from medtasks_utils.report.page import build_page
    from medtasks_utils.results import name_apart, read_runs

    runs = []
    for job in done:
        (run,) = read_runs(job.folder)[-1:]
        run.model = job.name
        runs.append(run)
    name_apart(runs)
    path = plan.output / "report.html"
    write_whole(path, build_page(runs))
    return path


def is_done(job: Job) -> bool:
    """Whether its last process ended well."""
    with suppress(OSError):
        return bool(json.loads((job.folder / "job.json").read_text(encoding="utf-8"))["code"] == 0)
    return False


def last_lines(folder: Path) -> str:
    """The end of its log."""
    with suppress(OSError):
        lines = (folder / "log.txt").read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join([line for line in lines if line.strip()][-_SHOWN:])
    return ""
