"""Find the benchmarks: packages in this folder whose ``benchmark.BENCHMARK`` is derived from :class:`.base.Benchmark`.

Installed distributions add benchmarks under the entry point ``medtasks.benchmarks``.
"""

from collections.abc import Container
from functools import cache

from medtasks_utils.statistics.metrics import ADDED_METRICS, Metric, metric_of_other_task

from .registered import Benchmarks


@cache
def benchmarks() -> Benchmarks:
    """Return all benchmarks by name, sorted: first this package's, then those of other distributions."""
    return Benchmarks()


@cache
def metric_of(name: str, benchmark: str | None = None) -> Metric:
    """Return a benchmark's metric by name; an unknown name is treated as a metric of a task outside this package."""
    if benchmark is not None:
        for metric in (*benchmarks()[benchmark].metrics, *ADDED_METRICS):
            if metric.name == name:
                return metric
    return metric_of_other_task(name)


def label_of(name: str, benchmark: str | None, beside: Container[str] = ()) -> str:
    """Return the benchmark's title for its default task or group, and any other name unchanged.

    The task over all rows has the title too, unless the default one is in the same table.

    Args:
        name: a task or group.
        benchmark: its benchmark; None if it has none or several.
        beside: all tasks and groups of the table.
    """
    if not benchmark:
        return name
    of_benchmark = benchmarks()[benchmark]
    default, whole = of_benchmark.tasks.default, of_benchmark.tasks.whole
    has_title = name == default or (name == whole and default not in beside)
    return of_benchmark.title if has_title else name
