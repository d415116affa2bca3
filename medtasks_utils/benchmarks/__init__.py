"""The benchmarks: a package each, whose ``benchmark.BENCHMARK`` is a :class:`.base.Benchmark`.

A package in this folder is a benchmark; so is an object that an installed distribution names under the entry point
``medtasks.benchmarks`` by the benchmark's name. Nothing else lists them.
"""

from functools import cache

from medtasks_utils.statistics.metrics import OF_REPEATS, OF_REPLIES, Metric, of_another_task

from .registered import Benchmarks


@cache
def benchmarks() -> Benchmarks:
    """Return all benchmarks by name, this package's first, each in alphabetical order."""
    return Benchmarks()


@cache
def metric_of(name: str, benchmark: str | None = None) -> Metric:
    """The metric of a name: the benchmark's own, else any benchmark's, else one of tasks that are not of this pack."""
    if benchmark is None:
        return of_another_task(name)
    own_first = sorted(benchmarks(), key=lambda each: each != benchmark)
    # The others are imported only where need be.
    usable = (benchmarks()[each] for each in own_first if benchmarks().problem(each) is None)
    known = (metric for each in usable for metric in (*each.metrics, *OF_REPLIES, *OF_REPEATS))
    return next((metric for metric in known if metric.name == name), of_another_task(name))
