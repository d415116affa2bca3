"""A sweep from its plan to its report."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from tabulate import tabulate

from medtasks_utils.errors import MedtasksError, logger
from medtasks_utils.harness.checks import try_folder
from medtasks_utils.sweep.job import is_done, last_lines, run_all
from medtasks_utils.sweep.local import Local, Machine
from medtasks_utils.sweep.plan import Job, Plan, travelling
from medtasks_utils.sweep.size import size_of
from medtasks_utils.sweep.watch import Watch
from medtasks_utils.writing import write_whole


def dry_run(plan: Plan) -> str:
    """The jobs as a table: how large they are, and what is done already."""
    rows = [
        (
            job.name,
            ",".join(job.run.tasks),
            f"{size.requests:,}",
            f"at most {size.judge_calls:,}" if size.judge_calls else "",
            job.model.resources.gpus,
            f"{job.model.resources.cpus:g}",
            "done" if is_done(job) else "",
        )
        for job in plan.jobs()
        for size in [size_of(job)]
    ]
    head = ["job", "tasks", "requests", "judge calls", "GPUs", "CPUs", ""]
    sides = ("left", "left", *["right"] * 4, "left")
    return tabulate(rows, head, tablefmt="plain", disable_numparse=True, colalign=sides)


def as_data(plan: Plan) -> list[dict[str, Any]]:
    """The jobs for scripts: name, folder, size, and whether they are done."""
    return [
        {"name": job.name, "folder": str(job.folder), **asdict(size_of(job)), "done": is_done(job)}
        for job in plan.jobs()
    ]


def sweep(plan: Plan, machine: Machine, address: str | None = None) -> list[Job]:
    """Run what is not done yet, on this machine or the Ray cluster at an address; the jobs that failed.

    Raises:
        MedtasksError: for tasks, options or data that a job could not run with, or another sweep in the same folder,
            before any is run.
    """
    jobs = plan.jobs()
    try_folder(plan.output, "output")
    environment = travelling(plan.env, os.environ) if address else {}
    sizes = {job: size_of(job, is_run_here=not address).requests for job in jobs}
    with _alone_in(plan.output), closing(Watch(sizes)) as watch:
        waiting = [job for job in jobs if not is_done(job)]
        for job in jobs:
            if job not in waiting:
                watch.counts(job, sizes[job])
                watch.says(job, "done before")
        if not waiting:
            return []
        if not address:
            return run_all(waiting, Local(waiting, machine), plan.wait, watch)
        from medtasks_utils.sweep.cluster import Cluster

        return run_all(waiting, Cluster(address, waiting, environment), plan.wait, watch)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Within this, no other sweep runs jobs in the folder; a process that ends leaves it free."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / ".lock", timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise MedtasksError(
            f"another sweep is running in {folder}: wait for its end, or give this plan an output of its own"
        ) from None
    except (OSError, NotImplementedError) as error:
        logger.warning("%s takes no locks (%s): see to it that no other sweep runs there", folder, error)
    try:
        yield
    finally:
        lock.release()


def report(plan: Plan, failed: Sequence[Job]) -> Path | None:
    """Write the report over all jobs that are done, and say what failed and why; where the report is."""
    for job in failed:
        print(f"\n{job.name} failed; the end of {job.folder / 'log.txt'}:\n{last_lines(job.folder)}", file=sys.stderr)
    done = [job for job in plan.jobs() if is_done(job)]
    if not done:
        return None
    from medtasks_utils.report import build_page
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
