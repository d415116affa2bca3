"""``medtasks fetch``: what runs need, into the caches from which they read it, by the code with which they do.

What there is follows from the benchmarks: their repositories, and the resources that they name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.base import Benchmark, Repository
from medtasks_utils.harness import catalog
from medtasks_utils.harness.options import DATA_KEY, options_of
from medtasks_utils.harness.sources import HUB, BenchmarkFiles


class Item(NamedTuple):
    """Something that runs need.

    Attributes:
        name: as ``--only`` has it.
        origin: where it comes from.
        load: loads it as a run does, downloading what is not there, and returns where it is. Raises a MedtasksError, or
            what the hub's client raises, where it is not to be had.
    """

    name: str
    origin: str
    load: Callable[[], Path]


def items() -> Iterator[Item]:
    """All that there is."""
    for benchmark in benchmarks().values():
        for repository in benchmark.repositories.values():
            origin = f"{repository.name} at {str(repository.revision)[:7]}"
            yield Item(benchmark.name, origin, partial(_rows, benchmark, repository))
        for resource in benchmark.resources():
            yield Item(*resource)


def _rows(benchmark: Benchmark, repository: Repository) -> Path:
    """Download the files, and read them by every task that does."""
    folder = BenchmarkFiles(HUB, benchmark).folder(repository)
    manager = catalog.our_manager({DATA_KEY: HUB})
    for settings in catalog.configurations(manager, manager.all_subtasks):
        if settings.get("benchmark") == benchmark.name:
            options = options_of(benchmark, settings.get("dataset_kwargs") or {}, {})
            if benchmark.repository(options) == repository:
                manager.load(settings["task"])
    return folder
