"""The section that compares every run with a baseline, on the same examples; for each baseline that can be chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from medtasks_utils.compare import Line
from medtasks_utils.report.charts import Point, dot_plot
from medtasks_utils.report.pairs import Comparer, Paired, signed
from medtasks_utils.report.ranking import ranking_blocks
from medtasks_utils.report.tables import Block, Cell, Section, Table, interval, samples_link
from medtasks_utils.report.text import words
from medtasks_utils.report.units import arrange
from medtasks_utils.results import Run

_LEAD = (
    "Each run minus the baseline, in points, on the same examples. p-values are corrected by Holm's method over all "
    "pairs of runs and all filters, those of whole tasks and those of parts. A star marks those below 5 %. "
    '"Too few differ" is said of an interval that rests on fewer than ten informative clusters: some five examples '
    "that only one of the runs has right. An interval is for its pair alone, so it may exclude zero without a star. "
    "MDE is the smallest true difference that is found four times of five. Results over other examples, or asked or "
    "scored in another way, are not compared."
)


def comparison_section(runs: Sequence[Run], comparer: Comparer, filters: Sequence[str]) -> Section | None:
    """Differences of whole tasks and of breakdowns, and what flipped; None where no two runs share a task."""
    blocks: list[Block] = []
    notes: dict[str, None] = {}
    for baseline in comparer.names:
        for filter_name in filters:
            pairs = [pair for pair in comparer.with_baseline(baseline, filter_name) if pair.lines or pair.refused]
            own = [_whole_tasks(baseline, pairs, comparer.names), *map(_parts, pairs), _flips(baseline, pairs)]
            there = [block for block in own if block.table.rows]
            blocks += [replace(block, baseline=baseline, filter=filter_name) for block in there]
            once = [pair for pair in pairs if pair.a < pair.b]
            notes |= dict.fromkeys(f"{pair.a} and {pair.b}: {said}" for pair in once for said in pair.warnings)
    if not blocks:
        return None
    if len(runs) > len(comparer.names):
        several = f"{len(comparer.names)} of {len(runs)} runs"
        notes[f"{several} are compared and drawn; the paths given first to medtasks report are."] = None
    blocks += ranking_blocks(arrange(runs[: len(comparer.names)]), filters)
    return Section("comparison", "Comparison", "with a baseline", _LEAD, blocks, list(notes))


def _whole_tasks(baseline: str, pairs: Sequence[Paired], names: Sequence[str]) -> Block:
    head = ["Task", "Run", "n", baseline, "Value", "Difference", "MDE", "p"]
    table = Table(f"Differences from {baseline} by task", head, texts=2)
    points: list[Point] = []
    whole = [(pair.b, line) for pair in pairs for line in pair.lines if line.breakdown is None]
    for task, metric in dict.fromkeys((line.task, line.metric) for _, line in whole):
        for run, line in whole:
            if (line.task, line.metric) == (task, metric):
                table.rows.append([Cell(task, metric), Cell(run), *_cells(line)])
                own = line.contrast
                name = f"{words(task)} {metric}"
                points.append(Point(name, run, own.difference, own.low, own.high, line.facts.scale))
    for task in dict.fromkeys(task for pair in pairs for task in pair.refused):
        for pair in pairs:
            if task in pair.refused:
                why = Cell("not compared", pair.refused[task])
                none = Cell("–")
                table.rows.append([Cell(task), Cell(pair.b), none, none, none, why, none, none])
    caption = f"Difference from {baseline}"
    plot = dot_plot(points, names, caption, f"{caption} by task, with confidence intervals", "points", zero=True)
    return Block(f"Whole tasks, each minus {baseline}", table, plot)


def _cells(line: Line) -> list[Cell]:
    own, facts = line.contrast, line.facts
    ends = interval(own, lambda value: signed(value * facts.scale), "\n")
    p = "too few" if line.p_adjusted is None else "< 0.001" if line.p_adjusted < 0.001 else f"{line.p_adjusted:.3f}"
    return [
        Cell(f"{own.n:,}"),
        Cell(facts.shown(own.a)),
        Cell(facts.shown(own.b)),
        Cell(signed(own.difference * facts.scale), ends, best=line.is_significant),
        Cell(facts.detectable(own.detectable)),
        Cell(f"{p} *" if line.is_significant else p, own.note),
    ]


def _parts(pair: Paired) -> Block:
    def clearest_first(line: Line) -> tuple[float, float]:
        return 1.0 if line.p_adjusted is None else line.p_adjusted, -abs(line.contrast.difference)

    lines = sorted((line for line in pair.lines if line.breakdown), key=clearest_first)
    caption = f"{pair.b} minus {pair.a} by part, the clearest difference first"
    table = Table(caption, ["Part", "Task", "n", pair.a, pair.b, "Difference", "MDE", "p"], texts=2)
    for line in lines:
        group, breakdown = line.group or "", line.breakdown or ""
        part = Cell(words(group), breakdown, samples_link(task=line.task, **{breakdown: group}))
        table.rows.append([part, Cell(line.task, line.metric), *_cells(line)])
    clear = sum(line.is_significant for line in lines)
    lead = f"{clear} of {len(lines)} parts differ by more than chance."
    return Block(f"Parts: {pair.b} minus {pair.a}", table, lead=lead, folded=not clear)


def _flips(baseline: str, pairs: Sequence[Paired]) -> Block:
    head = ["Task", "Run", "both right", f"only {baseline}", "only the run", "both wrong"]
    table = Table("Examples that changed sides", head, texts=2)
    for task in dict.fromkeys(task for pair in pairs for task in pair.sides):
        for pair in pairs:
            own = pair.sides.get(task)
            if own is None:
                continue
            of_one = [
                Cell(_number(count), href=samples_link(task=task, result=only, a=baseline, b=pair.b) if count else "")
                for count, only in ((own.lost, "only-a"), (own.gained, "only-b"))
            ]
            both, neither = Cell(_number(own.both_right)), Cell(_number(own.both_wrong))
            table.rows.append([Cell(task), Cell(pair.b), both, *of_one, neither])
    return Block("What flipped", table)


def _number(count: float) -> str:
    """A count; with repeats, the number expected of one generation of each run."""
    return f"{count:,.1f}".removesuffix(".0")
