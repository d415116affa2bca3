"""Run jobs on this machine, as many at once as its resources allow, in the plan's order."""

import os
import re
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from medtasks_utils.errors import UsageError

from .job_process import start, stop
from .plan import Job

_POLL_INTERVAL = 0.5  # seconds


class Machine(NamedTuple):
    """The resources of a machine: processors, and GPUs as ``CUDA_VISIBLE_DEVICES`` names them."""

    cpus: float
    gpus: tuple[str, ...] = ()

    @classmethod
    def this_one(cls, cpus: float | None, gpus: int | None) -> "Machine":
        """Return this machine's resources, limited to ``cpus`` and ``gpus`` unless these are None.

        The GPUs are those in ``CUDA_VISIBLE_DEVICES`` or, if it is not set, those that nvidia-smi lists.
        """
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        if visible is None:
            with suppress(OSError):
                listing = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout
                visible = ",".join(re.findall(r"^GPU (\d+)", listing, re.MULTILINE))
        devices = [name for name in (visible or "").split(",") if name]
        return cls(cpus or os.cpu_count() or 1, tuple(devices[:gpus]))


class LocalExecutor:
    """Runs the jobs of :func:`.scheduler.run_all` on this machine.

    Attributes:
        running: each running job's process and GPUs.

    Raises:
        UsageError: if a job needs more than the machine has.
    """

    def __init__(self, jobs: Sequence[Job], machine: Machine) -> None:
        for job in jobs:
            needs = job.model.resources
            if needs.gpus > len(machine.gpus) or needs.cpus > machine.cpus or needs.custom:
                raise UsageError(
                    f"{job.name} asks for {needs.gpus} GPUs, {needs.cpus:g} CPUs and {needs.custom or 'nothing'} more, "
                    f"and this machine has {len(machine.gpus)} GPUs and {machine.cpus:g} CPUs: change resources in the "
                    "plan, --gpus or --cpus, or use a cluster with --ray"
                )
        self._free_gpus = list(machine.gpus)
        self._cpus = machine.cpus
        self.running: dict[Job, tuple[subprocess.Popen[bytes], list[str]]] = {}

    def start(self, job: Job) -> str:
        """Start a job if resources are free, and return a status for the log; else return an empty string."""
        needs = job.model.resources
        cpus_in_use = sum(other.model.resources.cpus for other in self.running)
        if needs.gpus > len(self._free_gpus) or round(cpus_in_use + needs.cpus, 6) > self._cpus:
            return ""
        gpus, self._free_gpus = self._free_gpus[: needs.gpus], self._free_gpus[needs.gpus :]
        process = start(job.arguments(job.folder), job.folder, {"CUDA_VISIBLE_DEVICES": ",".join(gpus)})
        self.running[job] = process, gpus
        return "running"

    def ended(self) -> list[tuple[Job, int]]:
        """Wait half a second, and return the jobs whose process has ended, with exit codes."""
        time.sleep(_POLL_INTERVAL)
        ended_jobs = []
        for job, (process, gpus) in list(self.running.items()):
            code = process.poll()
            if code is not None:
                del self.running[job]
                self._free_gpus += gpus
                ended_jobs.append((job, code))
        return ended_jobs

    def stop(self) -> None:
        """Interrupt the running jobs."""
        for process, _ in self.running.values():
            stop(process)
