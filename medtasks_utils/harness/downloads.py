"""Download everything a run needs into the caches, for ``medtasks fetch``.

The benchmarks name the repositories and resources, which a run loads with the same code.
"""

from collections.abc import Iterator
from functools import partial

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.facts import Resource

from .sources import HUB, BenchmarkFiles


def items() -> Iterator[Resource]:
    """Yield each resource a run may need, once; its ``load`` downloads it if it is not cached yet.

    If a download fails, ``load`` raises a MedtasksError or an error of the Hub's client. For a benchmark that cannot be
    used, ``load`` raises the reason.
    """
    seen: set[str] = set()  # benchmarks of the same rows have the same repositories and resources
    for name in benchmarks():
        if benchmarks().problem(name):
            yield Resource(name, "", partial(benchmarks().__getitem__, name))  # raises the reason why it cannot be used
            continue
        benchmark = benchmarks()[name]
        for repository in benchmark.data.repositories.values():
            origin = f"{repository.name} at {str(repository.revision)[:7]}"
            if origin not in seen:
                yield Resource(benchmark.name, origin, partial(BenchmarkFiles(HUB, benchmark).folder, repository))
            seen.add(origin)
        yield from (resource for resource in benchmark.data.resources() if resource.name not in seen)
        seen.update(resource.name for resource in benchmark.data.resources())
