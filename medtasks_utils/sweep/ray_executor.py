"""Run allocations on a Ray cluster, which places them by their resources.

Environment variables are passed as arguments of the Ray task and not in Ray's ``runtime_env``, which writes their
values to logs on every node (as of Ray 2.60).
"""

import os
from collections.abc import Iterable, Mapping
from fnmatch import fnmatch

from medtasks_utils.errors import MedtasksError, install

from .allocation import run_to_the_end
from .job import Allocation


def run_on_node(allocation: Allocation, environment: Mapping[str, str]) -> None:
    """Run an allocation on this node; raise MedtasksError if it does not see the output folder."""
    plan = allocation[0].plan
    if not plan.lock.exists():
        raise MedtasksError(f"{plan.output} is not a folder of a file system that all nodes see")
    run_to_the_end(allocation, environment)


def forwarded_environment(patterns: Iterable[str]) -> dict[str, str]:
    """Return the environment variables whose names match a pattern such as ``HF_*``."""
    return {name: value for name, value in os.environ.items() if any(fnmatch(name, each) for each in patterns)}


class RayExecutor:
    """An executor for a Ray cluster, given by its address, or ``auto`` for the cluster of this machine.

    Attributes:
        running: by allocation, the reference of its Ray task.

    Raises:
        MedtasksError: if Ray is not installed, or no cluster responds.
    """

    def __init__(self, address: str) -> None:
        try:
            import ray

            ray.init(address=address, log_to_driver=False, logging_level="error")
        except ImportError:
            raise MedtasksError(f"--ray needs Ray: {install('ray')}") from None
        except ConnectionError:
            raise MedtasksError(
                f"no Ray cluster responds at {address}: start one with `ray start --head`, or omit --ray"
            ) from None
        self._ray = ray
        self.running: dict[Allocation, object] = {}

    def start(self, allocation: Allocation) -> bool:
        """Submit an allocation to the cluster, which runs it when resources are free."""
        model = allocation[0].model
        remote = self._ray.remote(run_on_node).options(
            name=model.name, num_cpus=model.resources.cpus, num_gpus=model.gpus, max_retries=0
        )
        self.running[allocation] = remote.remote(allocation, forwarded_environment(allocation[0].plan.env))
        return True

    def ended(self) -> list[Allocation]:
        """Wait at most a second, and return the allocations that have ended."""
        ready, _ = self._ray.wait([*self.running.values()], num_returns=1, timeout=1.0)
        ended_ones = [allocation for allocation, reference in self.running.items() if reference in ready]
        for allocation in ended_ones:
            try:
                self._ray.get(self.running.pop(allocation))
            except self._ray.exceptions.RayTaskError as error:  # mostly because a package is missing
                for job in allocation:
                    job.note(1, f"could not start: {error.cause}")
            except self._ray.exceptions.RayError:
                continue  # its node is gone
        return ended_ones

    def stop(self) -> None:
        """Disconnect from the cluster, which ends the running jobs."""
        self._ray.shutdown()
