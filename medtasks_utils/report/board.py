"""Lay out the scores of all runs by benchmark, best first, with the runs that may be the best."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress
from typing import NamedTuple

import numpy as np

from medtasks_utils.compare.contrast import Contrast, contrast
from medtasks_utils.compare.pairing import common_examples
from medtasks_utils.filters import FLEXIBLE, STRICT
from medtasks_utils.statistics.best_set import best_set
from medtasks_utils.statistics.intervals import Estimate
from medtasks_utils.statistics.metrics import ACC, Metric
from medtasks_utils.statistics.ratio import Ratio, Z
from medtasks_utils.statistics.score_arrays import MetricScores, concatenate

from .drawing import Axis, scaled
from .outcomes import outcomes
from .text import words
from .topics import RunResult, Topic

ENDED = {
    "right": "right",
    "form": "right, wrong form",
    "wrong": "wrong",
    "unsure": "unsure",
    "none": "no answer",
    "cut": "cut off",
}
"""How examples end, in the order in which bars show it."""
HATCHED = 0.4
"""The fewest points by which a score could rise that are drawn as hatching."""


class Score(NamedTuple):
    """A run's value as shown; ``rise`` is what it would gain if all lost replies were right."""

    value: float
    low: float | None
    high: float | None
    n: int
    note: str = ""
    rise: float = 0.0


class Floor(NamedTuple):
    """The score that is reached without the question or, if that is not known, by guessing."""

    value: float
    is_reached: bool


@dataclass(kw_only=True)
class Ranking:
    """The values of the runs, and which of them may be the best.

    Attributes:
        label: the name of the benchmark.
        metric: the metric by which runs are ranked.
        scores: by run, its value; without runs that have none.
        ranked: the runs that can be compared with each other, the best first.
        best: those of them that may be the best; None if there are too few examples to tell.
        ahead: how far the only best run is ahead of the next; None without one.
        floor: what is reached without the question; None if it is not known.
        questions: the number of questions on which runs are ranked; of the largest run if none are.
        also: by name, further headline metrics with their scores by run.
    """

    label: str
    metric: Metric
    scores: dict[str, Score]
    ranked: list[str] = field(default_factory=list)
    best: list[str] | None = None
    ahead: Score | None = None
    floor: Floor | None = None
    questions: int = 0
    also: dict[str, dict[str, Score]] = field(default_factory=dict)

    @property
    def is_of_right(self) -> bool:
        """True if scores are shares of right answers."""
        return self.metric.name.endswith("acc")

    def star(self, run: str) -> str:
        """Return the mark of a run that is the best (★), or may be so (☆); else an empty string."""
        if self.best is None or run not in self.best or len(self.ranked) < 2:
            return ""
        return "★" if len(self.best) == 1 else "☆" if len(self.best) < len(self.ranked) else ""

    @property
    def has_stars(self) -> bool:
        """True if some runs are marked."""
        return any(map(self.star, self.scores))

    def choose(self, are_best: Sequence[bool] | None) -> None:
        """Mark the runs that may be the best, from a flag for each ranked run; None if unknown."""
        self.best = None if are_best is None else list(compress(self.ranked, are_best))

    def best_first(self, runs: Sequence[str]) -> list[str]:
        """Return the runs that have a value, the best first; in their order if neither direction is better."""
        sign = {True: -1, False: 1, None: 0}[self.metric.higher_is_better]
        return sorted(filter(self.scores.__contains__, runs), key=lambda run: sign * self.scores[run].value)


