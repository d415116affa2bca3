"""Read saved runs of the harness: their tasks, groups, metrics and samples.

>>> from medtasks_utils.results import read_runs
>>> for run in read_runs("results"):                                # doctest: +SKIP
...     for task in run.tasks.values():
...         print(run.name, task.task, task.metrics, len(task.samples))
"""

from .run import Run, TaskRun
from .runs import as_run, is_copy, merged, name_apart, read_runs, united, with_baseline_first
from .samples import Sample

__all__ = [
    "Run",
    "Sample",
    "TaskRun",
    "as_run",
    "is_copy",
    "merged",
    "name_apart",
    "read_runs",
    "united",
    "with_baseline_first",
]
