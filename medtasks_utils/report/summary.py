"""The summary: runs by benchmarks, their signatures, and warnings."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from medtasks_utils.harness.signature import digest
from medtasks_utils.results import Run, TaskRun

from .charts import dot_plot
from .report_tables import WITHOUT_QUESTION, Block, Cell, ReportTable, estimate_cells, reached_cell
from .text import to_the_minute
from .topics import TOLERANCE, Topic


def summary_block(runs: Sequence[Run], topics: Sequence[Topic], filter_name: str) -> Block:
    """Return headline metrics by run and benchmark, with signatures; the best is marked if all runs are comparable."""
    names = [run.name for run in runs]
    columns = [(topic, metric) for topic in topics if filter_name in topic.filters for metric in topic.headline]
    are_shares = {topic.metric(metric).unit == "share" for topic, metric in columns}
    caption = "Values in percent" if are_shares <= {True} else "Shares in percent, other values as they are"
    table = ReportTable(caption, ["Run"], rows=[[Cell(run.name, to_the_minute(run.date))] for run in runs])
    points, marks, last_row = [], {}, [Cell(WITHOUT_QUESTION)]
    for topic, metric_name in columns:
        metric, incomparable = topic.metric(metric_name), topic.incomparable_runs(filter_name, metric_name)
        title = f"{topic.label} {metric_name}"
        table.head.append(title)
        estimates = [topic.estimate(run, filter_name, metric_name) for run in names]
        cells = estimate_cells(estimates, metric, not incomparable, with_n=True)
        for run, row, cell, result in zip(names, table.rows, cells, estimates, strict=True):
            signatures = topic.results[run].signatures(filter_name) if run in topic.results else []
            code = f"#{digest(signatures, 6)}" if signatures else ""
            reason = incomparable.get(run, "") if result.value is not None else ""
            row.append(replace(cell, code=code, small=f"{cell.small}\n{reason}".strip()))
            points.append((title, run, result, metric))
        reached = topic.without_question(metric_name)
        last_row.append(reached_cell(reached, metric))
        if reached is not None:
            marks[title] = metric.scale * reached.value
    if marks:
        table.rows.append(last_row)
        table.total = 1
    plot = dot_plot(points, names, "Headline metrics with 95 % confidence intervals", without_question=marks)
    return Block("Runs by benchmarks", table, plot, filter=filter_name)


def signature_table(runs: Sequence[Run], topics: Sequence[Topic]) -> ReportTable:
    """Return the signatures of all numbers; numbers of one column with equal signatures are comparable."""
    caption = "Signatures: everything that two numbers must share to be comparable"
    table = ReportTable(caption, ["Short", "Run", "Signature"], texts=3)
    runs_by_signatures: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for topic in topics:
        for run, result in topic.results.items():
            for filter_name in topic.filters:
                runs_by_signatures[tuple(result.signatures(filter_name))].append(run)
    runs_by_signatures.pop((), None)
    for signatures, names in runs_by_signatures.items():
        holders = "all runs" if len(names) == len(runs) > 1 else ", ".join(names)
        short = f"#{digest(list(signatures), 6)}"
        table.rows.append([Cell(short), Cell(holders), Cell("", code=" ".join(signatures))])
    return table


# ---- warnings


def partial_runs(runs: Sequence[Run]) -> list[str]:
    """Return a sentence for each run over a part of the examples, as ``--limit`` makes it."""
    sentences = []
    for run in runs:
        partial = {task: n for task, n in run.counts.items() if n["effective"] < n["original"]}
        parts = [f"{n['effective']:,} of {n['original']:,} of {task}" for task, n in partial.items()]
        if parts:
            limit = run.setting("limit")
            setting = f" (--limit {limit:g})" if isinstance(limit, int | float) else ""
            sentences.append(f"{run.name}{setting}: {', '.join(parts)}")
    return sentences


def has_scores(run: Run) -> bool:
    """Return whether a run has scores, and not only responses as after ``--predict_only``, whose metric is bypass."""
    metrics = {metric for task in run.tasks.values() for metric, _ in task.metrics}
    return bool(run.tasks) and metrics != {"bypass"}


def problems(runs: Sequence[Run]) -> list[str]:
    """Return warnings: rows left out, files that could not be read, samples that are missing, runs without scores."""
    warnings: list[str] = []
    for run in runs:
        warnings += [f"{run.name}: {problem}" for problem in run.problems]
        if has_scores(run):
            for task in run.tasks.values():
                warnings += problems_of(run, task)
        else:
            warnings.append(f"{run.name}: left out, because it has no scores, as after --predict_only")
    return warnings


def problems_of(run: Run, task: TaskRun) -> list[str]:
    """Return the warnings of one task of a run."""
    warnings = [*task.problems, *(f"{task.task}: {text}" for text in (*task.remarks, *_contradictions(task)))]
    count = run.counts.get(task.task, {}).get("effective")
    if count and task.samples_path and len(task.samples) < count:
        warnings.append(f"{task.task}: {len(task.samples):,} of {count:,} samples are in its log")
    return [f"{run.name}: {warning}" for warning in warnings]


@lru_cache(maxsize=1024)  # called for the page and for the terminal
def _contradictions(task: TaskRun) -> list[str]:
    """Return a sentence for each metric of a task of this pack whose samples give another value than was reported."""
    sentences = []
    for (name, filter_name), reported in task.metrics.items() if task.benchmark and task.samples else ():
        metric = task.metric(name)
        of_samples = metric.aggregation.value(task.scores(filter_name, name))
        if of_samples is not None and abs(of_samples - reported.value) >= TOLERANCE:
            shown = metric.shown(reported.value), metric.shown(of_samples)
            sentences.append(f"{name} ({filter_name}) is {shown[0]} as reported, but {shown[1]} by the samples")
    return sentences