@dataclass(kw_only=True)
class Column(Ranking):
    """A benchmark's column under one filter.

    Attributes:
        topic: the task or group of tasks.
        filter: the filter, which is the topic's own if it lacks the one that the page shows.
        reasons: by run that is not ranked, the reason.
        outcomes: by run with samples, the number of examples by how they ended (:data:`ENDED`).
        cut: by run, the percentage of replies that were cut off, if it is known.
    """

    topic: Topic
    filter: str
    reasons: dict[str, str]
    outcomes: dict[str, dict[str, float]]
    cut: dict[str, float]

    @property
    def task(self) -> str:
        """The name of its task, for links to samples; empty if it has several."""
        return self.topic.only_task

    @property
    def available(self) -> int:
        """The number of questions that the benchmark has; 0 if it is not known."""
        totals = (sum(task.available for task in result.tasks) for result in self.topic.results.values())
        return max(totals, default=0)

    @property
    def described(self) -> str:
        """The metric in words, with its unit."""
        unit = ", %" if self.metric.unit == "share" else ""
        name = "accuracy" if self.is_of_right else words(self.metric.name)
        stratum = self.topic.benchmark.data.stratum if self.topic.benchmark else None
        mean = f", mean by {words(stratum)}" if stratum and self.metric.aggregation.within_stratum else ""
        tasks = f", mean of {len(self.topic.tasks)} tasks" if self.topic.is_group else ""
        variant = "" if self.topic.name in self.label or self.topic.is_default else f" · {self.topic.name}"
        return name + unit + mean + tasks + variant

    @cached_property
    def axis(self) -> Axis:
        """An axis for the ranked runs, or for all if none are ranked, and for the floor."""
        shown = [self.scores[run] for run in self.ranked or self.scores]
        marks = [mark for score in shown for mark in (*score[:3], score.value + score.rise)]
        of_share = (0.0, 100.0) if self.metric.unit in ("share", "points") else ()
        return Axis.over([*marks, self.floor and self.floor.value], *of_share)

    @property
    def rises(self) -> bool:
        """True if some score could rise enough to be hatched."""
        return any(score.rise > HATCHED for score in self.scores.values())

    @cached_property
    def endings(self) -> set[str]:
        """The ways in which any run's examples ended (:data:`ENDED`)."""
        return {kind for counts in self.outcomes.values() for kind in counts if counts[kind] >= 0.5}

    def losses(self, run: str) -> dict[str, tuple[float, float]]:
        """Return by kind the percentage of a run's examples that are lost, and its score with them won.

        Form is in points, if the lenient score is higher.
        """
        score, found = self.scores[run], {}
        for kind in ("cut", "none"):
            rise = self.rise_of(run, kind)
            if rise is not None:
                found[kind] = self.lost(run, kind), score.value + rise
        lenient = self.topic.values[FLEXIBLE, self.metric.name].estimates[run].value
        if self.filter == STRICT and FLEXIBLE in self.topic.filters and lenient is not None:
            rise = lenient * self.metric.scale
            found["form"] = rise - score.value, rise
        return found

    def rise_of(self, run: str, kind: str) -> float | None:
        """Return the points that a run would gain without one kind of loss; None if unknown."""
        lost = {one: self.lost(run, one) for one in ("none", "cut")}
        total = sum(lost.values())
        if run not in self.outcomes or self.metric.unit != "share":
            return None
        return self.scores[run].rise * lost[kind] / total if total else 0.0

    def lost(self, run: str, *kinds: str) -> float:
        """Return the percentage of a run's examples that ended in one of these ways."""
        counts = self.outcomes.get(run, {})
        return 100 * sum(counts.get(kind, 0.0) for kind in kinds) / (sum(counts.values()) or 1)


@dataclass
class Board:
    """All benchmarks under one filter.

    Attributes:
        runs: the names of all runs in the order of the page.
        columns: the benchmarks.
        mean: the mean of all benchmarks, if every ranked run has the same two or more.
        ranked: the runs above the rule, the best first.
        unranked: by run below the rule, the reasons.
    """

    runs: list[str]
    columns: list[Column]
    mean: Ranking | None
    ranked: list[str]
    unranked: dict[str, str]

    @property
    def rankings(self) -> list[Ranking]:
        """The mean, if there is one, and the columns."""
        return [*([self.mean] if self.mean else []), *self.columns]

    def share(self, run: str, kind: str) -> float | None:
        """Return the percentage of a run's examples that ended in a way; None if that is not known in any benchmark."""
        of_columns = [column for column in self.columns if run in column.outcomes]
        if kind == "cut":
            of_columns = [column for column in of_columns if run in column.cut]
        total = sum(sum(column.outcomes[run].values()) for column in of_columns)
        counts = (column.outcomes[run][kind] for column in of_columns)
        return 100 * sum(counts) / total if total else None


def board_of(topics: Sequence[Topic], runs: Sequence[str], filter_name: str) -> Board:
    """Return the board of the page's runs under a filter."""
    columns = [_column(topic, filter_name) for topic in topics if topic.headline and not topic.is_overall]
    columns = [column for column in columns if column.scores]
    titles = Counter(column.topic.title for column in columns)
    for column in columns:
        column.label = column.topic.title if titles[column.topic.title] == 1 else column.topic.label
    out = {run: _why_not_ranked(columns, run) for run in runs}
    above = [run for run in runs if not out[run]]
    mean = _mean(columns, above)
    order = (mean or columns[0]).best_first(above) if columns else []
    order += [run for run in above if run not in order]
    below = columns[0].best_first(list(out)) if columns else []
    rest = [run for run in (*below, *runs) if out[run]]
    return Board(list(runs), columns, mean, order, {run: out[run] for run in dict.fromkeys(rest)})


