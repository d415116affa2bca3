"""Run allocations on this machine, as many at once as its resources allow."""

import os
import re
import subprocess
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from threading import Event

from medtasks_utils.errors import UsageError

from .allocation import run_allocation
from .job import Allocation
from .plan import Plan


def visible_gpus() -> list[str]:
    """Return the GPUs in ``CUDA_VISIBLE_DEVICES`` or, if it is not set, those that nvidia-smi lists, if any."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return [name for name in visible.split(",") if name]
    with suppress(FileNotFoundError):
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout
        return re.findall(r"^GPU (\d+)", listed, re.MULTILINE)
    return []


class LocalExecutor:
    """An executor for this machine, on ``cpus`` processors; None for all.

    Raises:
        UsageError: if a model needs more than may be used.
    """

    def __init__(self, plan: Plan, cpus: int | None) -> None:
        self._free_gpus, self._free_cpus = visible_gpus(), cpus or os.cpu_count() or 1
        self._stopping = Event()
        self._threads = ThreadPoolExecutor(len(plan.models) * len(plan.runs))
        self._running: list[tuple[Future[None], int, list[str]]] = []
        for model in plan.models:
            if model.gpus > len(self._free_gpus) or model.resources.cpus > self._free_cpus:
                raise UsageError(
                    f"{model.name} needs {model.gpus} GPUs and {model.resources.cpus} CPUs, but only "
                    f"{len(self._free_gpus)} GPUs and {self._free_cpus} CPUs may be used here (see "
                    "CUDA_VISIBLE_DEVICES and --cpus): change resources in the plan, or use a cluster"
                )

    def submit(self, allocation: Allocation) -> Future[None] | None:
        """Start an allocation in a thread, and return its future; None if there is no room for it yet."""
        count, cpus = allocation[0].model.gpus, allocation[0].model.resources.cpus
        if count > len(self._free_gpus) or cpus > self._free_cpus:
            return None
        gpus, self._free_gpus = self._free_gpus[:count], self._free_gpus[count:]
        self._free_cpus -= cpus
        environment = {"CUDA_VISIBLE_DEVICES": ",".join(gpus)}
        future = self._threads.submit(run_allocation, allocation, environment, self._stopping)
        self._running.append((future, cpus, gpus))
        return future

    def watch(self) -> None:
        """Take back the processors and GPUs of the allocations that have ended."""
        for ended in [each for each in self._running if each[0].done()]:
            self._running.remove(ended)
            self._free_cpus += ended[1]
            self._free_gpus += ended[2]

    def stop(self) -> None:
        """Interrupt the running jobs, all at once."""
        self._stopping.set()
        self._threads.shutdown()
