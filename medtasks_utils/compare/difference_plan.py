"""How many examples or repeats it takes to detect a difference of a given size: ``medtasks compare --plan``.

The variance of an example's difference is estimated from two saved runs, so the plan is for two models that differ as
these do. Accuracy of independent examples is planned for McNemar's exact test, all other metrics for the t test: for a
single comparison, and for one of as many as Holm's method corrects together. With repeats, the variance is split into
that between examples, which repeats do not reduce, and that within them
(:class:`~medtasks_utils.statistics.planning.VarianceComponents`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from medtasks_utils.statistics.planning import (
    VarianceComponents,
    examples_needed,
    examples_needed_by_mcnemar,
    variance_components,
)
from medtasks_utils.statistics.ratio import detectable_difference
from medtasks_utils.writing import table

from .comparing import Comparison
from .difference import MetricDifference
from .task_pair import TaskPair

Need = dict[str, Any]
"""What a metric of a task needs.

=====================  ================================================================================================
task, filter, metric
n                      the number of independent examples, or clusters of examples, that the runs have
detectable             the smallest true difference that these detect with a power of 80 %, in percentage points
examples               how many examples detect the planned difference, with as many repeats as now
examples_of_family     the same after Holm's correction among all whole tasks and metrics of the comparison
repeats                how many repeats each run needs with the examples at hand; null if no number is enough, or if the
                       runs have one generation an example, so that the variance within examples is unknown
spread                 :class:`~medtasks_utils.statistics.planning.VarianceComponents` of the paired difference; null
                       without repeats
=====================  ================================================================================================
"""


@dataclass(frozen=True)
class DifferencePlan:
    """The result of ``medtasks compare --plan``.

    Attributes:
        points: the true difference to be detected, in percentage points of the metric's range.
        needs: what each metric of each whole task needs.
    """

    points: float
    needs: list[Need]
    failed: ClassVar[bool] = False

    def to_data(self) -> dict[str, Any]:
        """Return ``version``, ``points`` and ``needs``."""
        return {"version": 1, "points": self.points, "needs": self.needs}

    def to_text(self) -> str:
        """Return a table with a row for each metric of each whole task."""
        return "\n".join(_lines(self.points, self.needs))


def plan(comparison: Comparison, points: float) -> DifferencePlan:
    """Return what it takes to detect a true difference, for each metric of each whole task.

    Args:
        comparison: of two runs that differ as those to be planned for will.
        points: the difference, in percentage points of each metric's range.
    """
    whole = [difference for difference in comparison.differences if difference.breakdown is None]
    needs = [_need(comparison, difference, points / 100, len(whole)) for difference in whole]
    return DifferencePlan(points, [need for need in needs if need is not None])


def _need(comparison: Comparison, difference: MetricDifference, planned: float, comparisons: int) -> Need | None:
    """Return what it takes to detect a difference; None if the metric has no range or the runs have no standard error.

    Args:
        comparison: of two runs.
        difference: one of its differences, of a whole task.
        planned: the true difference to be detected, as a share of the metric's range.
        comparisons: the number of p-values that Holm's method corrects together.
    """
    result, highest = difference.contrast, difference.metric.range[1]
    if not result.stderr or result.detectable is None or highest is None:
        return None
    variance = result.clusters * (result.stderr / highest) ** 2
    mean_square = max(variance + (result.difference / highest) ** 2, planned * planned)  # of an example's difference
    is_exact = result.test == "mcnemar" and planned <= mean_square <= 1
    examples = examples_needed_by_mcnemar if is_exact else examples_needed
    components = _components(comparison, difference)
    return {
        "task": difference.task,
        "filter": difference.filter,
        "metric": difference.metric.name,
        "n": result.clusters,
        "detectable": 100 * result.detectable / highest,
        "examples": examples(planned, mean_square),
        "examples_of_family": examples(planned, mean_square, comparisons),
        "repeats": components.repeats_needed(planned / detectable_difference(1.0)) if components else None,
        "spread": components and components._asdict(),
    }


def _components(comparison: Comparison, difference: MetricDifference) -> VarianceComponents | None:
    """Return the variance between and within examples, if that is known: for accuracy in a task with repeats."""
    a, b = (run.tasks.get(difference.task) for run in (comparison.a, comparison.b))
    if difference.metric.name != "acc" or a is None or b is None:
        return None
    return variance_components(*TaskPair(a, b, difference.filter).scores("acc"))


def _lines(points: float, needs: Sequence[Need]) -> Iterator[str]:
    """Yield the table, the variance components where they are known, and notes on the columns."""
    yield f"To detect a true difference of {points:g} points by a test at 5 % with a power of 80 %:"
    rows = []
    for need in needs:
        repeats = need["repeats"] or "no number is enough"
        if need["spread"] is None:
            repeats = "unknown without repeats" if need["examples"] > need["n"] else 1
        label = f"{need['task']} {need['metric']} ({need['filter']})"
        detectable = f"{need['detectable']:.2f}"
        rows.append((label, need["n"], detectable, f"{need['examples']:,}", f"{need['examples_of_family']:,}", repeats))
    yield table(rows, ("", "n now", "MDE now", "n needed", "n corrected", "repeats needed with n now"))
    for need in needs:
        if need["spread"]:
            yield f"{need['task']}, the difference: {VarianceComponents(**need['spread'])}"
    yield "n corrected: after Holm's correction among all whole tasks and metrics that these runs are compared on."
    yield "n counts independent examples: examples that share a question or a note count once."