def _why_not_ranked(columns: Sequence[Column], run: str) -> str:
    """Return why a run is not ranked, by benchmark; an empty string if it is."""
    by_reason: dict[str, list[str]] = {}
    for column in columns:
        if run in column.reasons:
            by_reason.setdefault(column.reasons[run], []).append(column.label)
    if not by_reason and not any(run in column.scores for column in columns):
        return "no scores"
    return "; ".join(f"{', '.join(labels)}: {reason}" for reason, labels in by_reason.items())


def _column(topic: Topic, filter_name: str) -> Column:
    """Return the column of a topic, with the runs that can be ranked and those of them that may be the best."""
    filter_name = filter_name if filter_name in topic.filters else topic.filters[0]
    name, *others = topic.headline
    values = topic.values[filter_name, name]
    metric = values.metric
    found = {run: _ended(result, filter_name) for run, result in topic.sampled.items() if topic.benchmark_name}
    cut = {run: one.value for run, one in topic.values[STRICT, "cut"].estimates.items() if topic.benchmark_name}
    scores = {
        run: score._replace(rise=_rise(topic, run, filter_name, metric, score)) if run in topic.sampled else score
        for run, score in scores_of(values.estimates, metric).items()
    }
    also = {other: topic.values[filter_name, other] for other in others}
    column = Column(
        label=topic.label,
        metric=metric,
        scores=scores,
        topic=topic,
        filter=filter_name,
        reasons={run: _reason(topic, run, reason) for run, reason in values.incomparable.items()},
        outcomes=found,
        cut={run: 100 * share for run, share in cut.items() if share is not None},
        also={other: scores_of(found.estimates, found.metric) for other, found in also.items()},
        floor=_floor(topic, metric, values.without_question and values.without_question.value),
    )
    comparable = [run for run in scores if run not in column.reasons and filter_name in topic.results[run].filters]
    sampled = [run for run in comparable if run in topic.rankable]
    if sampled:
        missing = [run for run in comparable if run not in sampled]
        column.reasons |= dict.fromkeys(missing, "no samples (--log_samples), so it cannot be compared")
    if metric.higher_is_better is not None:
        column.ranked = column.best_first(sampled)
    numbers = [scores[run].n for run in column.ranked or scores]
    column.questions = min(numbers) if column.ranked else max(numbers, default=0)
    if len(column.ranked) > 1:
        of_runs = ratios(topic, column.ranked, filter_name, metric)
        column.choose(best_set([of_runs], ascending=not metric.higher_is_better))
    if column.best is not None and len(column.best) == 1:
        first, second = column.ranked[:2]
        ends = (second, first) if metric.higher_is_better else (first, second)
        column.ahead, _ = difference_in(column, *ends)
    return column


def _reason(topic: Topic, run: str, reason: str) -> str:
    """Return the reason why a run is not ranked; for other examples, with their number."""
    if reason != "different examples":
        return reason
    n = len(topic.results[run].samples)
    most = max(len(result.samples) for result in topic.results.values())
    return f"only {n:,} of {most:,} questions" if n < most else f"{n:,} other questions"


def _mean(columns: Sequence[Column], runs: Sequence[str]) -> Ranking | None:
    """Return the unweighted mean over benchmarks; None unless all ranked runs have the same two or more."""
    if len(columns) < 2 or len(runs) < 2 or {column.metric.unit for column in columns} != {"share"}:
        return None
    if not all(set(runs) <= {*column.ranked} for column in columns):
        return None
    scores = {}
    for run in runs:
        value = sum(column.scores[run].value for column in columns) / len(columns)
        errors = [column.topic.values[column.filter, column.metric.name].estimates[run].stderr for column in columns]
        reach = 100 * Z * float(np.linalg.norm(np.nan_to_num(np.array(errors, dtype=float)))) / len(columns)
        scores[run] = Score(value, max(0.0, value - reach), min(100.0, value + reach), 0)
    mean = Ranking(label=f"Mean of {len(columns)}", metric=ACC, scores=scores)
    mean.ranked = mean.best_first(runs)
    mean.choose(best_set([ratios(column.topic, mean.ranked, column.filter, column.metric) for column in columns]))
    return mean


