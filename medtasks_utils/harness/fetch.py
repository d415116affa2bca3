"""``medtasks fetch``: what runs need, into the caches from which they read it, by the code with which they do.

What there is follows from the benchmarks: their repositories, and the resources that they name.
"""

from collections.abc import Iterator
from functools import partial

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.base import Benchmark, Repository, Resource

from . import catalog
from .options import DATA_KEY, options_of
from .sources import HUB, BenchmarkFiles


def items() -> Iterator[Resource]:
    """All that there is; loading one downloads what is not there.

    Where it is not to be had, that raises a MedtasksError, or what the hub's client raises.
    """
    for benchmark in benchmarks().values():
        for repository in benchmark.repositories.values():
            origin = f"{repository.name} at {str(repository.revision)[:7]}"
            yield Resource(benchmark.name, origin, partial(_rows, benchmark, repository))
        yield from benchmark.resources()


def _rows(benchmark: Benchmark, repository: Repository) -> None:
    """Download the files, and read them by every task that does."""
    BenchmarkFiles(HUB, benchmark).folder(repository)
    manager = catalog.our_manager({DATA_KEY: HUB})
    for settings in catalog.configurations(manager, manager.all_subtasks):
        if settings.get("benchmark") == benchmark.name:
            options = options_of(benchmark, settings.get("dataset_kwargs") or {}, {})
            if benchmark.repository(options) == repository:
                manager.load(settings["task"])
