"""Find the benchmarks: each ``BENCHMARK`` in a ``benchmark.py`` or ``medmarks.py`` of a package in this folder.

Installed distributions add benchmarks under the entry point ``medtasks.benchmarks``.
"""

from collections.abc import Container
from functools import cache

from medtasks_utils.statistics.metrics import ADDED_METRICS, Metric, metric_of_other_task

from .registered import Benchmarks


@cache
def benchmarks() -> Benchmarks:
    """Return the registry of all benchmarks by name: first this package's, then those of other distributions."""
    return Benchmarks()


@cache
def metric_of(name: str, benchmark: str | None = None) -> Metric:
    """Return a metric by name: the benchmark's, one of :data:`.ADDED_METRICS`, or else one of a task outside medtasks.

    Without a benchmark, every name is treated as a metric of a task outside medtasks.
    """
    if benchmark is not None:
        for metric in (*benchmarks()[benchmark].metrics, *ADDED_METRICS):
            if metric.name == name:
                return metric
    return metric_of_other_task(name)


def label_of(name: str, benchmark: str | None, beside: Container[str] = ()) -> str:
    """Return the benchmark's title for its default task or group; return any other name unchanged.

    The task over all rows gets the title too, unless the default task or group is in the same table.

    Args:
        name: the name of a task or group.
        benchmark: the benchmark of the task or group; None if it has none, or more than one. The name is then returned.
        beside: all tasks and groups in the table.
    """
    if not benchmark:
        return name
    of_benchmark = benchmarks()[benchmark]
    default, whole = of_benchmark.tasks.default, of_benchmark.tasks.whole
    has_title = name == default or (name == whole and default not in beside)
    return of_benchmark.title if has_title else name
