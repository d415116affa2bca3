"""Arrange where runs differ: by part of a benchmark, and by question."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import NamedTuple

import numpy as np

from medtasks_utils.statistics.score_arrays import Mask

from .board import FEW, Board, Column, Score, common, scores_of
from .cautions import Part
from .drawing import samples_link
from .text import words

_BEYOND = 2.58  # standard errors, beyond which one of a hundred values lies by chance
_LEAST_VARIANCE = 900.0  # of a score in per cent, that of a share of 10 % or 90 %
SHOWN = 12
"""Maximum number of runs in a table of parts."""


class PartRow(NamedTuple):
    """A part with its number of examples, each run's score, and its shade by run: ``up``, ``dn`` or none."""

    label: str
    n: int
    scores: dict[str, Score]
    shades: dict[str, str]
    href: str


@dataclass
class PartTable:
    """Scores of a benchmark by category, such as the subject, easiest first.

    ``few`` contains the categories with too few examples for a row.
    """

    column: Column
    breakdown: str
    runs: list[str]
    rows: list[PartRow]
    few: list[PartRow]

    @property
    def cells(self) -> int:
        """The number of scores in the rows."""
        return sum(len(row.scores) for row in self.rows)

    @property
    def shaded(self) -> int:
        """The number of these that are shaded."""
        return sum(len(row.shades) for row in self.rows)

    @property
    def shaded_by_chance(self) -> str:
        """How many would be shaded if runs and parts differed only by their averages."""
        return f"about {self.cells / 100:.0f}" if self.cells >= 100 else "one at most"


def part_tables(board: Board, filter_name: str) -> list[PartTable]:
    """Return a table for each breakdown of each benchmark, with the scores of the benchmark's ranked runs on its parts.

    The scores are accuracies or, if the breakdown does not show ``acc``, values of its first metric. Breakdowns with
    fewer than two parts, and benchmarks without the filter, are left out. If no run is ranked, all runs with scores are
    shown.
    """
    tables = []
    for column in board.columns:
        topic, runs = column.topic, column.ranked or list(column.scores)
        for breakdown in topic.facts.breakdowns if filter_name in topic.filters else ():
            name = "acc" if "acc" in breakdown.metrics else next(iter(breakdown.metrics), "acc")
            metric, rows = topic.in_runs(filter_name, name).metric, []
            for group, estimates in topic.by_group(breakdown.name, filter_name, name).items():
                of_group = scores_of(estimates, metric)
                if scores := {run: of_group[run] for run in runs if run in of_group}:
                    rows.append(row_of(board, column, breakdown.name, group, scores))
            if len(rows) > 1:
                rows.sort(key=lambda row: -np.mean([score.value for score in row.scores.values()]))
                enough = [row for row in rows if row.n >= FEW]
                few = [row for row in rows if row.n < FEW]
                tables.append(PartTable(column, breakdown.name, runs, shade(enough), few))
    return tables


def row_of(board: Board, column: Column, breakdown: str, group: str, scores: dict[str, Score]) -> PartRow:
    """Return the row of a part, with the largest number of its examples in any run, and a link to its samples."""
    n = max(score.n for score in scores.values())
    href = samples_link(board.runs, a=next(iter(scores)), task=column.task, filter=column.filter, **{breakdown: group})
    return PartRow(words(group), n, scores, {}, href)


def shade(rows: Sequence[PartRow]) -> list[PartRow]:
    """Shade the cells that differ from the value predicted by the averages of their row and run.

    A cell is shaded if the difference is over 2.58 standard errors. Nothing is shaded with a single row or run.
    """
    total = sum(row.n for row in rows)
    if not total or len(rows) < 2:
        return list(rows)
    runs = list(rows[0].scores)
    of_run = {run: sum(row.scores[run].value * row.n for row in rows if run in row.scores) / total for run in runs}
    grand = np.mean(list(of_run.values()))
    shaded = []
    for row in rows:
        of_row = np.mean([score.value for score in row.scores.values()])
        shades = {}
        for run, score in row.scores.items() if len(runs) > 1 else ():
            error = np.sqrt(max(score.value * (100 - score.value), _LEAST_VARIANCE) / row.n)
            distance = (score.value - (of_row + of_run[run] - grand)) / error
            if abs(distance) > _BEYOND:
                shades[run] = "up" if distance > 0 else "dn"
        shaded.append(row._replace(shades=shades))
    return shaded


