"""Jobs on a Ray cluster, which places them by what they ask for; no file system has to be shared.

A job's data and the requests that it has answered before travel to the node with it. While it runs, what it answers
comes back to a keeper beside the driver, which writes it into the job's cache here; when it has ended, its results do.
So a node that dies costs what was not answered. The keeper outlives a driver that is killed, until its jobs are gone.
"""

from __future__ import annotations

import io
import os
import sqlite3
import tarfile
import tempfile
import threading
import time
import uuid
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from medtasks_utils.errors import MedtasksError, first_line
from medtasks_utils.sweep.job import answered, conclude, start, stop
from medtasks_utils.sweep.plan import Job, Resources
from medtasks_utils.sweep.watch import Watch

Rows = list[tuple[str, bytes]]
"""Answered requests, as the harness's cache has them."""

NODE_DEATHS = 5
"""How often a job may lose its node."""

_CACHE = "cache_rank0.db"
_TICK = 0.02  # seconds between looks at what was answered: what a node that dies can cost besides requests in flight
_STOPPING = 15.0  # seconds that jobs have to end on Ctrl-C
_KEEPER_WAITS = 10.0  # seconds after the driver's end, for jobs to be ended too
_TABLE = "CREATE TABLE IF NOT EXISTS unnamed (key TEXT PRIMARY KEY, value BLOB)"


def read_rows(folder: Path, after: int = 0) -> tuple[Rows, int]:
    """What was answered since a place in the cache, and the place it has come to."""
    path = folder / _CACHE
    if not path.exists():
        return [], after
    with suppress(sqlite3.OperationalError), closing(sqlite3.connect(path, timeout=10)) as database:  # not made yet
        found = database.execute("SELECT rowid, key, value FROM unnamed WHERE rowid > ? ORDER BY rowid", (after,))
        rows = found.fetchall()
        return [(key, bytes(value)) for _, key, value in rows], rows[-1][0] if rows else after
    return [], after


def write_rows(folder: Path, rows: Rows) -> None:
    """Put answered requests into a folder's cache."""
    folder.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(folder / _CACHE, timeout=30)) as database, database:
        database.execute(_TABLE)
        database.executemany("REPLACE INTO unnamed VALUES (?, ?)", rows)


def packed(folder: Path, leave_out: str = "") -> bytes:
    """A folder as one value."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.name != leave_out:
                archive.add(path, str(path.relative_to(folder)))
    return buffer.getvalue()


def unpack(value: bytes, folder: Path) -> None:
    """The folder again."""
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(value), mode="r:gz") as archive:
        archive.extractall(folder, filter="data")


class Keeper:
    """Writes what comes back while jobs run; an actor on the driver's node, which ends a while after the driver."""

    def __init__(self, driver: int) -> None:
        threading.Thread(target=self._end_after, args=(driver,), daemon=True).start()

    def _end_after(self, driver: int) -> None:
        with suppress(ProcessLookupError):
            while True:
                os.kill(driver, 0)
                time.sleep(1)
        time.sleep(_KEEPER_WAITS)
        os._exit(0)

    def put(self, folder: str, rows: Rows) -> None:
        """Keep answered requests of the job in a folder."""
        write_rows(Path(folder), rows)


def run_on_node(job: Job, rows: Rows, data: bytes | None, keeper: Any) -> tuple[int, float, bytes]:
    """Run a job on the node that this is called on; its exit code, how long it took, and its folder."""
    import ray

    home = str(job.folder)
    with tempfile.TemporaryDirectory(prefix="medtasks-") as place:
        folder = Path(place, "job")
        if rows:
            write_rows(folder, rows)
        if data is not None:
            unpack(data, Path(place, "data"))
            job = replace(job, data=str(Path(place, "data")))
        began, seen, sent = time.monotonic(), 0, None
        process = start(job.arguments(folder), folder, {})
        try:
            while process.poll() is None:
                time.sleep(_TICK)
                new, seen = read_rows(folder, seen)
                if new:  # not waited for: a task that waits gives its processors to another one
                    sent = keeper.put.remote(home, new)
        finally:
            stop(process)
            new, _ = read_rows(folder, seen)
            if new:
                sent = keeper.put.remote(home, new)
            if sent is not None:
                ray.get(sent)  # and so all before it
        return process.returncode, time.monotonic() - began, packed(folder, leave_out=_CACHE)


