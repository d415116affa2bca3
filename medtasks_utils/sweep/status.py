"""Report the progress of a plan's jobs, whether or not a sweep is running."""

import shlex
import time
from collections.abc import Iterator

from filelock import FileLock, Timeout

from medtasks_utils.writing import JsonObject, filled

from .job import Job, allocations_of, jobs_of
from .job_size import size_of
from .plan import Plan, resources_in_words
from .slurm_executor import WAITING, batch_script, number_of, queue

_ROW = "{:>8} {:>8}  {:<9} {:>7}  {}"


def job_records(plan: Plan) -> list[JsonObject]:
    """Return the record of each job: name, folder, requests, replies, state, expected end (Unix time) and cost."""
    queued = queue() if plan.slurm is not None else {}
    is_live = queued is None or _is_running(plan)
    return [_record(job, is_live, queued or {}) for job in jobs_of(plan)]


def _is_running(plan: Plan) -> bool:
    """Return whether a sweep holds the lock of the output folder."""
    if not plan.lock.exists():
        return False
    try:
        with FileLock(plan.lock, timeout=0):
            return False
    except Timeout:
        return True


def _record(job: Job, is_live: bool, queued: JsonObject) -> JsonObject:
    """Return the record of a job; ``queued`` maps Slurm job IDs to reasons for waiting (:func:`.queue`).

    ``is_live`` is True if the sweep is running, or Slurm does not respond.
    """
    size, state, until = size_of(job), job.state, None
    since, had = (job.current.get(name, 0) for name in ("since", "had"))
    new = job.replies
    answers = size if job.is_done else min(size, new + max(0, job.reused - had))
    in_queue = queued.get(number_of([job]), "")
    if job.exit_code is None and in_queue not in ("", "None"):
        state = f"{WAITING}: {in_queue}"
    elif since and not is_live and not in_queue:
        state = f"killed while {state}"
    elif since and new > had:
        until = time.time() + (time.time() - since) * (size - answers) / (new - had)
    return {
        "name": job.name,
        "folder": str(job.folder),
        "requests": size,
        "answers": answers,
        "state": state,
        "until": until,
        "cost": job.cost,
    }


def status_lines(plan: Plan, records: list[JsonObject]) -> Iterator[str]:
    """Yield a heading, a row for each job, and a line with the GPU hours of all jobs and the path of their folders."""
    whole = 0.0
    yield _ROW.format("answers", "requests", "until", "GPU h", "job")
    for record in records:
        until = time.strftime("%a %H:%M", time.localtime(record["until"])) if record["until"] else ""
        hours = record["cost"].get("gpu_seconds", 0) / 3600
        whole += hours
        job = f"{record['name']}: {record['state']}"
        yield filled(_ROW.format(record["answers"], record["requests"], until, f"{hours:.1f}", job), " " * 40)
    yield filled(f"{whole:.1f} GPU hours in all; each job's folder, with log.txt: {plan.output}/NAME")


def dry_run(plan: Plan) -> Iterator[str]:
    """Yield each allocation's Slurm script (if any), the command of its server (if any), and its jobs' commands."""
    for allocation in allocations_of(jobs_of(plan), plan.slurm is not None):
        model = allocation[0].model
        yield f"# {model.name}: {resources_in_words(model.gpus, model.resources.cpus)}"
        if plan.slurm is not None:
            yield batch_script(allocation)
        if model.server:
            yield model.server
        for job in allocation:
            shown = job.flags(1, output_path=job.folder, log_samples=True, **dict.fromkeys(job.hidden_flags))
            yield shlex.join(["medtasks", "eval", *shown])
