"""Jobs on a Ray cluster, which places them by what they ask for.

Where a node sees the output folder, as on a shared file system, its jobs run in it, and a node that dies costs what was
in flight. Elsewhere a job runs in a folder of the node's own, which comes back when it ends, and a node that dies costs
its jobs. What an earlier attempt answered goes to the node either way, and so does a data directory.

Variables of the driver's environment travel as arguments of the task, and not by Ray's ``runtime_env``, which writes
their values into logs on every node (seen in Ray 2.60).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from medtasks_utils.errors import MedtasksError
from medtasks_utils.sweep.job import LOST
from medtasks_utils.sweep.plan import Job, Resources
from medtasks_utils.sweep.process import start, stop
from medtasks_utils.writing import write_whole

_CONNECTED = 9.0  # seconds that a cluster has to answer in; Ray itself gives up after minutes
_PROBE = "import sys, ray; ray.init(address=sys.argv[1], log_to_driver=False, logging_level='error')"
_TICK = 0.2  # seconds between looks at a process
_STOPPING = 15.0  # seconds that jobs have to end on Ctrl-C
_MARK = ".seen"  # in the output folder: by what is in it, a node knows that it sees this folder and no other


Files = dict[str, bytes]
"""A folder as one value: contents by path."""


def packed(folder: Path) -> Files:
    """A folder's files."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def unpack(files: Files, folder: Path) -> None:
    """Write them into another folder."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def run_on_node(
    job: Job, mark: str, answers: Files, data: Files | None, environment: Mapping[str, str]
) -> tuple[int, float, Files]:
    """Run a job on the node that this is called on; its exit code, its seconds, and its folder if not shared."""
    with tempfile.TemporaryDirectory(prefix="medtasks-") as place:
        is_shared = False
        with suppress(OSError):
            is_shared = (job.output / _MARK).read_text(encoding="utf-8") == mark
        folder = job.folder
        if not is_shared:
            folder = Path(place, "job")
            unpack(answers, folder)
        if data is not None:
            unpack(data, Path(place, "data"))
            job = replace(job, data=str(Path(place, "data")))
        began = time.monotonic()
        process = start(job.server, job.arguments(folder), folder, environment)
        with suppress(KeyboardInterrupt):  # of Ctrl-C: what is answered by then comes back
            while process.poll() is None:
                time.sleep(_TICK)  # and not wait(), which Ray's interrupt does not end
        return stop(process), time.monotonic() - began, {} if is_shared else packed(folder)


class Cluster:
    """A Ray cluster, ``auto`` being the one that this machine belongs to, as a :class:`.job.Place`.

    Raises:
        MedtasksError: if Ray is not installed, or no cluster answers.
    """

    def __init__(self, address: str, jobs: Sequence[Job], environment: Mapping[str, str]) -> None:
        if find_spec("ray") is None:
            raise MedtasksError("--ray needs Ray: pip install 'medtasks[ray]'")
        _try(address)
        import ray

        self._ray = ray
        ray.init(address=address, log_to_driver=False, logging_level="error")
        self._mark, self._environment = uuid.uuid4().hex, environment
        write_whole(jobs[0].output / _MARK, self._mark)
        folders = {job.data for job in jobs if job.data and Path(job.data).is_dir()}
        self._data = {folder: ray.put(packed(Path(folder))) for folder in folders}
        self._references: dict[Any, Job] = {}

    @property
    def running(self) -> Sequence[Job]:
        """Those given to the cluster."""
        return list(self._references.values())

    def start(self, job: Job) -> str:
        """Give a job to the cluster, which has it wait for room."""
        asked = job.model.resources
        remote = self._ray.remote(run_on_node).options(
            name=job.name, num_cpus=asked.cpus, num_gpus=asked.gpus, resources=asked.custom, max_retries=0
        )
        sent = replace(job, output=job.output.resolve())
        data = self._data.get(job.data or "")
        self._references[remote.remote(sent, self._mark, packed(job.folder), data, self._environment)] = job
        return "given to the cluster" if self._has_room_for(asked) else "waits: no node is large enough"

    def _has_room_for(self, asked: Resources) -> bool:
        """Whether any node that is there could run it, were it idle; a cluster that grows may get one."""
        needs = {"CPU": asked.cpus, "GPU": asked.gpus, **asked.custom}
        nodes = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        return any(all(node.get(name, 0) >= count for name, count in needs.items()) for node in nodes)

    def ended(self) -> list[tuple[Job, int, float]]:
        """Those that came back, or whose node is gone."""
        if not self._references:
            time.sleep(1.0)
            return []
        ready, _ = self._ray.wait(list(self._references), num_returns=1, timeout=1.0)
        return [self._outcome(reference) for reference in ready]

    def _outcome(self, reference: Any) -> tuple[Job, int, float]:
        job = self._references.pop(reference)
        try:
            code, seconds, files = self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:  # it could not even start, mostly for want of the package
            job.folder.mkdir(parents=True, exist_ok=True)
            (job.folder / "log.txt").write_text(f"{error.cause}: is the same medtasks on every node?", encoding="utf-8")
            return job, 2, 0.0
        except self._ray.exceptions.RayError:
            return job, LOST, 0.0
        unpack(files, job.folder)
        return job, code, seconds

    def stop(self) -> None:
        """Interrupt what runs, take what it has answered, and leave the cluster."""
        waiting = list(self._references)
        for reference in waiting:
            self._ray.cancel(reference)
        if waiting:
            for reference in self._ray.wait(waiting, num_returns=len(waiting), timeout=_STOPPING)[0]:
                self._outcome(reference)
        self._ray.shutdown()


def _try(address: str) -> None:
    """See whether a cluster answers, in a process that can be ended."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", _PROBE, address], capture_output=True, text=True, timeout=_CONNECTED
        )
        if not done.returncode:
            return
        said = " ".join(done.stderr.rpartition("Error: ")[2].split()) or f"exit code {done.returncode}"
    except subprocess.TimeoutExpired:
        said = f"nothing answers within {_CONNECTED:g} s"
    raise MedtasksError(f"no Ray cluster at {address} ({said}): start one with `ray start --head`, or leave --ray out")
