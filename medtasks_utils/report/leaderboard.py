"""Prepare the first screen of the page: scores by run and benchmark, ranks, and how examples ended."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from medtasks_utils.results import Run
from medtasks_utils.writing import JsonObject

from .outcomes import OUTCOMES, endings
from .ranking import Rank, ranks
from .report_tables import FigureRow, metric_row
from .text import listed, words
from .topics import Topic


@dataclass(kw_only=True)
class Column(FigureRow):
    """A benchmark's column under one filter. Lists and run numbers are in the order of the page's runs.

    Attributes:
        topic: the name of the task or group.
        metric: the first metric of the topic.
        ascending: True if smaller values are better; None if neither direction is better.
        is_overall: True if the column is a mean over benchmarks.
        ranks: each run's best rank, worst rank and letters; runs that share a letter do not differ significantly. None
            for a run that is not ranked.
        reasons: by run number, the reason why a run is not comparable with the others.
        unsampled: the numbers of comparable runs without samples, which are not ranked.
        reader: the classifier that reached the best score without the question; empty if this score is unknown.
        chance: the expected score of guessing, in per cent; None if answers are not chosen from a list.
    """

    topic: str
    metric: str
    ascending: bool | None
    is_overall: bool
    ranks: list[tuple[int, int, str] | None]
    reasons: dict[int, str]
    unsampled: list[int]
    reader: str
    chance: float | None

    @property
    def ends(self) -> tuple[int, int] | None:
        """The limits of an axis for all values, intervals and marks, as multiples of ten; None without values."""
        marks = [self.reached, self.chance, *chain.from_iterable(shown[:3] for shown in self.values if shown)]
        known = [mark for mark in marks if mark is not None]
        return (10 * math.floor(min(known) / 10), 10 * math.ceil(max(known) / 10 + 0.01)) if any(self.values) else None


def leaderboard(topics: Sequence[Topic], runs: Sequence[Run], filters: Sequence[str]) -> JsonObject:
    """Return the data of the page's first screen.

    ``columns`` and ``sentences`` are by filter; a topic that lacks the filter shows its own first filter. ``outcomes``
    has the meanings of outcomes, and ``ends`` the :func:`.outcomes.endings` of each topic in each run.
    """
    names = [run.name for run in runs]
    shown = [topic for topic in topics if topic.headline]
    ranks_by_topic = ranks(shown)
    columns = {filter_name: [_column(topic, filter_name, ranks_by_topic) for topic in shown] for filter_name in filters}
    return {
        "columns": columns,
        "sentences": {name: _sentences(of_filter, names) for name, of_filter in columns.items()},
        "outcomes": OUTCOMES,
        "ends": {
            topic.name: [endings(topic.results.get(name)) for name in names] for topic in topics if topic.benchmark_name
        },
    }


def _column(topic: Topic, filter_name: str, ranks_by_topic: dict[tuple[str, str], list[Rank]]) -> Column:
    """Return the column of a topic under a filter, or under the topic's first filter if it lacks ``filter_name``."""
    filter_name = filter_name if filter_name in topic.filters else topic.filters[0]
    values = topic.values[filter_name, topic.headline[0]]
    metric, reached = values.metric, values.without_question
    numbers = [topic.runs.index(run) for run in topic.results if run not in topic.rankable]
    by_run = {rank.run: rank[1:] for rank in ranks_by_topic.get((topic.name, filter_name), ())}
    return Column(
        **vars(metric_row(topic.runs, topic.label, values)),
        topic=topic.name,
        metric=metric.name,
        ascending=None if metric.higher_is_better is None else not metric.higher_is_better,
        is_overall=topic.is_overall,
        ranks=[by_run.get(name) for name in topic.runs],
        reasons=values.incomparable,
        unsampled=[run for run in numbers if run not in values.incomparable],
        reader=words(reached.reader) if reached else "",
        chance=_chance(topic, metric.name),
    )


def _chance(topic: Topic, metric: str) -> float | None:
    """Return the expected accuracy of guessing among the answers that do not abstain, in per cent.

    None for other metrics, and if the benchmark does not list its answers.
    """
    benchmark = topic.benchmark
    if benchmark is None or not metric.endswith("acc"):
        return None
    abstention = benchmark.report.abstention
    choices = benchmark.answers.keys() - {abstention and abstention.answer}
    return 100 / len(choices) if choices else None


# ---- who is first


def _sentences(columns: Sequence[Column], names: Sequence[str]) -> list[str]:
    """Return sentences that say which run leads on which benchmark, if any does, and which runs are not comparable."""
    titles_by_first: dict[tuple[str, ...], list[str]] = defaultdict(list)
    titles_by_unsampled: dict[tuple[str, ...], list[str]] = defaultdict(list)
    too_few = []
    incomparable: dict[tuple[str, str], list[str]] = defaultdict(list)
    for column in columns:
        title = "the mean of all benchmarks" if column.is_overall else column.label
        for run_number, reason in column.reasons.items():
            incomparable[names[run_number], reason].append(title + _would_lead(column, run_number))
        first = tuple(names[run_number] for run_number, rank in enumerate(column.ranks) if rank and rank[0] == 1)
        if first:
            titles_by_first[first].append(title)
        elif len(_comparable_values(column)) > 1 + len(column.unsampled):
            too_few.append(title)
        if column.unsampled and len(_comparable_values(column)) > 1:
            titles_by_unsampled[tuple(names[number] for number in column.unsampled)].append(title)
    sentences = []
    for runs, titles in sorted(titles_by_first.items(), key=lambda item: len(item[0]) > 1):
        if len(runs) == 1:
            sentences.append(f"{runs[0]} is best in {listed(titles)}.")
        else:
            sentences.append(f"In {listed(titles)}, the best is {listed(runs, 'or')}.")
    if too_few:
        sentences.append(f"In {listed(too_few)}, there are too few examples to rank the runs.")
    for runs, titles in titles_by_unsampled.items():
        sentences.append(f"In {listed(titles)}, runs without samples (--log_samples) are not ranked: {listed(runs)}.")
    for (run, reason), titles in incomparable.items():
        sentences.append(f"{run} is not comparable in {listed(titles)}: {reason}.")
    return sentences


def _comparable_values(column: Column) -> list[float]:
    """Return the values that can be ranked; none if the metric has no better direction."""
    shown = enumerate(column.values) if column.ascending is not None else ()
    return [value.value for run_number, value in shown if value and run_number not in column.reasons]


def _would_lead(column: Column, run_number: int) -> str:
    """Return a remark if an incomparable run's value is better than those of all comparable runs; else empty."""
    shown, others = column.values[run_number], _comparable_values(column)
    if shown is None or not others:
        return ""
    is_better = shown.value < min(others) if column.ascending else shown.value > max(others)
    return f" (its {shown.value:.{column.places}f} would be the best)" if is_better else ""
