"""Run allocations on this machine in the plan's order, as many at once as its resources allow."""

import os
import re
import subprocess
import time
from collections.abc import Generator
from contextlib import suppress
from typing import NamedTuple

from medtasks_utils.errors import UsageError

from .allocation import run_allocation
from .plan import Allocation, Plan

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

    def check(self, plan: Plan) -> None:
        """Raise UsageError if a plan that is not for Slurm has a model that needs more than the machine has."""
        for model in plan.models if plan.slurm is None else ():
            needs = model.resources
            if model.gpus > len(self.gpus) or needs.cpus > self.cpus or needs.custom:
                raise UsageError(
                    f"{model.name} needs {model.gpus} GPUs, {needs.cpus:g} CPUs and the custom "
                    f"resources {needs.custom or 'none'}, but this machine has {len(self.gpus)} GPUs and "
                    f"{self.cpus:g} CPUs: change resources in the plan, --gpus or --cpus, or use a cluster"
                )


class LocalExecutor:
    """An executor that runs allocations on this machine.

    Attributes:
        running: by running allocation, its steps and its GPUs.
    """

    def __init__(self, machine: Machine) -> None:
        self._free_gpus = list(machine.gpus)
        self._cpus = machine.cpus
        self.running: dict[Allocation, tuple[Generator[None], list[str]]] = {}

    def start(self, allocation: Allocation) -> bool:
        """Start an allocation if enough resources are free; return True if it was started."""
        needs, count = allocation[0].model.resources, allocation[0].model.gpus
        cpus_in_use = sum(other[0].model.resources.cpus for other in self.running)
        if count > len(self._free_gpus) or round(cpus_in_use + needs.cpus, 6) > self._cpus:
            return False
        gpus, self._free_gpus = self._free_gpus[:count], self._free_gpus[count:]
        environment = {"CUDA_VISIBLE_DEVICES": ",".join(gpus)}
        output = allocation[0].plan.output
        self.running[allocation] = run_allocation(allocation, output, environment), gpus
        return True

    def ended(self) -> list[Allocation]:
        """Let the allocations run for half a second, and return the allocations that have ended."""
        time.sleep(_POLL_INTERVAL)
        ended_ones = [allocation for allocation, (steps, _) in self.running.items() if next(steps, True)]
        for allocation in ended_ones:
            self._free_gpus += self.running.pop(allocation)[1]
        return ended_ones

    def stop(self) -> None:
        """Interrupt the running jobs."""
        for steps, _ in self.running.values():
            steps.close()
