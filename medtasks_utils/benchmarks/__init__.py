"""The benchmarks: a package each, whose ``benchmark.BENCHMARK`` is a :class:`.base.Benchmark`.

A package in this folder is a benchmark; so is an object that an installed distribution names under the entry point
``medtasks.benchmarks``. Nothing else lists them.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

from medtasks_utils.benchmarks.base import Benchmark
from medtasks_utils.statistics.metrics import Metric, of_another_task


@cache
def benchmarks() -> dict[str, Benchmark]:
    """All benchmarks by name, this package's first, each in alphabetical order."""
    packages = sorted(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg)
    own: list[Benchmark] = [import_module(f"{__name__}.{name}.benchmark").BENCHMARK for name in packages]
    others: list[Benchmark] = [entry.load() for entry in sorted(entry_points(group="medtasks.benchmarks"))]
    return {benchmark.name: benchmark for benchmark in (*own, *others)}


@cache
def metric_of(name: str, benchmark: str | None = None) -> Metric:
    """The metric of a name: the benchmark's own, else any benchmark's, else one of tasks that are not of this pack."""
    if benchmark is None:
        return of_another_task(name)
    own_first = sorted(benchmarks().values(), key=lambda each: each.name != benchmark)
    return next(filter(None, (each.metric(name) for each in own_first)), None) or of_another_task(name)
