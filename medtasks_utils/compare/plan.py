"""What a difference of a given size needs: ``medtasks compare --plan``.

From two saved runs, the variance of an example's difference is the runs' own, so the plan holds for two models that
differ as these do; from a share of discordant examples, that share. With repeats, the variance is split into that
between examples, which no repeat makes smaller, and that within them (:class:`medtasks_utils.planning.Spread`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from medtasks_utils.compare.comparison import Comparison, Line
from medtasks_utils.compare.pairing import CompareError, pair
from medtasks_utils.planning import Spread, detectable, examples_needed
from medtasks_utils.results.breakdowns import repeats_of


@dataclass(frozen=True)
class Need:
    """What a metric of a task needs.

    Attributes:
        n: independent examples, or clusters of examples, that the runs have.
        detectable: the smallest true difference found four times of five with these, in points.
        examples: how many the wanted difference needs, with as many repeats as now.
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
    repeats: int | None
    spread: Spread | None


def plan(comparison: Comparison, points: float) -> list[Need]:
    """What finding a true difference of so many points of 100 needs, for each metric of each whole task.

    The two runs compared differ as the two to be planned for do.
    """
    return [need for line in comparison.lines if line.breakdown is None and (need := _need(comparison, line, points))]


def _need(comparison: Comparison, line: Line, points: float) -> Need | None:
    own, top = line.contrast, line.facts.range[1]
    if not own.stderr or own.detectable is None or top is None:
        return None
    squared = own.clusters * (own.stderr / top) ** 2 + (own.difference / top) ** 2  # of an example's difference
    of_repeats = _spread(comparison, line)
    wanted = points / 100 / detectable(1.0)
    return Need(
        task=line.task,
        filter=line.filter,
        metric=line.metric,
        n=own.clusters,
        detectable=100 * own.detectable / top,
        examples=examples_needed(points / 100, max(squared, points / 100 * points / 100)),
        repeats=of_repeats.repeats_needed(wanted) if of_repeats else None,
        spread=of_repeats,
    )


def _spread(comparison: Comparison, line: Line) -> Spread | None:
    """Variance between and within clusters of the difference in accuracy, where both runs repeat equally often."""
    tasks = [run.tasks.get(line.task) for run in (comparison.a, comparison.b)]
    if line.metric != "acc" or tasks[0] is None or tasks[1] is None:
        return None
    return repeats_of(pair(tasks[0], tasks[1]).pairs, line.filter, tasks[0].benchmark)


def stated(points: float, discordance: float) -> int:
    """Examples that a difference in accuracy needs if the runs disagree on this share of them.

    Raises:
        CompareError: where they disagree on less than they differ.
    """
    if discordance < points / 100:
        raise CompareError(
            f"--discordance {discordance:g}: two runs that differ by {points:g} points disagree on {points / 100:g} of "
            "the examples at least"
        )
    return examples_needed(points / 100, discordance)


def as_dict(needs: Sequence[Need], points: float) -> dict[str, object]:
    """The plan for JSON: ``points`` and ``needs``, objects with the fields of :class:`Need`."""
    return {"version": 1, "points": points, "needs": [asdict(need) for need in needs]}


def as_text(needs: Sequence[Need], points: float) -> Iterator[str]:
    """The plan as lines of a table."""
    yield f"A true difference of {points:g} points, found 4 times of 5 by a test at 5 %:"
    yield f"{'':<44} {'n now':>7} {'MDE now':>8} {'n needed':>9}  repeats needed with n now"
    for need in needs:
        yield (
            f"{f'{need.task} {need.metric} ({need.filter})':<44.44} {need.n:>7,} {need.detectable:>8.2f} "
            f"{need.examples:>9,}  {_repeats(need)}"
        )
        if need.spread:
            yield f"  the difference: {need.spread}"
    yield "n counts independent examples: questions or notes that examples share count once."


def _repeats(need: Need) -> str:
    if need.spread is None:
        return "not known without repeats" if need.examples > need.n else "1"
    return "no number is enough" if need.repeats is None else str(need.repeats)
