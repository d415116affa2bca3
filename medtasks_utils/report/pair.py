"""Compare two runs as ``medtasks compare`` does, and lay out the differences; one run with others, by its column."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from medtasks_utils.compare import MetricDifference, compare_runs
from medtasks_utils.compare.comparing import Comparison
from medtasks_utils.compare.difference_plan import plan
from medtasks_utils.errors import MedtasksError
from medtasks_utils.results import Run
from medtasks_utils.statistics.metrics import Metric

from .board import Board, Column, Score, difference_in, score_of
from .cautions import FEW
from .drawing import Axis
from .text import words
from .topics import incompatibility

PLANNED = 3
"""The difference, in points, for which the page says how many questions it takes."""


class PairLine(NamedTuple):
    """A benchmark or a part of one in two runs; ``score`` is B − A, ``is_shown`` if its corrected p is below 5 %."""

    label: str
    n: int
    a: float
    b: float
    score: Score
    p: float | None
    is_shown: bool
    metric: Metric
    detectable: float | None


class PairParts(NamedTuple):
    """The parts of a task in two runs, the largest difference first; ``few`` are those with too few examples."""

    column: Column
    task: str
    breakdown: str
    whole: float | None
    lines: list[PairLine]
    few: list[PairLine]

    @property
    def axis(self) -> Axis:
        """An axis for all lines with enough examples."""
        return Axis.of_differences((line.score for line in self.lines), self.whole)


@dataclass
class PairRow:
    """A benchmark in two runs, with the numbers of examples by the runs that have them right."""

    column: Column
    line: PairLine | None
    refused: str
    counts: tuple[int, int, int]
    right: dict[str, int] = field(default_factory=dict)
    needed: int | None = None


@dataclass
class Pair:
    """Two runs under one filter."""

    a: str
    b: str
    rows: list[PairRow]
    parts: list[PairParts]
    warnings: list[str]

    @property
    def axis(self) -> Axis:
        """An axis for the differences of all benchmarks that have shares or points."""
        lines = [row.line for row in self.rows if row.line]
        return Axis.of_differences(line.score for line in lines if line.metric.unit in ("share", "points"))

    @property
    def tested(self) -> int:
        """The number of benchmarks over which p is corrected."""
        return sum(1 for row in self.rows if row.line and row.line.p is not None)


def pair_of(a: Run, b: Run, board: Board, filter_name: str) -> Pair:
    """Compare two runs on the benchmarks of the board under a filter."""
    comparison, refused = compared(a, b, filter_name)
    found = comparison.differences if comparison else []
    needs = list(plan(comparison, PLANNED)) if comparison else []
    pairs = comparison.pairs if comparison else {}
    rows = []
    for column in board.columns:
        name, metric = column.topic.name, column.metric.name
        if a.name not in column.topic.results or b.name not in column.topic.results:
            continue
        line = next((_line(one, column.label) for one in found if _key(one) == (name, metric, None)), None)
        row = PairRow(column, line, "" if line else refused.get(name, "no samples in both runs"), _counts(column, a, b))
        members = [pairs[task] for task in column.topic.tasks if task in pairs and line]
        for agreement in (member.agreement() for member in members):
            for key in ("n_gained", "n_lost", "both_right", "both_wrong"):
                row.right[key] = row.right.get(key, 0) + round(agreement[key])
        of_metric = (need["examples"] for need in needs if (need["task"], need["metric"]) == (name, metric))
        row.needed = next(of_metric, None)
        rows.append(row)
    warnings = comparison.warnings if comparison else []
    return Pair(a.name, b.name, rows, list(_parts(board, found)), warnings)


def compared(a: Run, b: Run, filter_name: str) -> tuple[Comparison | None, dict[str, str]]:
    """Compare two runs under one filter, on the tasks and groups that both have.

    Returns:
        The comparison, None if nothing can be compared; and by task or group that is not compared, the reason.
    """

    def reason(name: str, of_explanations: bool = False) -> str:
        """Return the reason why a group or task must not be compared; an empty string if it may be."""
        members = a.tasks_of(name), b.tasks_of(name)
        for task in chain(*members):
            if not any(filter_name in sample.answers for sample in task.samples):
                return "no samples in one of the runs"
        text = incompatibility(*members, filter_name, of_explanations)
        return text.replace("only in A", f"only in {a.name}").replace("only in B", f"only in {b.name}")

    tasks = [
        name
        for name, task in a.tasks.items()
        if name in b.tasks and {filter_name} <= {*task.filters} & {*b.tasks[name].filters}
    ]
    groups = [name for name in a.groups if name in b.groups and {*a.groups[name].tasks} & {*tasks}]
    refused = {name: text for name in (*groups, *tasks) if (text := reason(name))}
    chosen = [(name, name) for name in tasks if name not in refused]
    if not chosen:
        return None, refused
    try:
        result = compare_runs(a, b, tasks=chosen, filter_name=filter_name, force=True)
    except MedtasksError:  # such as tasks of others, whose scores nobody says how to compare
        return None, refused | dict.fromkeys(tasks, "they have no score on which runs are compared")
    is_comparable = [not one.metric.is_of_explanations or not reason(one.task, True) for one in result.differences]
    kept = [one for one, keeps in zip(result.differences, is_comparable, strict=True) if keeps]
    return Comparison(a, b, kept, result.pairs, result.warnings), refused


def _key(difference: MetricDifference) -> tuple[str, str, str | None]:
    return difference.task, difference.metric.name, difference.breakdown


def _line(difference: MetricDifference, label: str) -> PairLine:
    """Format a difference in points."""
    found, metric = difference.contrast, difference.metric
    detectable = metric.detectable(found.detectable)
    return PairLine(
        label,
        found.n,
        found.a * metric.scale,
        found.b * metric.scale,
        score_of(found, metric),
        difference.p_adjusted,
        difference.is_significant,
        metric,
        None if detectable is None else detectable * metric.scale,
    )


def _counts(column: Column, a: Run, b: Run) -> tuple[int, int, int]:
    """Return the numbers of A's examples, of B's and of those in common."""
    sides = [{key for task in column.topic.results[run.name].tasks for key in task.examples} for run in (a, b)]
    return len(sides[0]), len(sides[1]), len(sides[0] & sides[1])


def _parts(board: Board, differences: Sequence[MetricDifference]) -> Iterator[PairParts]:
    """Yield the breakdowns of each benchmark's tasks, and the tasks of its groups."""
    for column in board.columns:
        whole = {_key(one): one.contrast.difference * one.metric.scale for one in differences}
        by_breakdown: dict[tuple[str, str], list[PairLine]] = defaultdict(list)
        for one in differences:
            if one.breakdown and one.task in column.topic.tasks:
                by_breakdown[one.task, one.breakdown].append(_line(one, words(one.group or "")))
            elif column.topic.is_group and one.task in column.topic.tasks and one.metric.name == column.metric.name:
                by_breakdown[column.topic.name, "task"].append(_line(one, words(one.task)))
        for (task, breakdown), lines in by_breakdown.items():
            lines.sort(key=lambda line: -line.score.value)
            enough = [line for line in lines if line.n >= FEW]
            few = [line for line in lines if line.n < FEW]
            metric = lines[0].metric.name
            yield PairParts(column, task, breakdown, whole.get((task, metric, None)), enough, few)


# ---- one run against others


class Against(NamedTuple):
    """The differences of a run from the reference, in each of the board's columns; None where there is none."""

    scores: list[Score | None]
    alone: list[tuple[int, int]]


def against(board: Board, reference: str) -> dict[str, Against]:
    """Return by ranked run its differences from a reference on the same examples, in the order of the board.

    ``alone`` has the numbers of examples that only the reference and only the run has right.
    """
    lines = {}
    for run in board.ranked:
        scores: list[Score | None] = []
        alone = []
        for column in board.columns:
            is_ranked = {run, reference} <= {*column.ranked} and run != reference
            found, rights = difference_in(column, reference, run) if is_ranked else (None, (0, 0))
            scores.append(found)
            alone.append(rights)
        if any(scores):
            lines[run] = Against(scores, alone)
    return lines
