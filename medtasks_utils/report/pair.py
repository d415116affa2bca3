"""Compare two runs as ``medtasks compare`` does, or all runs with a reference, and arrange the differences."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from medtasks_utils.compare import MetricDifference, compare_runs
from medtasks_utils.compare.comparing import Comparison, NothingToCompare
from medtasks_utils.compare.difference_plan import plan
from medtasks_utils.results import Run
from medtasks_utils.statistics.metrics import Metric

from .board import FEW, Board, Column, Score, difference_in, score_of
from .text import words
from .topics import incompatibility

PLANNED = 3
"""The difference, in points, for which the page gives the number of questions needed."""


class PairLine(NamedTuple):
    """A benchmark, or a part of a benchmark, in two runs.

    Attributes:
        n: the number of compared examples.
        a: the value in A.
        b: the value in B.
        score: the difference B − A, with its interval.
        p: the corrected p-value; None if there is none.
        is_shown: True if ``p`` is below 5 %.
        detectable: the smallest difference that is detected four times in five; None if unknown.
    """

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
    """The parts of a task in two runs, sorted by B − A, descending; ``few`` are the parts with under 30 examples.

    ``whole`` is the difference over the whole task; None if the task was not compared as a whole.
    """

    column: Column
    breakdown: str
    whole: float | None
    lines: list[PairLine]
    few: list[PairLine]


@dataclass
class PairRow:
    """A benchmark in two runs: why they are not compared, and the numbers of questions in A, in B and in both.

    Attributes:
        right: the numbers of questions that only A, only B, and neither gets right; empty if they are not compared.
        needed: the number of questions needed to show a difference of :data:`PLANNED` points; None if unknown.
        only: the run that has the benchmark, if the other lacks it; else empty.
    """

    column: Column
    line: PairLine | None
    incompatible: str
    counts: tuple[int, int, int]
    right: tuple[int, ...] = ()
    needed: int | None = None
    only: str = ""

    @property
    def asks_other(self) -> bool:
        """True if the runs are not compared because their questions differ."""
        return self.incompatible.startswith("different examples")


@dataclass
class Pair:
    """The comparison of two runs, A and B, under one filter."""

    a: str
    b: str
    rows: list[PairRow]
    parts: list[PairParts]
    warnings: list[str]


def pair_of(a: Run, b: Run, board: Board, filter_name: str) -> Pair:
    """Compare two runs on the benchmarks of the board under a filter."""
    comparison, incompatible = compared(a, b, filter_name)
    differences = {_key(difference): difference for difference in comparison.differences}
    needed = {(need["task"], need["metric"]): need["examples"] for need in plan(comparison, PLANNED)}
    rows = []
    for column in board.columns:
        results, key = column.topic.results, (column.topic.name, column.metric.name)
        difference = differences.get((*key, None))
        row = PairRow(column, None, incompatible.get(key[0], "one or both runs have no samples"), _counts(column, a, b))
        if len(results) == 1:
            row.incompatible, row.only = "", next(iter(results))
        if difference:
            row.line, row.incompatible, row.needed = line_of(difference, column.label), "", needed.get(key)
            _, row.right = difference_in(column, a.name, b.name)
        rows.append(row)
    return Pair(a.name, b.name, rows, list(_parts(board, differences)), comparison.warnings)


def compared(a: Run, b: Run, filter_name: str) -> tuple[Comparison, dict[str, str]]:
    """Compare two runs under one filter, on the tasks and groups that both have.

    Returns:
        The comparison, which may have no differences; and the reason for each task or group that is not compared.
    """

    def reason(name: str, of_explanations: bool = False) -> str:
        """Return why a group or task is not comparable; empty if it is."""
        members = a.tasks_of(name), b.tasks_of(name)
        for task in (*members[0], *members[1]):
            if not any(filter_name in sample.answers for sample in task.samples):
                return "no samples in one of the runs"
        return incompatibility(*members, filter_name, of_explanations)

    tasks = [name for name, task in a.tasks.items() if name in b.tasks and filter_name in task.filters]
    tasks = [name for name in tasks if filter_name in b.tasks[name].filters]
    groups = [name for name in a.groups if name in b.groups and {*a.groups[name].tasks} & {*tasks}]
    incompatible = {name: text for name in (*groups, *tasks) if (text := reason(name))}
    nothing: Comparison = Comparison(a, b, [], {}, [])
    chosen = [(name, name) for name in tasks if name not in incompatible]
    if not chosen:
        return nothing, incompatible
    try:
        result = compare_runs(a, b, tasks=chosen, filter_name=filter_name, force=True)
    except NothingToCompare:  # such as tasks of others, whose scores nobody says how to compare
        return nothing, incompatible | dict.fromkeys(tasks, "they have no score on which runs are compared")
    differences = [
        difference
        for difference in result.differences
        if not (difference.metric.is_of_explanations and reason(difference.task, True))
    ]
    return replace(result, differences=differences), incompatible


_Key = tuple[str, str, tuple[str, str | None] | None]


def _key(difference: MetricDifference) -> _Key:
    """Return the task, the metric, and the breakdown with its group; None for the whole task."""
    part = (difference.breakdown, difference.group) if difference.breakdown else None
    return difference.task, difference.metric.name, part


def line_of(difference: MetricDifference, label: str) -> PairLine:
    """Convert a difference to a line, in the units that the page shows."""
    contrast, metric = difference.contrast, difference.metric
    detectable = metric.detectable(contrast.detectable)
    return PairLine(
        label,
        contrast.n,
        contrast.a * metric.scale,
        contrast.b * metric.scale,
        score_of(contrast.difference, contrast, metric),
        difference.p_adjusted,
        difference.is_significant,
        metric,
        None if detectable is None else detectable * metric.scale,
    )


def _counts(column: Column, a: Run, b: Run) -> tuple[int, int, int]:
    """Return the numbers of examples in A, in B and in both."""
    results = column.topic.results
    of_a, of_b = (results[run.name].examples if run.name in results else set() for run in (a, b))
    return len(of_a), len(of_b), len(of_a & of_b)


def _parts(board: Board, differences: Mapping[_Key, MetricDifference]) -> Iterator[PairParts]:
    """Yield the breakdowns of each benchmark's tasks, and the tasks of its groups."""
    for column in board.columns:
        topic = column.topic
        by_breakdown: dict[tuple[str, str, str], list[PairLine]] = defaultdict(list)
        for (task, metric, part), difference in differences.items():
            if task not in topic.tasks:
                continue
            if part:
                by_breakdown[task, metric, part[0]].append(line_of(difference, words(part[1] or "")))
            elif topic.is_group and metric == column.metric.name:
                by_breakdown[topic.name, metric, "task"].append(line_of(difference, words(task)))
        for (task, metric, breakdown), lines in by_breakdown.items():
            lines.sort(key=lambda line: -line.score.value)
            whole = differences.get((task, metric, None))
            yield PairParts(
                column,
                breakdown,
                whole.contrast.difference * whole.metric.scale if whole else None,
                [line for line in lines if line.n >= FEW],
                [line for line in lines if line.n < FEW],
            )


# ---- one run against others


Against = list[tuple[Score | None, tuple[int, int, int]]]
"""For each column, :func:`.board.difference_in` for the reference and a run; empty values if either is not ranked."""


def against(board: Board, reference: str) -> dict[str, Against]:
    """Return each ranked run's differences from a reference on common examples, in the order of the board.

    The reference itself, and runs ranked with it on no benchmark, are left out.
    """
    lines: dict[str, Against] = {}
    for run in board.ranked:
        both = {run, reference}
        is_compared = [len(both) == 2 and both <= {*column.ranked} for column in board.columns]
        if any(is_compared):
            columns = zip(board.columns, is_compared, strict=True)
            lines[run] = [difference_in(column, reference, run) if known else _NOTHING for column, known in columns]
    return lines


_NOTHING = None, (0, 0, 0)
