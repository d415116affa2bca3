"""Run allocations on a Ray cluster, which assigns them to nodes by their resources.

Environment variables are passed as arguments of the Ray task and not in Ray's ``runtime_env``, which writes their
values to logs on every node (as of Ray 2.60).
"""

import fnmatch
import os
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from itertools import chain

from medtasks_utils.errors import MedtasksError, install

from .allocation import run_allocation
from .job import Allocation, note_waiting
from .plan import resources_in_words


def run_on_node(allocation: Allocation, environment: Mapping[str, str]) -> None:
    """Run an allocation on this node; raise MedtasksError if the output folder is not accessible here."""
    plan = allocation[0].plan
    if not plan.lock.exists():
        raise MedtasksError(f"{plan.output} is not on a file system that all nodes share: change output in the plan")
    run_allocation(allocation, environment)


def forwarded_environment(patterns: Iterable[str]) -> dict[str, str]:
    """Return the environment variables whose names match any of the patterns, such as ``HF_*``."""
    names = set(chain.from_iterable(fnmatch.filter(os.environ, pattern) for pattern in patterns))
    return {name: os.environ[name] for name in names}


class RayExecutor:
    """An executor for a Ray cluster, given by its address, or ``auto`` for the cluster of this machine.

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

    def submit(self, allocation: Allocation) -> Future[None]:
        """Submit an allocation to the cluster, record that its jobs wait, and return its future.

        The cluster runs the allocation once a node has the resources.
        """
        plan, model = allocation[0].plan, allocation[0].model
        needs = {"CPU": model.resources.cpus, "GPU": model.gpus}
        words = resources_in_words(model.gpus, model.resources.cpus)
        nodes = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        has_room = any(node.get("CPU", 0) >= needs["CPU"] and node.get("GPU", 0) >= needs["GPU"] for node in nodes)
        note_waiting(allocation, "in Ray's queue" if has_room else f"waiting for a node with {words}; there is none")
        remote = self._ray.remote(run_on_node).options(
            name=model.name, num_cpus=needs["CPU"], num_gpus=needs["GPU"], max_retries=0
        )
        reference = remote.remote(allocation, forwarded_environment([*plan.env, *plan.variables]))
        return reference.future()  # type: ignore[no-any-return]

    def watch(self) -> None:
        """Do nothing, since Ray completes the futures."""

    def stop(self) -> None:
        """Disconnect from the cluster, which ends the running jobs."""
        self._ray.shutdown()