def judged_parts(table: PartTable) -> list[Part]:
    """Return the parts for the cautions, with each run's mean score on all other parts.

    A part is left out if one of its runs has no score on another part. Empty for the breakdown by label, or if the
    table shows only one of several runs.
    """
    parts: list[Part] = []
    all_rows = [*table.rows, *table.few]
    is_judged = table.breakdown != "label" and len(table.runs) >= min(2, len(table.column.scores))
    for row in table.rows if is_judged else ():
        others = [other for other in all_rows if other is not row]
        if not others or not all(row.scores.keys() <= other.scores.keys() for other in others):
            continue
        elsewhere = [
            float(np.average([other.scores[run].value for other in others], weights=[other.n for other in others]))
            for run in row.scores
        ]
        part = Part(
            benchmark=table.column.label,
            name=row.label,
            n=row.n,
            scores=list(row.scores.values()),
            elsewhere=elsewhere,
            chance=table.column.topic.guessing,
            href=row.href,
        )
        parts.append(part)
    return parts


# ---- questions


class Pattern(NamedTuple):
    """A combination of runs that are right on the same questions, or a number of such runs.

    Attributes:
        label: the combination, or the number of runs, as text.
        right: for each ranked run, whether it is right; empty for a number of runs.
        questions: the number of questions.
        href: a link to the questions.
    """

    label: str
    right: list[bool]
    questions: int
    href: str


def patterns(column: Column, runs: Sequence[str]) -> list[Pattern]:
    """Return the nine most frequent combinations of ranked runs that are right on a common question."""
    ranked, rights = column.ranked, _rights(column)
    rows = []
    for right, count in Counter(map(tuple, rights.T.tolist())).most_common(9):
        names = list(compress(ranked, right))
        missing = [run for run in ranked if run not in names]
        label = "no run" if not names else "all" if not missing else ", ".join(names)
        if 0 < len(missing) < len(names):
            label = f"all but {', '.join(missing)}"
        rows.append(Pattern(label, list(right), count, link_to(column, runs, f"right_in_{places_of(names, runs)}")))
    return rows


def by_number_right(column: Column, runs: Sequence[str]) -> list[Pattern]:
    """Return the number of questions that none, one, two and so on of the ranked runs get right."""
    rights, k = _rights(column), len(column.ranked)
    counts = np.bincount(rights.sum(axis=0), minlength=k + 1).tolist() if rights.size else []
    labels = ["no run", *map(str, range(1, k)), f"all {k}"]
    return [
        Pattern(label, [], count, link_to(column, runs, f"right_by_{number}"))
        for number, (label, count) in enumerate(zip(labels, counts, strict=False))
    ]


def link_to(column: Column, runs: Sequence[str], which: str) -> str:
    """Return a link to a selection of the questions that all ranked runs share."""
    among = places_of(column.ranked, runs)
    return samples_link(runs, task=column.task, filter=column.filter, which=which, among=among)


def places_of(names: Sequence[str], runs: Sequence[str]) -> str:
    """Return the indices of runs on the page, as links list them."""
    return ".".join(str(runs.index(run)) for run in names)


def _rights(column: Column) -> Mask:
    """Return whether each of k ranked runs is right on each of n common questions, shape ``(k, n)``.

    The array is empty for fewer than two ranked runs, or for tasks of no common benchmark.
    """
    if len(column.ranked) < 2 or not column.topic.benchmark_name:
        return np.zeros((0, 0), dtype=bool)
    return np.array([of_run.values > 0.5 for of_run in common(column.topic, column.ranked, column.filter, "acc")])
