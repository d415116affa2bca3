"""A job's folder and process.

The folder holds ``job.json`` (which plan it is of, and how it went), ``log.txt``, the cache of answered requests, and
what ``medtasks eval`` writes. A job is done when its last process ended with 0 and its results are there.
"""

from __future__ import annotations

import json
import os
import runpy
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path

from medtasks_utils.sweep.plan import Job
from medtasks_utils.sweep.watch import Watch
from medtasks_utils.writing import write_whole

ATTEMPTS = 2
"""How often a job is tried in one sweep, before it is reported as failed."""

_LOG_LINES = 8
_STOPPING = 10.0  # seconds to end in, once interrupted


def conclude(job: Job, code: int, seconds: float, tries: int, watch: Watch) -> bool:
    """Keep how a job's process ended, and say it; whether the job is to be tried again."""
    content = {"signature": job.signature, "code": code, "seconds": seconds}
    write_whole(job.folder / "job.json", json.dumps(content))
    again = code not in (0, 2) and tries < ATTEMPTS  # wrong usage stays wrong
    watch.says(job, f"failed with exit code {code}{', tried again' if again else ''}" if code else "done")
    return again


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
    """How many requests are answered: the rows of its cache."""
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


def start(arguments: Sequence[str], folder: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start a job's process; it ends, with all that it started, when this process does."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "log.txt").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "medtasks_utils.sweep.job", *arguments],
            stdin=subprocess.PIPE,  # never written to: its end tells the job that this process is gone
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **environment},
            start_new_session=True,
        )


def stop(process: subprocess.Popen[bytes]) -> None:
    """Interrupt a job as Ctrl-C does, and end it if that takes too long."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGINT)
    try:
        process.wait(_STOPPING)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _end_with_the_sweep() -> None:
    """Kill this process and its children once the sweep's end of the pipe is closed."""
    os.read(0, 1)
    os.killpg(os.getpgid(0), signal.SIGKILL)


if __name__ == "__main__":
    threading.Thread(target=_end_with_the_sweep, daemon=True).start()
    runpy.run_module("medtasks_utils.cli", run_name="__main__")  # the command line, as a program of its own
