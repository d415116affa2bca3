"""The section that compares every run with the first, on the same examples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from medtasks_utils.compare import CompareError, Comparison, Line, compare_runs
from medtasks_utils.report.blocks import Block, Figure, Section
from medtasks_utils.report.charts import MAX_RUNS, Point, dot_plot
from medtasks_utils.report.tables import Cell, Table, samples_link
from medtasks_utils.report.text import words
from medtasks_utils.results import Run


class Comparer:
    """Compares pairs of runs as ``medtasks compare`` does, on the examples that both have, each pair once.

    Attributes:
        notes: what stood in the way of comparisons or is to be kept in mind, in words.
    """

    def __init__(self, runs: Sequence[Run]) -> None:
        self._runs = {run.name: run for run in runs}
        self._found: dict[tuple[str, str, str], Comparison | None] = {}
        self._notes: dict[str, None] = {}
        if len(runs) > MAX_RUNS:
            self._notes[f"Only {MAX_RUNS - 1} of {len(runs) - 1} other runs are compared with {runs[0].name}."] = None

    @property
    def notes(self) -> list[str]:  # noqa: D102
        return list(self._notes)

    def with_first(self, filter_name: str) -> list[Comparison]:
        """The first run with each of the next few."""
        first, *others = list(self._runs)[:MAX_RUNS]
        return [found for other in others if (found := self.between(first, other, filter_name))]

    def between(self, a: str, b: str, filter_name: str) -> Comparison | None:
        """Two runs by name; None where they cannot be compared."""
        key = a, b, filter_name
        if key not in self._found:
            self._found[key] = self._compare(self._runs[a], self._runs[b], filter_name)
        return self._found[key]

    def _compare(self, a: Run, b: Run, filter_name: str) -> Comparison | None:
        shared = [name for name, task in a.tasks.items() if task.benchmark and name in b.tasks]
        tasks = [
            (name, name)
            for name in shared
            if filter_name in a.tasks[name].filters and filter_name in b.tasks[name].filters
        ]
        if shared and not tasks:
            return None
        chosen = None if len(tasks) == len(shared) else tasks  # groups are compared where all their tasks are
        try:
            found = compare_runs(a, b, tasks=chosen, filters=[filter_name], common=True, force=True)
        except CompareError as error:
            self._notes[f"{a.name} and {b.name}, {filter_name}: {error}"] = None
            return None
        self._notes |= dict.fromkeys(f"{a.name} and {b.name}: {warning}" for warning in found.warnings)
        return found


@dataclass(frozen=True)
class PairedDifference:
    """A difference in points with its interval as text, and whether it is more than chance."""

    text: str
    is_clear: bool


def paired_difference(
    comparer: Comparer, filter_name: str, task: str, metric: str, a: str, b: str
) -> PairedDifference | None:
    """What run ``b`` has more than run ``a`` on the same examples of a task or group."""
    comparison = comparer.between(a, b, filter_name)
    for line in comparison.lines if comparison else ():
        if line.breakdown is None and (line.task, line.metric) == (task, metric):
            reach = f" ({_interval(line)})" if _interval(line) else ""
            return PairedDifference(
                f"{_signed(line.contrast.difference * line.facts.scale)} points{reach}", line.is_significant
            )
    return None


def comparison_section(comparer: Comparer, filters: Iterable[str]) -> Section | None:
    """Differences of whole tasks and of breakdowns, and what flipped; None without a comparison."""
    blocks: list[Block] = []
    baseline = ""
    for filter_name in filters:
        comparisons = comparer.with_first(filter_name)
        if not comparisons:
            continue
        baseline = comparisons[0].a.name
        blocks.append(_whole_tasks(comparisons, filter_name))
        blocks += [_parts(comparison, filter_name) for comparison in comparisons if _of_parts(comparison)]
        blocks.append(_flips(comparisons, filter_name))
    if not blocks:
        return None
    lead = (
        f"Each run minus {baseline}, the first, in points, on the examples that both have. p-values are corrected for "
        "the number of comparisons: by Holm's method for whole tasks, by Benjamini and Hochberg's for parts. A star "
        "marks those below 5 %."
    )
    return Section("comparison", "Comparison", f"with {baseline}", lead, blocks)


def _whole_tasks(comparisons: Sequence[Comparison], filter_name: str) -> Block:
    runs = [comparison.b.name for comparison in comparisons]
    lines = {c.b.name: [line for line in c.lines if line.breakdown is None] for c in comparisons}
    baseline = comparisons[0].a.name
    table = Table(
        f"Differences from {baseline} by task, {filter_name}",
        ["Task", "Run", "n", baseline, "Value", "Difference", "p"],
        text_columns=frozenset({0, 1}),
    )
    points: list[Point] = []
    names = list(dict.fromkeys((line.task, line.metric) for own in lines.values() for line in own))
    for task, metric in names:
        rows = [(run, line) for run in runs for line in lines[run] if (line.task, line.metric) == (task, metric)]
        for number, (run, line) in enumerate(rows):
            table.rows.append(
                [Cell(task if number == 0 else "", metric if number == 0 else ""), Cell(run), *_cells(line)]
            )
            points.append(_point(f"{_short(task, comparisons[0].a)} {metric}", run, line))
    label = f"Differences from {baseline} by task and run, with confidence intervals"
    colours = [baseline, *runs]
    figure = Figure(dot_plot(points, colours, label, "points", zero=True), f"Difference from {baseline}", "others")
    return Block("Whole tasks", "", [figure], [table], filter_name)


def _short(task: str, run: Run) -> str:
    """A task's name for a plot: the members of a group without the group's name."""
    group = next((name for name, group in run.groups.items() if task in group.tasks and task.startswith(name)), None)
    return task if group is None else words(task.removeprefix(f"{group}_"))


def _cells(line: Line) -> list[Cell]:
    own = line.contrast
    return [
        Cell(f"{own.n:,}"),
        Cell(line.facts.shown(own.a)),
        Cell(line.facts.shown(own.b)),
        Cell(_signed(own.difference * line.facts.scale), _interval(line), best=line.is_significant),
        Cell(_p(line.p_adjusted)),
    ]


def _interval(line: Line) -> str:
    low, high = line.contrast.low, line.contrast.high
    if low is None or high is None:
        return ""
    return f"{_signed(low * line.facts.scale)} to {_signed(high * line.facts.scale)}"


def _signed(points: float) -> str:
    return f"{points:+.1f}".replace("-", "−").replace("−0.0", "+0.0")


def _p(value: float) -> str:
    return ("< 0.001" if value < 0.001 else f"{value:.3f}") + (" *" if value < 0.05 else "")


def _point(group: str, run: str, line: Line) -> Point:
    own = line.contrast
    scale = line.facts.scale
    low, high = (scale * (own.difference if end is None else end) for end in (own.low, own.high))
    return Point(group, run, scale * own.difference, low, high)


def _of_parts(comparison: Comparison) -> list[Line]:
    return [line for line in comparison.lines if line.breakdown is not None]


def _parts(comparison: Comparison, filter_name: str) -> Block:
    lines = sorted(_of_parts(comparison), key=lambda line: (line.contrast.p, -abs(line.contrast.difference)))
    table = Table(
        f"{comparison.b.name} minus {comparison.a.name} by part, the clearest difference first, {filter_name}",
        ["Part", "Task", "n", comparison.a.name, comparison.b.name, "Difference", "p"],
        text_columns=frozenset({0, 1}),
        tall=len(lines) > 12,
    )
    for line in lines:
        href = samples_link(task=line.task, **{line.breakdown or "": line.group or ""})
        part = Cell(words(line.group or ""), line.breakdown or "", href)
        table.rows.append([part, Cell(line.task, line.metric), *_cells(line)])
    clear = sum(line.is_significant for line in lines)
    lead = f"{clear} of {len(lines)} parts differ by more than chance."
    return Block(f"Parts: {comparison.b.name} against {comparison.a.name}", lead, [], [table], filter_name)


def _flips(comparisons: Sequence[Comparison], filter_name: str) -> Block:
    baseline = comparisons[0].a.name
    table = Table(
        f"Examples that changed sides, {filter_name}",
        ["Task", "Run", "both right", f"only {baseline}", "only the run", "both wrong"],
        text_columns=frozenset({0, 1}),
    )
    tasks = dict.fromkeys(task for comparison in comparisons for task, _ in comparison.both_right)
    for task in tasks:
        rows = [comparison for comparison in comparisons if (task, filter_name) in comparison.both_right]
        for number, comparison in enumerate(rows):
            ways = [flip.direction for flip in comparison.flips if flip.task == task]
            table.rows.append(
                [
                    Cell(task if number == 0 else ""),
                    Cell(comparison.b.name, href=samples_link(task=task, run=comparison.b.name, result="disagree")),
                    Cell(f"{comparison.both_right[task, filter_name]:,}"),
                    Cell(f"{ways.count('lost'):,}"),
                    Cell(f"{ways.count('gained'):,}"),
                    Cell(f"{comparison.both_wrong[task, filter_name]:,}"),
                ]
            )
    return Block("What flipped", "", [], [table], filter_name)