class Cluster:
    """A connection to Ray, ``auto`` being the cluster that this machine belongs to; a context manager.

    Raises:
        MedtasksError: if Ray is not installed, or there is no cluster.
    """

    def __init__(self, address: str) -> None:
        try:
            import ray
        except ImportError:
            raise MedtasksError("--ray needs Ray: pip install 'medtasks[ray]'") from None
        self._ray = ray
        try:
            ray.init(address=address, log_to_driver=False, logging_level="error", ignore_reinit_error=True)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise MedtasksError(
                f"no Ray cluster at {address} ({first_line(error)}): start one with `ray start --head`, "
                "or leave --ray out"
            ) from None

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *error: object) -> None:
        self._ray.shutdown()

    def run(self, jobs: Sequence[Job], watch: Watch) -> list[Job]:
        """Run all jobs to their end; those that failed in the end."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        here = NodeAffinitySchedulingStrategy(self._ray.get_runtime_context().get_node_id(), soft=False)
        keeper = (
            self._ray.remote(Keeper)
            .options(
                num_cpus=0, scheduling_strategy=here, lifetime="detached", name=uuid.uuid4().hex, namespace="medtasks"
            )
            .remote(os.getpid())
        )
        data = {job.data: self._ray.put(packed(Path(job.data))) for job in jobs if job.data and Path(job.data).is_dir()}
        pending = {self._submit(job, data.get(job.data or ""), keeper, watch): job for job in jobs}
        attempts, deaths = dict.fromkeys(jobs, 0), dict.fromkeys(jobs, 0)
        failed: list[Job] = []
        try:
            while pending:
                ready, _ = self._ray.wait(list(pending), num_returns=1, timeout=1.0)
                for job in pending.values():
                    watch.counts(job, answered(job.folder))
                for reference in ready:
                    job = pending.pop(reference)
                    again = self._ended(job, reference, attempts, deaths, watch)
                    if again is None:
                        failed.append(job)
                    elif again:
                        pending[self._submit(job, data.get(job.data or ""), keeper, watch)] = job
        except KeyboardInterrupt:
            for reference in pending:
                self._ray.cancel(reference)
            self._ray.wait(list(pending), num_returns=len(pending), timeout=_STOPPING)
            raise
        finally:
            self._ray.kill(keeper)
        return failed

    def _submit(self, job: Job, data: Any, keeper: Any, watch: Watch) -> Any:
        asked = job.model.resources
        remote = self._ray.remote(run_on_node).options(
            name=job.name, num_cpus=asked.cpus, num_gpus=asked.gpus, resources=asked.custom, max_retries=0
        )
        watch.says(job, "given to the cluster" if self._has_room_for(asked) else "waits: no node is large enough")
        return remote.remote(job, read_rows(job.folder)[0], data, keeper)

    def _has_room_for(self, asked: Resources) -> bool:
        """Whether any node that is there could run it, were it idle; a cluster that grows may get one."""
        needs = {"CPU": asked.cpus, "GPU": asked.gpus, **asked.custom}
        nodes = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        return any(all(node.get(name, 0) >= count for name, count in needs.items()) for node in nodes)

    def _ended(
        self, job: Job, reference: Any, attempts: dict[Job, int], deaths: dict[Job, int], watch: Watch
    ) -> bool | None:
        """Whether to run the job again; None where that is of no use."""
        try:
            code, seconds, files = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            deaths[job] += 1
            again = deaths[job] <= NODE_DEATHS
            watch.says(job, f"lost its node or worker ({type(error).__name__}){', goes on elsewhere' if again else ''}")
            return again or None
        unpack(files, job.folder)
        attempts[job] += 1
        return conclude(job, code, seconds, attempts[job], watch) or (None if code else False)
