"""The comparisons of whole tasks that a page has, as one family."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from medtasks_utils.benchmarks import cards, metric_of
from medtasks_utils.compare import OF_GROUPS
from medtasks_utils.compare.family import Block, Family, family_of
from medtasks_utils.compare.pairing import all_examples
from medtasks_utils.compare.terms import Array, Item, terms_of
from medtasks_utils.metrics import OF_REPEATS
from medtasks_utils.results import Run, Sample, TaskRun
from medtasks_utils.results.breakdowns import blank_of, items_of
from medtasks_utils.statistics import Total, macro_mean, mean


def page_family(runs: Sequence[Run], filters: Sequence[str]) -> Family:
    """All pairs of runs at each task and group of tasks that both have, by each metric compared and each filter."""
    return family_of(block for block in _blocks(runs, filters) if len(block.first))


def _blocks(runs: Sequence[Run], filters: Sequence[str]) -> Iterator[Block]:
    for name in dict.fromkeys(name for run in runs for name in run.tasks):
        tasks = [run.tasks[name] for run in runs if name in run.tasks]
        own = [task for task in tasks if task.benchmark and task.samples]
        if len(own) > 1:
            compared = (*cards()[own[0].benchmark or ""].compared, *(metric.name for metric in OF_REPEATS))
            yield _block([own], compared, filters)
    for name, members in dict.fromkeys(
        (name, tuple(sorted(g.tasks))) for run in runs for name, g in run.groups.items()
    ):
        having = [run for run in runs if name in run.groups and tuple(sorted(run.groups[name].tasks)) == members]
        having = [run for run in having if all(m in run.tasks and run.tasks[m].samples for m in members)]
        if len(having) > 1 and members:
            yield _block([[run.tasks[member] for run in having] for member in members], OF_GROUPS, filters)


def _row(
    samples: Sequence[Sample | None], filter_name: str, metric: str, benchmark: str | None, stratum: str | None
) -> list[Item]:
    """An example's values; if there is none, one that counts nothing, so that clusters keep their place."""
    row = items_of(samples, filter_name, metric, benchmark, stratum)
    if all(item is None for item in row):
        blank = blank_of(next(filter(None, samples)), benchmark)
        row[0] = blank if stratum is None else blank.in_stratum(stratum)
    return row


def _block(members: Sequence[Sequence[TaskRun]], metrics: Sequence[str], filters: Sequence[str]) -> Block:
    """A task of several runs, or the tasks of a group."""
    columns: list[Array] = []
    first: list[int] = []
    second: list[int] = []
    number = len(members[0])
    every = [all_examples(tasks) for tasks in members]
    for metric, filter_name in itertools.product(metrics, filters):
        rows = [
            _row(samples, filter_name, metric, tasks[0].benchmark, tasks[0].task if len(members) > 1 else None)
            for tasks, examples in zip(members, every, strict=True)
            for samples in examples
        ]
        known = np.array([[item is not None and item.valid > 0 for item in row] for row in rows]).any(axis=0)
        if known.sum() < 2:
            continue
        facts = metric_of(metric, members[0][0].benchmark)
        aggregation = mean if isinstance(facts.aggregation, Total) else facts.aggregation
        terms, _ = terms_of(rows, macro_mean if len(members) > 1 else aggregation, number)
        for a, b in itertools.combinations(np.flatnonzero(known).tolist(), 2):
            first.append(len(columns) + a)
            second.append(len(columns) + b)
        columns += [own.influence for own in terms]
    return Block(np.column_stack(columns or [np.zeros(1)]), np.array(first, dtype=int), np.array(second, dtype=int))
