"""Collect warnings about the numbers of runs."""

from collections.abc import Sequence

from medtasks_utils.results import Run, TaskRun

from .topics import TOLERANCE


def problems(runs: Sequence[Run]) -> list[str]:
    """Return warnings: problems in files, runs without scores, and those of :func:`problems_of` for each task."""
    warnings: list[str] = []
    for run in runs:
        warnings += [f"{run.name}: {problem}" for problem in run.problems]
        if run.has_scores:
            for task in run.tasks.values():
                warnings += problems_of(run, task)
        elif not run.notes:
            warnings.append(f"{run.name}: left out, since it has no scores (for example after --predict_only)")
    return warnings


def problems_of(run: Run, task: TaskRun) -> list[str]:
    """Return the warnings about a task of a run: problems, remarks, missing samples, and contradictory values."""
    warnings = [*task.problems, *(f"{task.task}: {text}" for text in (*task.remarks, *_contradictions(task)))]
    warnings += task.note_on_filter
    if task.samples_path and len(task.samples) < task.asked:
        warnings.append(f"{task.task}: its log has only {len(task.samples):,} of {task.asked:,} samples")
    return [f"{run.name}: {warning}" for warning in warnings]


def _contradictions(task: TaskRun) -> list[str]:
    """Return a sentence for each metric whose reported value differs from that of the samples."""
    sentences = []
    for (name, filter_name), reported in task.metrics.items() if task.benchmark and task.samples else ():
        metric = task.metric(name)
        of_samples = metric.aggregation.value(task.metric_scores(filter_name, name))
        if of_samples is not None and abs(of_samples - reported.value) >= TOLERANCE:
            shown = metric.shown(reported.value), metric.shown(of_samples)
            sentences.append(f"{name} ({filter_name}) is reported as {shown[0]}, but is {shown[1]} in the samples")
    return sentences
