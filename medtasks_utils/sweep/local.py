"""Jobs on this machine: a queue, in the plan's order, of which as many run at once as there is room for."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from medtasks_utils.errors import MedtasksError, UsageError
from medtasks_utils.sweep.job import answered, conclude, start, stop
from medtasks_utils.sweep.plan import Job
from medtasks_utils.sweep.watch import Watch
from medtasks_utils.writing import WriteError

_TICK = 0.1  # seconds between looks at the processes
_COUNTED_EVERY = 1.0
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
    job: Job
    process: subprocess.Popen[bytes]
    gpus: tuple[str, ...]
    since: float = field(default_factory=time.monotonic)


class Queue:
    """The jobs that wait for room on a machine, and those that run.

    Raises:
        UsageError: if a job asks for more than there is.
    """

    def __init__(self, jobs: Sequence[Job], machine: Machine, watch: Watch) -> None:
        for job in jobs:
            asked = job.model.resources
            if asked.gpus > len(machine.gpus) or asked.cpus > machine.cpus or asked.custom:
                raise UsageError(
                    f"{job.name} asks for {asked.gpus} GPUs, {asked.cpus:g} CPUs and {asked.custom or 'nothing'} more, "
                    f"and this machine has {len(machine.gpus)} and {machine.cpus:g}: see resources in the plan, --gpus "
                    "and --cpus, or --ray for a cluster"
                )
        self._waiting = list(jobs)
        self._attempts = dict.fromkeys(jobs, 0)
        self._free_gpus = list(machine.gpus)
        self._cpus = machine.cpus
        self._running: list[_Running] = []
        self._watch = watch
        self.failed: list[Job] = []

    def run(self) -> list[Job]:
        """Run all to their end; those that failed in the end."""
        counted = 0.0
        try:
            while self._waiting or self._running:
                self._start_what_fits()
                time.sleep(_TICK)
                for running in [each for each in self._running if each.process.poll() is not None]:
                    self._end(running)
                if time.monotonic() - counted > _COUNTED_EVERY:
                    counted = time.monotonic()
                    for running in self._running:
                        self._watch.counts(running.job, answered(running.job.folder))
        except (OSError, WriteError) as error:  # of a full disk, mostly
            reason = error if isinstance(error, WriteError) else f"{error.filename or 'a file'}: {error.strerror}"
            raise MedtasksError(
                f"{reason}; the jobs are ended, and the same command goes on with what was not answered"
            ) from None
        finally:
            for running in self._running:
                stop(running.process)
        return self.failed

    def _start_what_fits(self) -> None:
        for job in list(self._waiting):
            asked = job.model.resources
            taken = sum(running.job.model.resources.cpus for running in self._running)
            if asked.gpus > len(self._free_gpus) or taken + asked.cpus > self._cpus + _ROUNDING:
                continue
            gpus = tuple(self._free_gpus[: asked.gpus])
            del self._free_gpus[: asked.gpus]
            self._waiting.remove(job)
            self._attempts[job] += 1
            process = start(job.arguments(job.folder), job.folder, {"CUDA_VISIBLE_DEVICES": ",".join(gpus)})
            self._running.append(_Running(job, process, gpus))
            self._watch.says(job, "running")

    def _end(self, running: _Running) -> None:
        job, code = running.job, running.process.returncode
        self._running.remove(running)
        self._free_gpus += running.gpus
        self._watch.counts(job, answered(job.folder))
        if conclude(job, code, time.monotonic() - running.since, self._attempts[job], self._watch):
            self._waiting.append(job)
        elif code:
            self.failed.append(job)