# ---- values


def shown(result: Estimate, metric: Metric) -> Score | None:
    """Format an estimate; return None if it has no value."""
    if result.value is None:
        return None
    return Score(result.value * metric.scale, *scaled(result.interval, metric.scale), result.n, result.unreliable)


def common(topic: Topic, runs: Sequence[str], filter_name: str, metric: str) -> list[MetricScores]:
    """Return the scores of each run on the examples that all of them have, with the clusters of the first run.

    In a group, each task is a stratum.
    """
    by_task = zip(*(topic.results[run].tasks for run in runs), strict=True)
    parts = []
    for tasks in by_task:
        places = common_examples(*tasks)
        scores = [task.scores(filter_name, metric)[own] for task, own in zip(tasks, places, strict=True)]
        parts.append([replace(own, clusters=scores[0].clusters, strata=scores[0].strata) for own in scores])
    return [concatenate(of_run, tasks_are_strata=topic.is_group) for of_run in zip(*parts, strict=True)]


def ratios(topic: Topic, runs: Sequence[str], filter_name: str, metric: Metric) -> list[Ratio]:
    """Return the runs' ratios of a metric over the examples to which it applies in all of them."""
    whole = metric.over_strata() if topic.is_group else metric
    scores = common(topic, runs, filter_name, metric.name)
    over = np.any if metric.aggregation.over_decided else np.all
    applies = over([own.applies for own in scores], axis=0)
    return [whole.aggregation.ratio(replace(own, applies=applies)) for own in scores]


def scores_of(estimates: Mapping[str, Estimate], metric: Metric) -> dict[str, Score]:
    """Return the scores of the runs that have a value."""
    return {run: score for run, one in estimates.items() if (score := shown(one, metric))}


def _ended(result: RunResult, filter_name: str) -> dict[str, float]:
    """Return the number of examples by how they ended under a filter (:data:`ENDED`)."""
    strict_alone, right, form, wrong, unsure, none, cut = outcomes(result).values()
    if filter_name == STRICT:
        numbers = right + strict_alone, form, wrong, unsure, none, cut
    else:
        numbers = right + form, 0.0, wrong + strict_alone, unsure, none, cut
    return dict(zip(ENDED, numbers, strict=True))


def _rise(topic: Topic, run: str, filter_name: str, metric: Metric, found: Score) -> float:
    """Return by how much a share would rise if all examples without an answer were right; 0 for other metrics."""
    result = topic.results[run]
    of_means = metric.aggregation.within_stratum or metric.aggregation
    if metric.unit != "share" or of_means.over_decided or not metric.name.endswith("acc"):
        return 0.0
    best = FLEXIBLE if FLEXIBLE in result.filters else filter_name
    scores = result.scores(filter_name, metric.name, topic.is_group)
    answered = np.nan_to_num(result.scores(best, "answered").values, nan=1.0)
    raised = np.maximum(scores.numerators, scores.denominators * (1 - answered)[:, None, None])
    whole = metric.over_strata() if topic.is_group else metric
    value = whole.aggregation.value(replace(scores, numerators=raised))
    return max(0.0, 100 * (value or 0.0) - found.value)


def _floor(topic: Topic, metric: Metric, reached: float | None) -> Floor | None:
    """Return what is reached without the question or, of accuracies, by guessing among answers that do not abstain."""
    if reached is not None:
        return Floor(reached * metric.scale, True)
    guessing = topic.guessing if metric.name.endswith("acc") else None
    return None if guessing is None else Floor(guessing, False)


def score_of(found: Contrast, metric: Metric) -> Score:
    """Return the difference of a contrast as it is shown."""
    return Score(found.difference * metric.scale, *scaled(found.interval, metric.scale), found.n, found.unreliable)


def difference_in(column: Column, a: str, b: str) -> tuple[Score | None, tuple[int, int]]:
    """Return B − A on the examples that both have, and how many only A and only B has right."""
    metric = column.metric.over_strata() if column.topic.is_group else column.metric
    first, second = common(column.topic, [a, b], column.filter, metric.name)
    found = contrast(first, second, metric)
    one, other = first.values > 0.5, second.values > 0.5
    alone = int((one & ~other).sum()), int((other & ~one).sum())
    return score_of(found, metric) if found else None, alone
