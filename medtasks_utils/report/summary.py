"""The summary: runs by benchmarks, signatures, and what to be wary of."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from medtasks_utils.harness.signature import digest
from medtasks_utils.results import Run, TaskRun

from .charts import dot_plot
from .tables import WITHOUT_QUESTION, Block, Cell, Table, estimate_cells, reached_cell
from .text import to_the_minute
from .units import SAME, Unit


def summary_block(runs: Sequence[Run], units: Sequence[Unit], filter_name: str) -> Block:
    """Runs by benchmarks under a filter: headline metrics with their signatures, the best marked where all compare."""
    names = [run.name for run in runs]
    table = Table("Values in percent", ["Run"], rows=[[Cell(run.name, to_the_minute(run.date))] for run in runs])
    points, marks, last = [], {}, [Cell(WITHOUT_QUESTION)]
    columns = [(unit, metric) for unit in units if filter_name in unit.filters for metric in unit.headline]
    for unit, metric in columns:
        facts, odd = unit.facts(metric), unit.odd_ones(filter_name, metric)
        title = f"{unit.label} {metric}"
        table.head.append(title)
        estimates = [unit.estimate(run, filter_name, metric) for run in names]
        cells = estimate_cells(estimates, facts, not odd, with_n=True)
        for run, row, cell, found in zip(names, table.rows, cells, estimates, strict=True):
            signatures = unit.results[run].signatures(filter_name) if run in unit.results else []
            code = f"#{digest(signatures, 6)}" if signatures else ""
            reason = odd.get(run, "") if found.value is not None else ""
            row.append(replace(cell, code=code, small=f"{cell.small}\n{reason}".strip()))
            points.append((title, run, found, facts))
        reached = unit.without_question(metric)
        last.append(reached_cell(reached, facts))
        if reached is not None:
            marks[title] = facts.scale * reached.value
    if marks:
        table.rows.append(last)
        table.total = 1
    plot = dot_plot(points, names, "Headline metrics with 95 % confidence intervals", marks=marks)
    return Block("Runs by benchmarks", table, plot, filter=filter_name)


def signature_table(runs: Sequence[Run], units: Sequence[Unit]) -> Table:
    """What stands behind each number; equal signatures in a column of the summary mean comparable numbers."""
    caption = "Signatures: everything that two numbers must share to be comparable"
    table = Table(caption, ["Short", "Run", "Signature"], texts=3)
    found: dict[tuple[str, ...], list[str]] = {}
    for unit in units:
        for run, result in unit.results.items():
            for filter_name in unit.filters:
                found.setdefault(tuple(result.signatures(filter_name)), []).append(run)
    for signatures, names in found.items():
        whose = "all runs" if len(names) == len(runs) > 1 else ", ".join(names)
        if signatures:
            long = Cell("", code=" ".join(signatures))
            table.rows.append([Cell(f"#{digest(list(signatures), 6)}"), Cell(whose), long])
    return table


# ---- problems


def partial_runs(runs: Sequence[Run]) -> list[str]:
    """Runs over a part of their tasks' examples only, as ``--limit`` makes them; a sentence each."""
    found = []
    for run in runs:
        partial = {task: n for task, n in run.counts.items() if n["effective"] < n["original"]}
        parts = [f"{n['effective']:,} of {n['original']:,} of {task}" for task, n in partial.items()]
        if parts:
            limit = run.setting("limit")
            setting = f" (--limit {limit:g})" if isinstance(limit, int | float) else ""
            found.append(f"{run.name}{setting}: {', '.join(parts)}")
    return found


def has_scores(run: Run) -> bool:
    """Whether a run is more than the responses that ``--predict_only`` keeps, whose one metric is ``bypass``."""
    metrics = {metric for task in run.tasks.values() for metric, _ in task.metrics}
    return bool(run.tasks) and metrics != {"bypass"}


def problems(runs: Sequence[Run]) -> list[str]:
    """What to be wary of: rows left out, files that could not be read, samples that are missing."""
    found: list[str] = []
    for run in runs:
        found += [f"{run.name}: {problem}" for problem in run.problems]
        if has_scores(run):
            found += [problem for task in run.tasks.values() for problem in problems_of(run, task)]
        else:
            found.append(f"{run.name}: left out, it has no scores, as after --predict_only")
    return found


def problems_of(run: Run, task: TaskRun) -> list[str]:
    """What to be wary of in one task of a run."""
    found = [*task.problems, *(f"{task.task}: {said}" for said in (*task.remarks, *_switched(task)))]
    count = run.counts.get(task.task, {}).get("effective")
    if count and task.samples_path and len(task.samples) < count:
        found.append(f"{task.task}: {len(task.samples):,} of {count:,} samples are in its log")
    return [f"{run.name}: {problem}" for problem in found]


@lru_cache(maxsize=1024)  # asked for the page, and for the terminal
def _switched(task: TaskRun) -> list[str]:
    """The metrics of a task of this pack whose reported value the samples do not give, in words."""
    found = []
    for (name, filter_name), reported in task.metrics.items() if task.card and task.samples else ():
        facts = task.facts(name)
        of_samples = facts.aggregation.value(task.scores(filter_name, name))
        if of_samples is not None and abs(of_samples - reported.value) >= SAME:
            shown = facts.shown(reported.value), facts.shown(of_samples)
            found.append(f"{name} ({filter_name}) is {shown[0]} as reported, but {shown[1]} by the samples")
    return found
