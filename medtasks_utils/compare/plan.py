"""What a difference of a given size needs: ``medtasks compare --plan``.

The variance of an example's difference is that of two saved runs, so the plan holds for two models that differ as these
do. Accuracy of independent examples is planned for McNemar's exact test, all else for the t test; alone, and as one of
as many comparisons as Holm's method then corrects.
With repeats, the variance is split into that between examples, which no repeat makes smaller, and that within them
(:class:`medtasks_utils.statistics.planning.Spread`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from medtasks_utils.statistics.planning import Spread, examples_needed, examples_of_mcnemar, spread
from medtasks_utils.statistics.ratio import detectable
from medtasks_utils.writing import table

from .comparison import Comparison, Line
from .pairing import common_examples

Need = dict[str, Any]
"""What a metric of a task needs.

=====================  ================================================================================================
task, filter, metric
n                      independent examples, or clusters of examples, that the runs have
detectable             the smallest true difference found four times of five with these, in points
examples               how many the wanted difference needs, with as many repeats as now
examples_of_family     the same after Holm's correction among all whole tasks and metrics of the comparison
repeats                how many each run needs with the examples at hand; null where no number is enough, or where the
                       runs have one generation an example, which does not tell how much repeats differ
spread                 of the paired difference (:class:`~medtasks_utils.statistics.planning.Spread`); null where
                       repeats are not known
=====================  ================================================================================================
"""


@dataclass(frozen=True)
class DifferencePlan:
    """The result of ``medtasks compare --plan``: what it takes to find a true difference of ``points`` of 100."""

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
    """Return what finding a true difference of so many points of 100 needs, for each metric of each whole task.

    The two runs compared differ as the two to be planned for do.
    """
    whole = [line for line in comparison.lines if line.breakdown is None]
    needs = [need for line in whole if (need := _need(comparison, line, points / 100, len(whole)))]
    return DifferencePlan(points, needs)


def _need(comparison: Comparison, line: Line, wanted: float, family: int) -> Need | None:
    own, top = line.contrast, line.facts.range[1]
    if not own.stderr or own.detectable is None or top is None:
        return None
    squared = own.clusters * (own.stderr / top) ** 2 + (own.difference / top) ** 2  # of an example's difference
    squared = max(squared, wanted * wanted)
    count = examples_of_mcnemar if own.test == "mcnemar" and wanted <= squared <= 1 else examples_needed
    tasks = [run.tasks[line.task] for run in (comparison.a, comparison.b) if line.task in run.tasks]
    of_repeats = None
    if line.metric == "acc" and len(tasks) == 2:
        places = common_examples(*tasks)
        of_repeats = spread(*(task.scores(line.filter, "acc")[at] for task, at in zip(tasks, places, strict=True)))
    return {
        **{name: getattr(line, name) for name in ("task", "filter", "metric")},
        "n": own.clusters,
        "detectable": 100 * own.detectable / top,
        "examples": count(wanted, squared),
        "examples_of_family": count(wanted, squared, family),
        "repeats": of_repeats.repeats_needed(wanted / detectable(1.0)) if of_repeats else None,
        "spread": of_repeats and of_repeats._asdict(),
    }


def _lines(points: float, needs: Sequence[Need]) -> Iterator[str]:
    yield f"A true difference of {points:g} points, found 4 times of 5 by a test at 5 %:"
    rows = []
    for need in needs:
        repeats = need["repeats"] or "no number is enough"
        if need["spread"] is None:
            repeats = "not known without repeats" if need["examples"] > need["n"] else 1
        label = f"{need['task']} {need['metric']} ({need['filter']})"
        seen = f"{need['detectable']:.2f}"
        rows.append((label, need["n"], seen, f"{need['examples']:,}", f"{need['examples_of_family']:,}", repeats))
    yield table(rows, ("", "n now", "MDE now", "n needed", "n corrected", "repeats needed with n now"))
    for need in needs:
        if need["spread"]:
            yield f"{need['task']}, the difference: {Spread(**need['spread'])}"
    yield "n corrected: after Holm's correction among all whole tasks and metrics that these runs are compared on."
    yield "n counts independent examples: questions or notes that examples share count once."
