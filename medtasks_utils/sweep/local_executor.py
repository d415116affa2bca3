"""Run allocations on this machine, as many in parallel as its resources allow."""

import os
import re
import subprocess
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from threading import Event

from medtasks_utils.errors import UsageError

from .allocation import run_allocation
from .job import Allocation
from .plan import ModelPart, Plan, resources_in_words


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
    """An executor for this machine, which uses its visible GPUs and ``cpus`` processors (all if None).

    Raises:
        UsageError: if a model needs more GPUs or CPUs than may be used.
    """

    def __init__(self, plan: Plan, cpus: int | None) -> None:
        self._gpus, self._cpus = visible_gpus(), [*range(cpus or os.cpu_count() or 1)]  # those that are free
        self._stopping = Event()
        self._threads = ThreadPoolExecutor(len(plan.models) * len(plan.runs))
        for model in plan.models:
            if not self._has_room(model):
                raise UsageError(
                    f"{model.name} needs {resources_in_words(model.gpus, model.resources.cpus)}, but only "
                    f"{resources_in_words(len(self._gpus), len(self._cpus))} may be used here (see "
                    "CUDA_VISIBLE_DEVICES and --cpus): change resources in the plan, or use a cluster"
                )

    def _has_room(self, model: ModelPart) -> bool:
        return model.gpus <= len(self._gpus) and model.resources.cpus <= len(self._cpus)

    def submit(self, allocation: Allocation) -> Future[None] | None:
        """Start an allocation in a thread, and return its future; None if its resources are still in use."""
        model = allocation[0].model
        if not self._has_room(model):
            return None
        gpus = [self._gpus.pop(0) for _ in range(model.gpus)]
        cpus = [self._cpus.pop() for _ in range(model.resources.cpus)]

        def run() -> None:
            try:
                run_allocation(allocation, {"CUDA_VISIBLE_DEVICES": ",".join(gpus)}, self._stopping)
            finally:
                self._gpus.extend(gpus)
                self._cpus.extend(cpus)

        return self._threads.submit(run)

    def watch(self) -> None:
        """Do nothing, since threads watch the processes."""

    def stop(self) -> None:
        """Interrupt all running jobs at once, and wait until their processes have ended."""
        self._stopping.set()
        self._threads.shutdown()
