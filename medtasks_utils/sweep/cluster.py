"""Jobs on a Ray cluster, which places them by what they ask for.

Where a node sees the output folder, as on a shared file system, its jobs run in it, and a node that dies costs what was
in flight. Elsewhere a job runs in a folder of the node's own, which comes back when it ends, and a node that dies costs
its jobs.

Variables of the driver's environment travel as arguments of the task, and not by Ray's ``runtime_env``, which writes
their values into logs on every node (seen in Ray 2.60).
"""

import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from medtasks_utils.errors import MedtasksError
from medtasks_utils.writing import write_whole

from .plan import LOST, Job
from .process import start, stop

_CONNECTED = 9.0  # seconds that a cluster has to answer in; Ray itself gives up after minutes
_PROBE = "import sys, ray; ray.init(address=sys.argv[1], log_to_driver=False, logging_level='error')"
_TICK = 0.2  # seconds between looks at a process
_STOPPING = 15.0  # seconds that jobs have to end on Ctrl-C
_MARK = ".seen"  # in the output folder: by what is in it, a node knows that it sees this folder and no other

Files = dict[str, bytes]
"""A folder as one value: contents by path."""


def run_on_node(job: Job, output: Path, mark: str, environment: Mapping[str, str]) -> tuple[int, Files]:
    """Run a job on the node that this is called on; its exit code, and its files if not shared."""
    with tempfile.TemporaryDirectory(prefix="medtasks-") as place:
        is_shared = False
        with suppress(OSError):
            is_shared = (output / _MARK).read_text(encoding="utf-8") == mark
        folder = (output if is_shared else Path(place)) / job.folder.relative_to(job.plan.output)
        process = start(job.arguments(folder), folder, environment)
        with suppress(KeyboardInterrupt):  # of Ctrl-C
            while process.poll() is None:
                time.sleep(_TICK)  # and not wait(), which Ray's interrupt does not end
        code = stop(process)
        files = [] if is_shared else [path for path in folder.rglob("*") if path.is_file()]
        return code, {str(path.relative_to(folder)): path.read_bytes() for path in files}


class Cluster:
    """A Ray cluster, ``auto`` being the one that this machine belongs to, on which :func:`.run.run_all` runs jobs.

    Raises:
        MedtasksError: if Ray is not installed, or no cluster answers.
    """

    def __init__(self, address: str, output: Path, environment: Mapping[str, str]) -> None:
        if find_spec("ray") is None:
            raise MedtasksError("--ray needs Ray: pip install 'medtasks[ray]'")
        try:  # in a process that can be ended
            subprocess.run([sys.executable, "-c", _PROBE, address], check=True, capture_output=True, timeout=_CONNECTED)
        except subprocess.SubprocessError:
            raise MedtasksError(
                f"no Ray cluster answers at {address} within {_CONNECTED:g} s: start one with `ray start --head`, or "
                "leave --ray out"
            ) from None
        import ray

        ray.init(address=address, log_to_driver=False, logging_level="error")
        self._ray = ray
        self._output, self._mark, self._environment = output.resolve(), uuid.uuid4().hex, environment
        write_whole(output / _MARK, self._mark)
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
        self._references[remote.remote(job, self._output, self._mark, self._environment)] = job
        return "given to the cluster"

    def ended(self) -> list[tuple[Job, int]]:
        """Those that came back, with exit codes, or whose node is gone; waits a moment for one."""
        ready, _ = self._ray.wait(list(self._references), num_returns=1, timeout=1.0)
        return [self._outcome(reference) for reference in ready]

    def _outcome(self, reference: Any) -> tuple[Job, int]:
        job = self._references.pop(reference)
        try:
            code, files = self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:  # it could not even start, mostly for want of the package
            files = {"log.txt": f"{error.cause}: is the same medtasks on every node?".encode()}
            code = 2
        except self._ray.exceptions.RayError:
            return job, LOST
        for name, content in files.items():
            (job.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (job.folder / name).write_bytes(content)
        return job, code

    def stop(self) -> None:
        """Interrupt what runs, and leave the cluster."""
        waiting = list(self._references)
        for reference in waiting:
            self._ray.cancel(reference)
        if waiting:
            self._ray.wait(waiting, num_returns=len(waiting), timeout=_STOPPING)
        self._ray.shutdown()
