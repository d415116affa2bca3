"""The benchmarks: a package each, whose ``benchmark.BENCHMARK`` is a :class:`.base.Benchmark`.

A package in this folder is a benchmark; so is an object that an installed distribution names under the entry point
``medtasks.benchmarks`` by the benchmark's name. Nothing else lists them.
"""

import pkgutil
from collections.abc import Mapping
from functools import cache

from medtasks_utils.registry import Registry
from medtasks_utils.statistics.metrics import OF_REPEATS, Metric, of_another_task

from .base import Benchmark

OWN = tuple(sorted(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg))
"""Names of this package's benchmarks."""


@cache
def benchmarks() -> Mapping[str, Benchmark]:
    """All benchmarks by name, this package's first, each in alphabetical order; each is imported when asked for."""
    return Registry("medtasks.benchmarks", {name: f"{__name__}.{name}.benchmark:BENCHMARK" for name in OWN})


@cache
def metric_of(name: str, benchmark: str | None = None) -> Metric:
    """The metric of a name: the benchmark's own, else any benchmark's, else one of tasks that are not of this pack."""
    if benchmark is None:
        return of_another_task(name)
    own_first = sorted(benchmarks(), key=lambda each: each != benchmark)
    # The others are imported only where need be.
    known = (metric for each in own_first for metric in (*benchmarks()[each].metrics, *OF_REPEATS))
    return next((metric for metric in known if metric.name == name), of_another_task(name))
