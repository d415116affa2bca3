"""Run jobs on a Ray cluster, which places them by their resources.

On a node that sees the output folder, as with a shared file system, jobs run in that folder; if the node dies, only the
answers in flight are lost. On other nodes, a job runs in a temporary folder whose files are copied back when it
ends; if the node dies, the whole job is lost.

Environment variables are passed as arguments of the Ray task and not in Ray's ``runtime_env``, which writes their
values into logs on every node (as of Ray 2.60).
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

from .job_process import start, stop
from .plan import LOST, Job

_CONNECT_TIMEOUT = 9.0  # seconds; Ray itself gives up after minutes
_PROBE = "import sys, ray; ray.init(address=sys.argv[1], log_to_driver=False, logging_level='error')"
_POLL_INTERVAL = 0.2  # seconds
_STOP_TIMEOUT = 15.0  # seconds for jobs to end on Ctrl-C
_MARKER = ".seen"  # file in the output folder; its random content tells a node that it sees this very folder

Files = dict[str, bytes]
"""The contents of a folder's files by relative path."""


def run_on_node(job: Job, output: Path, mark: str, environment: Mapping[str, str]) -> tuple[int, Files]:
    """Run a job on this node; return its exit code and, unless the output folder is shared, its files."""
    with tempfile.TemporaryDirectory(prefix="medtasks-") as temporary:
        is_shared = False
        with suppress(OSError):
            is_shared = (output / _MARKER).read_text(encoding="utf-8") == mark
        folder = (output if is_shared else Path(temporary)) / job.folder.relative_to(job.plan.output)
        process = start(job.arguments(folder), folder, environment)
        with suppress(KeyboardInterrupt):  # Ray's way to pass on Ctrl-C
            while process.poll() is None:
                time.sleep(_POLL_INTERVAL)  # not wait(), which Ray cannot interrupt
        code = stop(process)
        files = [] if is_shared else [path for path in folder.rglob("*") if path.is_file()]
        return code, {str(path.relative_to(folder)): path.read_bytes() for path in files}


class RayExecutor:
    """Runs the jobs of :func:`.scheduler.run_all` on a Ray cluster.

    Args:
        address: the cluster's address; ``auto`` is the cluster that this machine belongs to.
        output: the plan's output folder.
        environment: the environment variables that jobs get.

    Raises:
        MedtasksError: if Ray is not installed, or no cluster answers.
    """

    def __init__(self, address: str, output: Path, environment: Mapping[str, str]) -> None:
        if find_spec("ray") is None:
            raise MedtasksError("--ray needs Ray: pip install 'medtasks[ray]'")
        try:  # in a process of its own, which can be killed
            subprocess.run(
                [sys.executable, "-c", _PROBE, address], check=True, capture_output=True, timeout=_CONNECT_TIMEOUT
            )
        except subprocess.SubprocessError:
            raise MedtasksError(
                f"no Ray cluster answers at {address} within {_CONNECT_TIMEOUT:g} s: start one with `ray start "
                "--head`, or omit --ray"
            ) from None
        import ray

        ray.init(address=address, log_to_driver=False, logging_level="error")
        self._ray = ray
        self._output, self._mark, self._environment = output.resolve(), uuid.uuid4().hex, environment
        write_whole(output / _MARKER, self._mark)
        self._references: dict[Any, Job] = {}

    @property
    def running(self) -> Sequence[Job]:
        """The jobs that were submitted and have not ended."""
        return list(self._references.values())

    def start(self, job: Job) -> str:
        """Submit a job to the cluster, which runs it when resources are free; return a status for the log."""
        needs = job.model.resources
        remote = self._ray.remote(run_on_node).options(
            name=job.name, num_cpus=needs.cpus, num_gpus=needs.gpus, resources=needs.custom, max_retries=0
        )
        self._references[remote.remote(job, self._output, self._mark, self._environment)] = job
        return "submitted to the cluster"

    def ended(self) -> list[tuple[Job, int]]:
        """Wait briefly, and return the jobs that have ended, with exit codes, or ``LOST`` if their node is gone."""
        ready, _ = self._ray.wait(list(self._references), num_returns=1, timeout=1.0)
        return [self._outcome(reference) for reference in ready]

    def _outcome(self, reference: Any) -> tuple[Job, int]:
        """Return the job of a finished Ray task and its exit code, after writing the files that came with it."""
        job = self._references.pop(reference)
        try:
            code, files = self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:  # it could not start, mostly because a package is missing
            files = {"log.txt": f"{error.cause}: is the same medtasks on every node?".encode()}
            code = 2
        except self._ray.exceptions.RayError:
            return job, LOST
        for name, content in files.items():
            (job.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (job.folder / name).write_bytes(content)
        return job, code

    def stop(self) -> None:
        """Interrupt the running jobs, and disconnect from the cluster."""
        waiting = list(self._references)
        for reference in waiting:
            self._ray.cancel(reference)
        if waiting:
            self._ray.wait(waiting, num_returns=len(waiting), timeout=_STOP_TIMEOUT)
        self._ray.shutdown()
