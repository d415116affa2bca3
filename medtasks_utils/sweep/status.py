"""Say how far the jobs of a plan are, whether or not a sweep is running."""

import shlex
import textwrap
import time
from collections.abc import Iterator

from filelock import FileLock, Timeout

from medtasks_utils.writing import JsonObject, shortened, table

from .job import Job, allocations_of, jobs_of
from .job_size import size_of
from .plan import Plan
from .slurm_executor import WAITING, batch_script, number_of, queue

_WIDTH = 100  # characters of a line
_LONGEST_NAME = 40  # characters of a name in the table


def job_records(plan: Plan) -> list[JsonObject]:
    """Return a record of each job: name, folder, requests, replies, state, expected end (Unix time) and cost."""
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
    size, state, until = size_of(job), job.state, None
    answers = size if job.is_done else min(job.replies, size)
    since, had = (job.record.get(name) for name in ("since", "had"))
    in_queue = queued.get(number_of([job]))
    if job.exit_code is None and in_queue not in (None, "None"):
        state = f"{WAITING}: {in_queue}"
    elif since and not is_live and not in_queue:
        state = f"killed while {state}"
    elif since and had is not None and answers > had:
        until = time.time() + (time.time() - since) * (size - answers) / (answers - had)
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
    """Yield a table of the jobs, at most 100 characters wide, then what it had to cut, and the GPU time in all."""
    hours = [record["cost"].get("gpu_seconds", 0) / 3600 for record in records]
    columns = ("name", "state", "answers", "requests")
    rows = []
    for record, spent in zip(records, hours, strict=True):
        until = time.strftime("%a %H:%M", time.localtime(record["until"])) if record["until"] else ""
        rows.append([*(record[column] for column in columns), until, f"{spent:.1f}"])
    head = (*columns, "until", "GPU h")
    taken = sum(4 + max(len(str(row[place])) for row in (head, *rows)) for place in range(2, len(head)))
    of_names = min(max(len(row[0]) for row in rows), _LONGEST_NAME)
    room = _WIDTH - taken - of_names - 2
    cut = [f"{row[0]}: {row[1]}" for row in rows if len(row[0]) > of_names or len(row[1]) > room]
    for row in rows:
        row[:2] = shortened(row[0], of_names), shortened(row[1], room)
    yield table([head, *rows], left=(0, 1))
    for line in (*cut, f"each job's folder is {plan.output}/NAME, with log.txt; {sum(hours):.1f} GPU hours in all"):
        yield textwrap.fill(line, _WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def dry_run(plan: Plan) -> Iterator[str]:
    """Yield what would be started for each model: the script for Slurm, or the server and the jobs."""
    for allocation in allocations_of(jobs_of(plan), plan.slurm is not None):
        model = allocation[0].model
        yield f"# {model.name}: {model.gpus} GPUs, {model.resources.cpus} CPUs"
        if plan.slurm is not None:
            yield batch_script(allocation)
        if model.server:
            yield model.server
        for job in allocation:
            shown = job.flags(1, output_path=job.folder, log_samples=True, **dict.fromkeys(job.hidden_flags))
            yield shlex.join(["medtasks", "eval", *shown])
