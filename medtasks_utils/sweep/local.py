"""Jobs on this machine: as many at once as there is room for, in the plan's order."""

import os
import re
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from medtasks_utils.errors import UsageError

from .plan import Job
from .process import start, stop

_TICK = 0.5  # seconds between looks at the processes


@dataclass(frozen=True)
class Machine:
    """What there is: processors, and GPUs as ``CUDA_VISIBLE_DEVICES`` names them."""

    cpus: float
    gpus: tuple[str, ...] = ()

    @classmethod
    def this_one(cls, cpus: float | None, gpus: int | None) -> "Machine":
        """This machine, or so much of it: the devices of ``CUDA_VISIBLE_DEVICES``, else those that nvidia-smi lists."""
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        if visible is None:
            with suppress(OSError):
                listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout
                visible = ",".join(re.findall(r"^GPU (\d+)", listed, re.MULTILINE))
        found = [name for name in (visible or "").split(",") if name]
        return cls(cpus or os.cpu_count() or 1, tuple(found[:gpus]))


class Local:
    """This machine, on which :func:`.run.run_all` runs jobs.

    Raises:
        UsageError: if a job asks for more than there is.
    """

    def __init__(self, jobs: Sequence[Job], machine: Machine) -> None:
        for job in jobs:
            asked = job.model.resources
            if asked.gpus > len(machine.gpus) or asked.cpus > machine.cpus or asked.custom:
                raise UsageError(
                    f"{job.name} asks for {asked.gpus} GPUs, {asked.cpus:g} CPUs and {asked.custom or 'nothing'} more, "
                    f"and this machine has {len(machine.gpus)} and {machine.cpus:g}: see resources in the plan, --gpus "
                    "and --cpus, or --ray for a cluster"
                )
        self._free_gpus = list(machine.gpus)
        self._cpus = machine.cpus
        self.running: dict[Job, tuple[subprocess.Popen[bytes], list[str]]] = {}
        """Those started: process and GPUs."""

    def start(self, job: Job) -> str:
        """Start a job if there is room."""
        asked = job.model.resources
        taken = sum(other.model.resources.cpus for other in self.running)
        if asked.gpus > len(self._free_gpus) or round(taken + asked.cpus, 6) > self._cpus:
            return ""
        gpus, self._free_gpus = self._free_gpus[: asked.gpus], self._free_gpus[asked.gpus :]
        process = start(job.arguments(job.folder), job.folder, {"CUDA_VISIBLE_DEVICES": ",".join(gpus)})
        self.running[job] = process, gpus
        return "running"

    def ended(self) -> list[tuple[Job, int]]:
        """Those whose process has ended, with its exit code."""
        time.sleep(_TICK)
        found = []
        for job, (process, gpus) in list(self.running.items()):
            code = process.poll()
            if code is not None:
                del self.running[job]
                self._free_gpus += gpus
                found.append((job, code))
        return found

    def stop(self) -> None:
        """Interrupt what runs."""
        for process, _ in self.running.values():
            stop(process)
