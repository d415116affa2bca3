"""Compute how many examples or repeats are needed to detect a given difference: ``medtasks compare --plan``.

The variance of an example's difference is estimated from two saved runs, so the plan assumes two models that differ as
these do. It is for a single comparison by the test used for such models
(:class:`~medtasks_utils.statistics.planning.Sensitivity`).
"""

import math
from collections.abc import Iterator, Sequence

from medtasks_utils.results import Run
from medtasks_utils.statistics.planning import repeats_needed
from medtasks_utils.statistics.sequential import WITHIN, expected_clusters
from medtasks_utils.writing import JsonObject, filled, table

from .comparing import Comparison
from .contrast import MetricDifference

Need = JsonObject
"""The numbers of examples and repeats that a metric of a task needs.

=====================  ================================================================================================
task, filter, metric   the names
n                      number of independent examples, or clusters of examples, in the runs
of                     number of them in the whole benchmark; null if the runs do not say
parts                  for a group, the number of independent examples by task, of which n is the sum; null for a task
detectable             smallest true difference that n examples detect with a power of 80 %, in percentage points; null
                       if the metric has no such difference
examples               number that detects the planned difference, with the present number of repeats; it may exceed
                       the size of the benchmark
until_decided          average number that ``medtasks eval --against`` evaluates until a comparison is decided; for a
                       group of several benchmarks, the sum over its tasks; null if ``of`` is null
repeats                number of repeats that each run needs with the present examples; null if no number is enough, or
                       if it is unknown, as for metrics other than accuracy or if a run has one generation per example
=====================  ================================================================================================
"""


def plan(comparison: Comparison, points: float) -> Iterator[Need]:
    """Yield the sample sizes that detect a true difference, for each metric of each whole task or group.

    The planned runs are assumed to differ in the same way as the compared runs. The difference is in percentage points
    of each metric's range. Metrics without an upper limit or a standard error are left out.
    """
    whole = [difference for difference in comparison.differences if difference.breakdown is None]
    for difference in whole:
        metric, task = difference.metric, difference.task
        n, sensitivity, highest = difference.contrast.clusters, difference.contrast.sensitivity, metric.range[1]
        if sensitivity is None or highest is None:
            continue
        target = points / 100 * highest
        pair = comparison.pairs.get(task) if metric.name == "acc" else None
        stderr = sensitivity.stderr * target / sensitivity.detectable
        detectable = metric.detectable(sensitivity.detectable)
        group = comparison.a.groups.get(task)
        parts = [part for part in whole if group and part.task in group.tasks and part.metric.name == metric.name]
        is_decided_whole = len({run_task.benchmark_name for run_task in comparison.a.tasks_of(task)}) == 1
        until = [_until_decided(comparison.a, part, target) for part in ([difference] if is_decided_whole else parts)]
        yield {
            "task": task,
            "filter": difference.filter,
            "metric": metric.name,
            "n": n,
            "of": _number_in_benchmark(comparison.a, task, n),
            "parts": {part.task: part.contrast.clusters for part in parts} or None,
            "detectable": None if detectable is None else 100 * detectable / highest,
            "examples": sensitivity.examples_needed(target),
            "until_decided": sum(filter(None, until)) if all(until) else None,
            "repeats": repeats_needed(*pair.metric_scores("acc"), stderr) if pair else None,
        }


def _until_decided(run: Run, difference: MetricDifference, target: float) -> int | None:
    """Return the average number of clusters evaluated until a decision; None if the benchmark's size is unknown."""
    clusters, highest = difference.contrast.clusters, difference.metric.range[1] or 1.0
    of = _number_in_benchmark(run, difference.task, clusters)
    deviation = (difference.contrast.stderr or 0.0) * math.sqrt(clusters)
    return of and round(expected_clusters(target, deviation, of, WITHIN / 100 * highest))


def _number_in_benchmark(run: Run, name: str, clusters: int) -> int | None:
    """Return the number of clusters in the whole benchmark, extrapolated from a run; None if no example was asked."""
    tasks = run.tasks_of(name)
    asked = sum(task.asked for task in tasks)
    return round(clusters * sum(task.available for task in tasks) / asked) if asked else None


def lines_of(points: float, needs: Sequence[Need]) -> Iterator[str]:
    """Yield the lines of a plan: a table, the examples of each group by task, and notes on the columns."""
    yield f"To detect a true difference of {points:g} points with a test at 5 % and a power of 80 %:\n"
    rows: list[list[str]] = [["", "now", "of", "needed", "until decided", "repeats needed"]]
    for need in needs:
        numbers = [need["n"], need["of"], need["examples"], need["until_decided"], need["repeats"]]
        cells = ["–" if number is None else f"{number:,}" for number in numbers]
        rows.append([f"{need['task']} {need['metric']}", *cells])
    yield table(rows)
    yield ""
    for need in needs:
        if need["parts"]:
            parts = " + ".join(f"{n:,} {task}" for task, n in need["parts"].items())
            yield filled(f"{need['task']} {need['metric']}: {parts}. Additional examples keep these proportions.")
    yield filled(
        "Examples that share a question or a note count once. now: in these runs. of: in the whole benchmark; if more "
        "are needed, use repeats or another benchmark. needed: for a single test; more for a comparison on several "
        "benchmarks, whose p-values are corrected. until decided: the average number that medtasks eval --against "
        f"evaluates until a run is better, worse or within {WITHIN:g} points. repeats needed: with the examples in "
        "these runs, for acc of runs with repeats; – if no number is enough, or it is unknown."
    )
