"""Submit the jobs of a plan to an executor, and restart lost jobs."""

import signal
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from itertools import chain
from threading import Thread

from filelock import FileLock, Timeout

from medtasks_utils.errors import MedtasksError, reason_of
from medtasks_utils.harness.checks import try_folder

from .job import NOT_STARTED, USAGE_ERROR, Allocation, Job, allocations_of, jobs_of
from .job_size import size_of
from .local_executor import LocalExecutor
from .plan import Plan
from .ray_executor import RayExecutor
from .report import write_report
from .slurm_executor import SlurmExecutor

_MOST_ATTEMPTS = 3  # maximum attempts in a sweep; after that, a job counts as failed
_LONGEST_WAIT = 2.0  # seconds between rounds, each of which asks Slurm once
_PROGRESS_INTERVAL = 60.0  # seconds between reports, and between lines about the progress of jobs

Executor = LocalExecutor | RayExecutor | SlurmExecutor
"""Any executor of allocations.

``submit`` returns a future, or None if resources are lacking; ``watch`` is called in each round; ``stop`` ends whatever
cannot continue without the sweep.
"""


def sweep(plan: Plan, cpus: int | None, address: str | None) -> list[Job]:
    """Run the unfinished jobs, and return those that failed.

    The jobs run on the Ray cluster at ``address``, if given; else under Slurm, if the plan says so; else on ``cpus``
    processors of this machine (None for all). Jobs with the most requests and GPUs start first.

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
            signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C; Ray has installed its own
            allocations = sorted(allocations_of(jobs, is_slurm), key=_length, reverse=True)
            return run_all(allocations, executor)
    except Timeout:
        raise MedtasksError(
            f"another sweep is running in {plan.output}: wait until it ends, or use another output folder in this plan"
        ) from None


def _length(allocation: Allocation) -> int:
    """Return the remaining work of an allocation: the requests of its unfinished jobs times the GPUs of its model.

    GPUs count since larger models are slower; a model without GPUs counts as one.
    """
    return sum(size_of(job) for job in allocation if not job.is_done) * max(1, allocation[0].model.resources.gpus)


def run_all(allocations: Sequence[Allocation], executor: Executor) -> list[Job]:
    """Run allocations until every job is over, and keep the report up to date; return the jobs that failed."""
    jobs = list(chain.from_iterable(allocations))
    waiting = [allocation for allocation in allocations if not all(job.is_done for job in allocation)]
    running: dict[Allocation, Future[None]] = {}
    attempts, shown, reported = Counter[Allocation](), dict.fromkeys(jobs, NOT_STARTED), dict[Job, str]()
    report, reported_at = Thread(), time.monotonic()
    try:
        while waiting or running:
            executor.watch()
            for allocation in list(waiting):
                if future := executor.submit(allocation):
                    running[allocation] = future
                    waiting.remove(allocation)
            wait(running.values(), _LONGEST_WAIT, FIRST_COMPLETED)
            ended_ones = {allocation: future for allocation, future in running.items() if future.done()}
            _say_what_changed(shown, running)
            for allocation, future in ended_ones.items():
                del running[allocation]
                attempts[allocation] += 1
                if _try_again(allocation, future.exception(), is_last=attempts[allocation] == _MOST_ATTEMPTS):
                    waiting.append(allocation)
            _say_what_changed(shown, ended_ones)
            if time.monotonic() - reported_at > _PROGRESS_INTERVAL and not report.is_alive():
                reported_at = time.monotonic()
                for job, state in shown.items():
                    if state == "running":
                        _say(f"{job.name}: {job.replies} of {size_of(job)} replies")
                if shown != reported:
                    reported, report = dict(shown), Thread(target=write_report, args=[jobs[0].plan], daemon=True)
                    report.start()
    finally:
        executor.stop()
        if report.ident:
            report.join()  # so that it does not replace a later report
    return [job for job in jobs if not job.is_done]


def _try_again(allocation: Allocation, error: BaseException | None, is_last: bool) -> bool:
    """Decide whether to restart an ended allocation, and record the decision for its unfinished jobs.

    It is restarted unless this was the last attempt, or all of its unfinished jobs ended with :data:`.job.USAGE_ERROR`.
    """
    left = [job for job in allocation if not job.is_done and job.exit_code != USAGE_ERROR]
    of_ray = type(error).__module__.startswith("ray.")  # whose own message about a dead node fills a page
    cause = getattr(error, "cause", None) if of_ray else error
    lost = f"lost its node, or its Slurm job{f': {reason_of(cause)}' if cause else ''}"
    for job in left:
        state = lost if job.exit_code is None else job.state
        job.note(job.exit_code or 1 if is_last else None, state if is_last else f"{state}, retrying")
    return bool(left) and not is_last


def _say_what_changed(shown: dict[Job, str], allocations: Iterable[Allocation]) -> None:
    """Print the states that have changed since they were last printed, and update ``shown``."""
    for job in chain.from_iterable(allocations):
        state = job.state
        if state != shown[job]:
            shown[job] = state
            _say(f"{job.name}: {state}")


def _say(message: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {message}", file=sys.stderr, flush=True)
