"""The section that compares every run with a baseline, on the same examples; for each baseline that can be chosen."""

from __future__ import annotations

from collections.abc import Sequence

from medtasks_utils.compare import Line
from medtasks_utils.report.charts import MAX_RUNS, Point, dot_plot
from medtasks_utils.report.pairs import Comparer, Paired, interval_of, signed
from medtasks_utils.report.ranking import rankable, ranking_block
from medtasks_utils.report.tables import Block, Cell, Figure, Section, Table, named_once, samples_link
from medtasks_utils.report.text import words
from medtasks_utils.report.units import arrange
from medtasks_utils.results import Run


def comparison_section(runs: Sequence[Run], comparer: Comparer, filters: Sequence[str]) -> Section | None:
    """Differences of whole tasks and of breakdowns, and what flipped; None where no two runs share a task."""
    blocks: list[Block] = []
    notes: dict[str, None] = {}
    units = arrange(runs[:MAX_RUNS])
    rankings = sum(len(rankable(units, name)) for name in filters)
    groups = {name: group.tasks for run in runs for name, group in run.groups.items()}
    for baseline in comparer.names:
        for filter_name in filters:
            pairs = [pair for pair in comparer.with_baseline(baseline, filter_name) if pair.lines or pair.refused]
            if not pairs:
                continue
            own = [_whole_tasks(pairs, comparer.names, groups, filter_name)]
            own += [_parts(pair, filter_name) for pair in pairs if _of_parts(pair)]
            own += [_flips(pairs, filter_name)] if any(pair.sides for pair in pairs) else []
            for block in own:
                block.baseline = baseline
            blocks += own
            if baseline == comparer.names[0]:
                blocks += ranking_block(units, filter_name, rankings)
                notes |= dict.fromkeys(f"{p.a} and {p.b}: {warning}" for p in pairs for warning in p.warnings)
    if not blocks:
        return None
    if len(runs) > MAX_RUNS:
        notes[f"{MAX_RUNS} of {len(runs)} runs are compared; medtasks report --compare RUN… chooses which."] = None
    lead = (
        "Each run minus the baseline, in points, on the same examples. p-values are corrected by Holm's method "
        "over all pairs of runs and all filters, those of whole tasks and those of parts. A star marks those below"
        " 5 %. "
        '"Too few differ" is said of an interval that rests on fewer than ten informative clusters: some five '
        "examples "
        "that only one of the runs has right. An interval is for its pair alone, so it may exclude zero without a "
        "star. "
        "MDE is the smallest true difference that is found four times of five. "
        "Results over other examples, or asked or scored in another way, are not compared."
    )
    return Section("comparison", "Comparison", "with a baseline", lead, blocks, list(notes))


def _whole_tasks(
    pairs: Sequence[Paired], names: Sequence[str], groups: dict[str, list[str]], filter_name: str
) -> Block:
    baseline = pairs[0].a
    table = Table(
        f"Differences from {baseline} by task, {filter_name}",
        ["Task", "Run", "n", baseline, "Value", "Difference", "MDE", "p"],
        text_columns=frozenset({0, 1}),
    )
    points: list[Point] = []
    whole = {pair.b: [line for line in pair.lines if line.breakdown is None] for pair in pairs}
    keys = dict.fromkeys((line.task, line.metric) for lines in whole.values() for line in lines)
    refused = dict.fromkeys(task for pair in pairs for task in pair.refused)
    for task in [
        *(task for task in refused if task not in {task for task, _ in keys}),
        *dict.fromkeys(t for t, _ in keys),
    ]:
        metrics = [metric for name, metric in keys if name == task] or [""]
        for metric in metrics:
            rows = []
            for pair in pairs:
                found = [line for line in whole[pair.b] if (line.task, line.metric) == (task, metric)]
                if task in pair.refused and metric == metrics[0]:
                    why = [Cell("–"), Cell("–"), Cell("–"), Cell("not compared", pair.refused[task]), Cell("–")]
                    rows.append((pair.b, why))
                for line in found:
                    rows.append((pair.b, _cells(line)))
                    own, name = line.contrast, f"{_short(task, groups)} {metric}"
                    points.append(Point.of(name, pair.b, own.difference, own.low, own.high, line.facts.scale))
            table.rows += [[named_once(task, i, metric), Cell(run), *cells] for i, (run, cells) in enumerate(rows)]
    label = f"Differences from {baseline} by task and run, with confidence intervals"
    drawn = dot_plot(points, names, label, "points", zero=True)
    figures = [Figure(drawn, f"Difference from {baseline}", "runs", [pair.b for pair in pairs])] if points else []
    return Block(f"Whole tasks, each minus {baseline}", "", figures, [table], filter_name)


