"""A job's folder, and what becomes of jobs, wherever they run.

The folder holds ``job.json`` (which plan it is of, and how it went), ``log.txt``, the answers so far, and what
``medtasks eval`` writes. A job is done when its last process ended with 0 and its results are there.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Protocol

from medtasks_utils.errors import MedtasksError
from medtasks_utils.sweep.plan import Job
from medtasks_utils.sweep.process import NO_SERVER
from medtasks_utils.sweep.watch import Watch
from medtasks_utils.writing import WriteError, write_whole

ATTEMPTS = 2
"""How often a job is tried in one sweep, before it is reported as failed."""
LOST = -1000
"""In place of an exit code: the node is gone, or its worker."""

_TRIES = {2: 1, NO_SERVER: 1, LOST: 6}  # 2: wrong usage, which stays wrong
_ASKED_EVERY = 5.0  # seconds between looks for a server
_LOG_LINES = 8


class Place(Protocol):
    """Where jobs run."""

    @property
    def running(self) -> Collection[Job]:
        """Those started and not ended."""

    def start(self, job: Job) -> str:
        """Start a job, and say so in a word; empty where there is no room yet."""

    def ended(self) -> Sequence[tuple[Job, int, float]]:
        """Those that have ended since, with exit codes and seconds; waits a moment for one."""

    def stop(self) -> None:
        """End all."""


def run_all(jobs: Sequence[Job], place: Place, patience: float, watch: Watch) -> list[Job]:
    """Run jobs to their end; those that failed in the end. ``patience`` is in seconds, for servers that are starting.

    Raises:
        MedtasksError: where a folder cannot be written to.
    """
    waiting, failed = dict.fromkeys(jobs, 0.0), []  # with the time from which on each may start
    tries, away = Counter[Job](), dict[Job, float]()  # and since when its server does not answer
    try:
        while waiting or place.running:
            for job in [job for job, when in waiting.items() if when <= time.monotonic()]:
                if said := place.start(job):
                    del waiting[job]
                    if job not in away:
                        watch.says(job, said)
            for job, code, seconds in place.ended():
                now = time.monotonic()
                if code == NO_SERVER and now < away.get(job, now) + patience:
                    if job not in away:
                        watch.says(job, f"waits for {job.server}")
                    away.setdefault(job, now)
                    waiting[job] = now + _ASKED_EVERY
                    continue
                away.pop(job, None)
                tries[job] += 1
                again = bool(code) and tries[job] < _TRIES.get(code, ATTEMPTS)
                how = "lost its node" if code == LOST else f"failed with exit code {code}" if code else "done"
                watch.counts(job, answered(job.folder))
                watch.says(job, f"{how}, tried again" if again else how)
                ending = {"signature": job.signature, "code": code, "seconds": seconds}
                write_whole(job.folder / "job.json", json.dumps(ending), make_folder=True)
                if again:
                    waiting[job] = 0.0
                elif code:
                    failed.append(job)
            for job in place.running:
                count = answered(job.folder)
                watch.counts(job, count)
                if count and job in away:
                    del away[job]
                    watch.says(job, "running")
    except (OSError, WriteError) as error:  # of a full disk, mostly
        raise MedtasksError(f"{error}; the same command goes on with what was not answered") from None
    finally:
        place.stop()
    return failed


def is_done(job: Job) -> bool:
    """Whether its results are there, under the same signature."""
    try:
        last = json.loads((job.folder / "job.json").read_text(encoding="utf-8"))
        if last["code"] or last["signature"] != job.signature:
            return False
    except (OSError, ValueError, TypeError, KeyError):  # not there, or cut short: then it is to be run
        return False
    return any(job.folder.rglob("results_*.json"))


def answered(folder: Path) -> int:
    """How many requests are answered, of what a run keeps as :func:`.plan.keeping` tells it to."""
    count = 0
    for path in folder.glob("cache_rank*.db"):
        with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            count += database.execute("SELECT COUNT(*) FROM unnamed").fetchone()[0]
    return count


def last_lines(folder: Path) -> str:
    """The end of its log."""
    try:
        lines = (folder / "log.txt").read_text(encoding="utf-8", errors="replace").replace("\r", "\n").split("\n")
    except OSError:
        return "(no log)"
    return "\n".join([line for line in lines if line.strip()][-_LOG_LINES:])
