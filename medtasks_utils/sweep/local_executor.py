"""Run allocations on this machine in the plan's order, as many at once as its resources allow."""

import os
import re
import time
from collections.abc import Generator

from medtasks_utils.errors import UsageError

from .allocation import POLL_INTERVAL, nvidia_smi, run_allocation
from .job import Allocation
from .plan import Plan


def visible_gpus() -> list[str]:
    """Return the GPUs in ``CUDA_VISIBLE_DEVICES`` or, if it is not set, those that nvidia-smi lists, if any."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return re.findall(r"^GPU (\d+)", nvidia_smi("-L"), re.MULTILINE)
    return [name for name in visible.split(",") if name]


class LocalExecutor:
    """An executor for this machine, on ``cpus`` processors; None for all.

    Attributes:
        running: by allocation, its steps and its GPUs.

    Raises:
        UsageError: if a model needs more than may be used.
    """

    def __init__(self, plan: Plan, cpus: int | None) -> None:
        self._free_gpus = visible_gpus()
        self._cpus = cpus or os.cpu_count() or 1
        self.running: dict[Allocation, tuple[Generator[None], list[str]]] = {}
        for model in plan.models:
            if model.gpus > len(self._free_gpus) or model.resources.cpus > self._cpus:
                raise UsageError(
                    f"{model.name} needs {model.gpus} GPUs and {model.resources.cpus} CPUs, but only "
                    f"{len(self._free_gpus)} GPUs and {self._cpus} CPUs may be used here (see CUDA_VISIBLE_DEVICES and "
                    "--cpus): change resources in the plan, or use a cluster"
                )

    def start(self, allocation: Allocation) -> bool:
        """Start an allocation if enough resources are free; return True if it was started."""
        count = allocation[0].model.gpus
        cpus = sum(each[0].model.resources.cpus for each in (*self.running, allocation))
        if count > len(self._free_gpus) or cpus > self._cpus:
            return False
        gpus, self._free_gpus = self._free_gpus[:count], self._free_gpus[count:]
        self.running[allocation] = run_allocation(allocation, {"CUDA_VISIBLE_DEVICES": ",".join(gpus)}), gpus
        return True

    def ended(self) -> list[Allocation]:
        """Let the allocations run for half a second, and return the allocations that have ended."""
        time.sleep(POLL_INTERVAL)
        ended_ones = [allocation for allocation, (steps, _) in self.running.items() if next(steps, True)]
        for allocation in ended_ones:
            self._free_gpus += self.running.pop(allocation)[1]
        return ended_ones

    def stop(self) -> None:
        """Interrupt the running jobs."""
        for steps, _ in self.running.values():
            steps.close()