def _short(task: str, groups: dict[str, list[str]]) -> str:
    """A task's name for a plot: the members of a group without the group's name."""
    group = next((name for name, tasks in groups.items() if task in tasks and task.startswith(f"{name}_")), None)
    return task if group is None else words(task.removeprefix(f"{group}_"))


def _cells(line: Line) -> list[Cell]:
    own = line.contrast
    return [
        Cell(f"{own.n:,}"),
        Cell(line.facts.shown(own.a)),
        Cell(line.facts.shown(own.b)),
        Cell(signed(own.difference * line.facts.scale), interval_of(line, "\n"), best=line.is_significant),
        Cell(line.facts.detectable(own.detectable)),
        Cell(_p(line.p_adjusted), own.note),
    ]


def _p(value: float | None) -> str:
    if value is None:
        return "too few"
    return ("< 0.001" if value < 0.001 else f"{value:.3f}") + (" *" if value < 0.05 else "")


def _of_parts(pair: Paired) -> list[Line]:
    return [line for line in pair.lines if line.breakdown is not None]


def _parts(pair: Paired, filter_name: str) -> Block:
    lines = sorted(_of_parts(pair), key=_clearest_first)
    table = Table(
        f"{pair.b} minus {pair.a} by part, the clearest difference first, {filter_name}",
        ["Part", "Task", "n", pair.a, pair.b, "Difference", "MDE", "p"],
        text_columns=frozenset({0, 1}),
        tall=len(lines) > 12,
    )
    for line in lines:
        href = samples_link(task=line.task, **{line.breakdown or "": line.group or ""})
        part = Cell(words(line.group or ""), line.breakdown or "", href)
        table.rows.append([part, Cell(line.task, line.metric), *_cells(line)])
    clear = sum(line.is_significant for line in lines)
    lead = f"{clear} of {len(lines)} parts differ by more than chance."
    return Block(f"Parts: {pair.b} minus {pair.a}", lead, [], [table], filter_name, folded=not clear)


def _clearest_first(line: Line) -> tuple[float, float]:
    return 1.0 if line.p_adjusted is None else line.p_adjusted, -abs(line.contrast.difference)


def _flips(pairs: Sequence[Paired], filter_name: str) -> Block:
    baseline = pairs[0].a
    table = Table(
        f"Examples that changed sides, {filter_name}",
        ["Task", "Run", "both right", f"only {baseline}", "only the run", "both wrong"],
        text_columns=frozenset({0, 1}),
    )
    for task in dict.fromkeys(task for pair in pairs for task in pair.sides):
        for number, pair in enumerate(pair for pair in pairs if task in pair.sides):
            own = pair.sides[task]
            of_one = [
                Cell(_number(count), href=samples_link(task=task, result=only, a=baseline, b=pair.b) if count else "")
                for count, only in ((own.lost, "only-a"), (own.gained, "only-b"))
            ]
            both, neither = Cell(_number(own.both_right)), Cell(_number(own.both_wrong))
            table.rows.append([named_once(task, number), Cell(pair.b), both, *of_one, neither])
    return Block("What flipped", "", [], [table], filter_name)


def _number(count: float) -> str:
    """A count; with repeats, the number expected of one generation of each run."""
    return f"{count:,.0f}" if float(count).is_integer() else f"{count:,.1f}"
