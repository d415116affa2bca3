"""The summary: runs by benchmarks, where the points go, signatures, and what to be wary of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from medtasks_utils.harness.signature import digest
from medtasks_utils.report.answers import outcome_block
from medtasks_utils.report.charts import MAX_RUNS, Point, dot_plot
from medtasks_utils.report.tables import Block, Cell, Figure, Table, estimate_cell, mark_best
from medtasks_utils.report.text import to_the_minute
from medtasks_utils.report.units import Unit, switched
from medtasks_utils.results import Run, TaskRun
from medtasks_utils.results.samples import STRICT

_NAMED = 6  # tasks of which a sentence says how much of them was run


def summary_blocks(runs: Sequence[Run], units: Sequence[Unit]) -> list[Block]:
    """Runs by benchmarks under each filter, then where the points go."""
    filters = list(dict.fromkeys(name for unit in units for name in unit.filters))
    blocks = []
    for filter_name in sorted(filters, key=lambda name: name != STRICT):
        columns = [(u, metric) for u in units if filter_name in u.filters for metric in u.headline]
        table = Table(
            f"Values in percent, {filter_name}",
            ["Run", *(f"{unit.label} {metric}" for unit, metric in columns)],
            rows=[[Cell(run.name, to_the_minute(run.date))] for run in runs],
        )
        points: list[Point] = []
        for unit, metric in columns:
            for row, cell in zip(table.rows, _column(unit, runs, filter_name, metric), strict=True):
                row.append(cell)
            for run in runs[:MAX_RUNS]:
                own = unit.estimate(run.name, filter_name, metric)
                if own.value is not None:
                    scale = unit.facts(metric).scale
                    points.append(Point.of(f"{unit.label} {metric}", run.name, own.value, own.low, own.high, scale))
        names = [run.name for run in runs[:MAX_RUNS]]
        figures = []
        if points:
            label = f"Headline metrics of {', '.join(names)} with confidence intervals, {filter_name}"
            figures = [Figure(dot_plot(points, names, label), f"With 95 % confidence intervals, {filter_name}", "runs")]
        blocks.append(Block("Runs by benchmarks", "", figures, [table], filter_name))
    return blocks + outcome_block([unit for unit in units if unit.benchmark])


def _column(unit: Unit, runs: Sequence[Run], filter_name: str, metric: str) -> list[Cell]:
    """A metric of every run, with its signature; the best marked if all can be compared."""
    estimates = [unit.estimate(run.name, filter_name, metric) for run in runs]
    cells = [
        _with_signature(estimate_cell(estimate, unit.facts(metric), with_n=True), unit, run.name, filter_name)
        for estimate, run in zip(estimates, runs, strict=True)
    ]
    odd = unit.odd_ones(filter_name, metric)
    reasons = [odd.get(run.name, "") for run in runs]
    return mark_best(cells, estimates, reasons=reasons)


def _with_signature(cell: Cell, unit: Unit, run: str, filter_name: str) -> Cell:
    result = unit.results.get(run)
    signatures = result.signatures(filter_name) if result else []
    return replace(cell, code=f"#{digest(signatures, 6)}" if signatures else "")


def signature_table(runs: Sequence[Run], units: Sequence[Unit]) -> Table | None:
    """What stands behind each number; equal signatures in a column of the summary mean comparable numbers."""
    table = Table(
        "Signatures: everything that two numbers must share to be comparable",
        ["Short", "Run", "Signature"],
        text_columns=frozenset({0, 1, 2}),
        tall=True,
    )
    found: dict[tuple[str, ...], list[str]] = {}
    for unit in units:
        for run in runs:
            result = unit.results.get(run.name)
            for filter_name in unit.filters:
                signatures = tuple(result.signatures(filter_name)) if result else ()
                if signatures:
                    found.setdefault(signatures, []).append(run.name)
    for signatures, names in found.items():
        whose = ", ".join(names) if len(names) < len(runs) or len(runs) == 1 else "all runs"
        table.rows.append([Cell(f"#{digest(list(signatures), 6)}"), Cell(whose), Cell("", code=" ".join(signatures))])
    return table if table.rows else None


# ---- problems


def partial_runs(runs: Sequence[Run]) -> list[str]:
    """Runs over a part of their tasks' examples only, as ``--limit`` makes them; a sentence each."""
    found = []
    for run in runs:
        known = [(task, n.get("effective"), n.get("original")) for task, n in run.counts.items()]
        parts = [f"{part:,} of {whole:,} of {task}" for task, part, whole in known if part and whole and part < whole]
        if parts:
            limit = run.setting("limit")
            setting = f" (--limit {limit:g})" if isinstance(limit, int | float) else ""
            found.append(f"{run.name}{setting}: {', '.join(parts[:_NAMED])}{', …' if len(parts) > _NAMED else ''}")
    return found


def problems(runs: Sequence[Run]) -> list[str]:
    """What to be wary of: rows left out, files that could not be read, samples that are missing."""
    found: list[str] = []
    for run in runs:
        found += [f"{run.name}: {problem}" for problem in run.problems]
        found += [problem for task in run.tasks.values() for problem in problems_of(run, task)]
    return found


def problems_of(run: Run, task: TaskRun) -> list[str]:
    """What to be wary of in one task of a run."""
    found = [f"{run.name}: {problem}" for problem in task.problems]
    found += [f"{run.name}: {task.task}: {remark}" for remark in task.remarks]
    found += [f"{run.name}: {task.task}: {said}" for said in switched(task)]
    count = run.counts.get(task.task, {}).get("effective")
    if isinstance(count, int) and task.samples_path and len(task.samples) < count:
        found.append(f"{run.name}: {task.task}: {len(task.samples):,} of {count:,} samples are in its log")
    return found
