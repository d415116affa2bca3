"""Jobs on this machine: as many at once as there is room for, in the plan's order."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from medtasks_utils.errors import UsageError
from medtasks_utils.sweep.plan import Job
from medtasks_utils.sweep.process import start, stop

_TICK = 0.5  # seconds between looks at the processes
_ROUNDING = 1e-6  # processors that may be taken beyond those there are: shares of one do not add up to the last bit


@dataclass(frozen=True)
class Machine:
    """What there is: processors, and GPUs as ``CUDA_VISIBLE_DEVICES`` names them."""

    cpus: float
    gpus: tuple[str, ...] = ()

    @classmethod
    def this_one(cls, cpus: float | None, gpus: int | None) -> Machine:
        """This machine, or so much of it: the devices of ``CUDA_VISIBLE_DEVICES``, else those that nvidia-smi lists."""
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        found = _listed_gpus() if visible is None else tuple(name for name in visible.split(",") if name)
        if gpus is not None:
            found = found[:gpus] if len(found) >= gpus else tuple(map(str, range(gpus)))
        return cls(os.cpu_count() or 1 if cpus is None else cpus, found)


def _listed_gpus() -> tuple[str, ...]:
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return tuple(str(number) for number, line in enumerate(listed.stdout.splitlines()) if line.startswith("GPU "))


@dataclass
class _Running:
    process: subprocess.Popen[bytes]
    gpus: tuple[str, ...]
    since: float = field(default_factory=time.monotonic)


class Local:
    """This machine, as a :class:`.job.Place`.

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
        self.running: dict[Job, _Running] = {}

    def start(self, job: Job) -> str:
        """Start a job if there is room."""
        asked = job.model.resources
        taken = sum(other.model.resources.cpus for other in self.running)
        if asked.gpus > len(self._free_gpus) or taken + asked.cpus > self._cpus + _ROUNDING:
            return ""
        gpus = tuple(self._free_gpus[: asked.gpus])
        process = start(job.server, job.arguments(job.folder), job.folder, {"CUDA_VISIBLE_DEVICES": ",".join(gpus)})
        del self._free_gpus[: asked.gpus]
        self.running[job] = _Running(process, gpus)
        return "running"

    def ended(self) -> list[tuple[Job, int, float]]:
        """Those whose process has ended."""
        time.sleep(_TICK)
        found = [(job, code) for job, own in self.running.items() if (code := own.process.poll()) is not None]
        gone = {job: self.running.pop(job) for job, _ in found}
        self._free_gpus += [gpu for own in gone.values() for gpu in own.gpus]
        return [(job, code, time.monotonic() - gone[job].since) for job, code in found]

    def stop(self) -> None:
        """Interrupt what runs."""
        for own in self.running.values():
            stop(own.process)
