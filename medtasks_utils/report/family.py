"""The comparisons of whole tasks that a page has, as one family."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from medtasks_utils.benchmarks import cards, metric_of
from medtasks_utils.compare import OF_GROUPS
from medtasks_utils.compare.family import Block, Family, family_of
from medtasks_utils.compare.pairing import common_examples
from medtasks_utils.compare.terms import Array, Item, terms_of
from medtasks_utils.metrics import OF_REPEATS
from medtasks_utils.results import Run, TaskRun
from medtasks_utils.results.breakdowns import blank_of, item_of
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
    for name in dict.fromkeys(name for run in runs for name in run.groups):
        members = next(run.groups[name].tasks for run in runs if name in run.groups)
        having = [run for run in runs if name in run.groups and set(run.groups[name].tasks) == set(members)]
        having = [run for run in having if all(m in run.tasks and run.tasks[m].samples for m in members)]
        if len(having) > 1 and members:
            yield _block([[run.tasks[member] for run in having] for member in members], OF_GROUPS, filters)


def _block(members: Sequence[Sequence[TaskRun]], metrics: Sequence[str], filters: Sequence[str]) -> Block:
    """A task of several runs, or the tasks of a group."""
    columns: list[Array] = []
    first: list[int] = []
    second: list[int] = []
    number = len(members[0])
    common = [common_examples(tasks) for tasks in members]
    for metric, filter_name in itertools.product(metrics, filters):
        known = np.zeros(number, dtype=bool)
        rows: list[list[Item]] = []
        for tasks, examples in zip(members, common, strict=True):
            for samples in examples:
                row: list[Item] = [item_of(sample, filter_name, metric, tasks[0].benchmark) for sample in samples]
                known |= [item is not None for item in row]
                if all(item is None for item in row):  # so that clusters have the same place for every metric
                    row[0] = blank_of(samples[0], tasks[0].benchmark)
                rows.append([item and item.in_stratum(tasks[0].task) for item in row] if len(members) > 1 else row)
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
