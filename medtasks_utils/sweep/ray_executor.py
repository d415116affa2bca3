"""Run allocations on a Ray cluster, which places them by their resources.

On a node that can access the output folder, as on a shared file system, jobs run in that folder; if the node dies, only
pending answers are lost. On other nodes, an allocation runs in a temporary folder whose files are copied back when it
ends; if the node dies, everything is lost.

Environment variables are passed as arguments of the Ray task and not in Ray's ``runtime_env``, which writes their
values to logs on every node (as of Ray 2.60).
"""

import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Mapping
from contextlib import closing, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from medtasks_utils.errors import MedtasksError
from medtasks_utils.writing import write_whole

from .allocation import note, run_allocation
from .plan import Allocation

_CONNECT_TIMEOUT = 9.0  # seconds; Ray itself gives up after minutes
_PROBE = "import sys, ray; ray.init(address=sys.argv[1], log_to_driver=False, logging_level='error')"
_POLL_INTERVAL = 0.5  # seconds
_STOP_TIMEOUT = 15.0  # seconds for jobs to end after Ctrl-C
_MARKER = ".seen"  # a file in the output folder, by whose random content a node recognises this folder

Files = dict[str, bytes]
"""The contents of a folder's files by relative path."""


def run_on_node(allocation: Allocation, output: Path, mark: str, environment: Mapping[str, str]) -> Files:
    """Run an allocation on this node, and return its files; an empty dict if the output folder is shared."""
    with tempfile.TemporaryDirectory(prefix="medtasks-") as temporary:
        folder = Path(temporary)
        with suppress(OSError):
            if (output / _MARKER).read_text(encoding="utf-8") == mark:
                folder = output
        with suppress(KeyboardInterrupt), closing(run_allocation(allocation, folder, environment)) as steps:
            for _ in steps:  # Ray passes on Ctrl-C as KeyboardInterrupt
                time.sleep(_POLL_INTERVAL)
        files = [] if folder == output else [path for path in folder.rglob("*") if path.is_file()]
        return {str(path.relative_to(folder)): path.read_bytes() for path in files}


class RayExecutor:
    """An executor that runs allocations on a Ray cluster.

    Args:
        address: the cluster's address, or ``auto`` for the cluster of this machine.
        output: the plan's output folder.
        environment: the environment variables that jobs get.

    Attributes:
        running: by allocation, the reference of its Ray task.

    Raises:
        MedtasksError: if Ray is not installed, or no cluster responds.
    """

    def __init__(self, address: str, output: Path, environment: Mapping[str, str]) -> None:
        if find_spec("ray") is None:
            raise MedtasksError("--ray needs Ray: pip install 'medtasks[ray]'")
        try:  # in a separate process, which can be killed
            subprocess.run(
                [sys.executable, "-c", _PROBE, address], check=True, capture_output=True, timeout=_CONNECT_TIMEOUT
            )
        except subprocess.SubprocessError:
            raise MedtasksError(
                f"no Ray cluster responds at {address} within {_CONNECT_TIMEOUT:g} s: start one with `ray start "
                "--head`, or omit --ray"
            ) from None
        import ray

        ray.init(address=address, log_to_driver=False, logging_level="error")
        self._ray = ray
        self._output, self._mark, self._environment = output.resolve(), uuid.uuid4().hex, environment
        write_whole(output / _MARKER, self._mark)
        self.running: dict[Allocation, Any] = {}

    def start(self, allocation: Allocation) -> bool:
        """Submit an allocation to the cluster, which runs it when resources are free; always return True."""
        needs = allocation[0].model.resources
        remote = self._ray.remote(run_on_node).options(
            name=allocation[0].model.name,
            num_cpus=needs.cpus,
            num_gpus=allocation[0].model.gpus,
            resources=needs.custom,
            max_retries=0,
        )
        self.running[allocation] = remote.remote(allocation, self._output, self._mark, self._environment)
        return True

    def ended(self) -> list[Allocation]:
        """Wait briefly, write the files of the allocations that have ended, and return these allocations."""
        ready, _ = self._ray.wait(list(self.running.values()), num_returns=1, timeout=1.0)
        ended_ones = [allocation for allocation, reference in self.running.items() if reference in ready]
        for allocation in ended_ones:
            try:
                for name, content in self._ray.get(self.running.pop(allocation)).items():
                    write_whole(self._output / name, content, make_folder=True)
            except self._ray.exceptions.RayTaskError as error:  # mostly because a package is missing
                for job in allocation:
                    note(job.folder, 1, f"could not start: {error.cause}; install the same medtasks on every node")
            except self._ray.exceptions.RayError:
                continue  # its node is gone
        return ended_ones

    def stop(self) -> None:
        """Interrupt the running jobs, and disconnect from the cluster."""
        references = list(self.running.values())
        for reference in references:
            self._ray.cancel(reference)
        if references:
            self._ray.wait(references, num_returns=len(references), timeout=_STOP_TIMEOUT)
        self._ray.shutdown()
