"""What a difference of a given size needs: ``medtasks compare --plan``.

From two saved runs, the variance of an example's difference is the runs' own, so the plan holds for two models that
differ as these do; from a share of discordant examples, that share. Accuracy of independent examples is planned for
McNemar's exact test, all else for the t test; alone, and as one of as many comparisons as Holm's method then corrects.
With repeats, the variance is split into that between examples, which no repeat makes smaller, and that within them
(:class:`medtasks_utils.statistics.planning.Spread`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from medtasks_utils.compare.comparison import Comparison, Line
from medtasks_utils.compare.pairing import CompareError, common_examples
from medtasks_utils.statistics.planning import Spread, detectable, examples_needed, examples_of_mcnemar, spread
from medtasks_utils.writing import table

IN_FAMILY = 4
"""Comparisons that a plan from a share alone takes to be corrected together: the four benchmarks."""


@dataclass(frozen=True)
class Need:
    """What a metric of a task needs.

    Attributes:
        n: independent examples, or clusters of examples, that the runs have.
        detectable: the smallest true difference found four times of five with these, in points.
        examples: how many the wanted difference needs, with as many repeats as now.
        examples_of_family: the same after Holm's correction among all whole tasks and metrics of the comparison.
        repeats: how many each run needs with the examples at hand; None where no number is enough, or where the runs
            have one generation an example, which does not tell how much repeats differ.
        spread: of the paired difference; None where repeats are not known.
    """

    task: str
    filter: str
    metric: str
    n: int
    detectable: float
    examples: int
    examples_of_family: int
    repeats: int | None
    spread: Spread | None


def plan(comparison: Comparison, points: float) -> list[Need]:
    """What finding a true difference of so many points of 100 needs, for each metric of each whole task.

    The two runs compared differ as the two to be planned for do.
    """
    whole = [line for line in comparison.lines if line.breakdown is None]
    return [need for line in whole if (need := _need(comparison, line, points / 100, len(whole)))]


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
        places = common_examples(tasks)
        of_repeats = spread(*(task.scores(line.filter, "acc")[at] for task, at in zip(tasks, places, strict=True)))
    return Need(
        task=line.task,
        filter=line.filter,
        metric=line.metric,
        n=own.clusters,
        detectable=100 * own.detectable / top,
        examples=count(wanted, squared),
        examples_of_family=count(wanted, squared, family),
        repeats=of_repeats.repeats_needed(wanted / detectable(1.0)) if of_repeats else None,
        spread=of_repeats,
    )


def stated(points: float, discordance: float, comparisons: int = 1) -> int:
    """Examples that a difference in accuracy needs if the runs disagree on this share of them.

    Raises:
        CompareError: where they disagree on less than they differ.
    """
    if discordance < points / 100:
        raise CompareError(
            f"--discordance {discordance:g}: two runs that differ by {points:g} points disagree on {points / 100:g} of "
            "the examples at least"
        )
    return examples_of_mcnemar(points / 100, discordance, comparisons)


def as_dict(needs: Sequence[Need], points: float) -> dict[str, object]:
    """The plan for JSON: ``points`` and ``needs``, objects with the fields of :class:`Need`."""
    return {"version": 1, "points": points, "needs": [asdict(need) for need in needs]}


def as_text(needs: Sequence[Need], points: float) -> Iterator[str]:
    """The plan as lines of a table."""
    yield f"A true difference of {points:g} points, found 4 times of 5 by a test at 5 %:"
    rows = []
    for need in needs:
        repeats = "no number is enough" if need.repeats is None else str(need.repeats)
        if need.spread is None:
            repeats = "not known without repeats" if need.examples > need.n else "1"
        numbers = (f"{need.n:,}", f"{need.detectable:.2f}", f"{need.examples:,}", f"{need.examples_of_family:,}")
        rows.append((f"{need.task} {need.metric} ({need.filter})", *numbers, repeats))
    yield table(rows, ("", "n now", "MDE now", "n needed", "n corrected", "repeats needed with n now"))
    yield from (f"{need.task}, the difference: {need.spread}" for need in needs if need.spread)
    yield "n corrected: after Holm's correction among all whole tasks and metrics that these runs are compared on."
    yield "n counts independent examples: questions or notes that examples share count once."
