"""Download everything that runs need into their caches, for ``medtasks fetch``.

The list consists of the repositories and resources that the benchmarks name. Runs use the same code.
"""

from collections.abc import Iterator
from functools import partial

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.base import Benchmark, Repository, Resource

from . import catalog
from .sources import HUB, BenchmarkFiles
from .task_options import DATA_KEY, options_of


def items() -> Iterator[Resource]:
    """Yield each resource that runs need; its ``load`` downloads what is not in the cache yet.

    If a download fails, ``load`` raises a MedtasksError or an error of the hub's client.
    """
    for name in benchmarks():
        if benchmarks().problem(name):
            yield Resource(name, "", partial(benchmarks().__getitem__, name))  # raises the reason why it cannot be used
            continue
        benchmark = benchmarks()[name]
        for repository in benchmark.repositories.values():
            origin = f"{repository.name} at {str(repository.revision)[:7]}"
            yield Resource(benchmark.name, origin, partial(_rows, benchmark, repository))
        yield from benchmark.resources()


def _rows(benchmark: Benchmark, repository: Repository) -> None:
    """Download the files of a repository, and load every task that evaluates all rows in them."""
    BenchmarkFiles(HUB, benchmark).folder(repository)
    manager = catalog.our_manager({DATA_KEY: HUB})
    for settings in catalog.configurations(manager, manager.all_subtasks):
        if settings.get("benchmark") == benchmark.name:
            options = options_of(benchmark, settings.get("dataset_kwargs") or {}, {})
            defaults = {name: options.model_fields[name].default for name in options.leave_out}
            is_whole = options.model_copy(update=defaults) == options  # tasks over fewer rows read the same files
            if is_whole and benchmark.repository(options) == repository:
                manager.load(settings["task"])
