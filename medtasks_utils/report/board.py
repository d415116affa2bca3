"""Arrange the scores of all runs by benchmark, best first, and mark the runs that may be best."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress
from statistics import fmean
from typing import NamedTuple

import numpy as np

from medtasks_utils.benchmarks.facts import KNOWN_ISSUES, UNANSWERED
from medtasks_utils.compare.contrast import Contrast, contrast
from medtasks_utils.compare.pairing import common_examples
from medtasks_utils.filters import FLEXIBLE, STRICT
from medtasks_utils.results import Sample
from medtasks_utils.statistics.best_set import best_set
from medtasks_utils.statistics.intervals import Estimate
from medtasks_utils.statistics.metrics import ACC, Metric
from medtasks_utils.statistics.ratio import Ratio, Z
from medtasks_utils.statistics.score_arrays import MetricScores, concatenate

from .audits import audit_of
from .drawing import Axis
from .outcomes import ENDED, outcomes
from .topics import RunResult, Topic

HATCHED = 0.4
"""The possible gain of a score, in points, from which it is drawn with hatching."""
FEW = 30
"""Minimum number of examples for statements about a part or a run."""
_NO_SAMPLES = "no samples (--log_samples), so it cannot be compared"
VOTERS = 3
"""Minimum number of runs with a question for its label to count as contradicted."""


class Score(NamedTuple):
    """A run's value as the page shows it.

    Attributes:
        note: the reason why the interval is unreliable or missing; empty if it is reliable.
        rise: the points that the value would gain if every cut or unanswered reply were right.
        bracket: with repeats, the shares of examples that all generations, and that any generation, got right.
        audited: the ends of the accuracy's interval by the readings of an audit's LLM, if there was an audit.
    """

    value: float
    low: float | None
    high: float | None
    n: int
    note: str = ""
    rise: float = 0.0
    bracket: Sequence[float] = ()
    audited: Sequence[float] = ()


class Floor(NamedTuple):
    """The score attainable without the question or, if that was never measured, by guessing.

    ``is_reached`` is True if a classifier reached it without the question, and False for guessing.
    """

    value: float
    is_reached: bool


@dataclass(kw_only=True)
class Ranking:
    """The values of the runs on a benchmark or on average, and which of them may be the best.

    Attributes:
        label: the name of the benchmark.
        metric: the metric by which runs are ranked.
        scores: the value of each run that has one.
        ranked: the mutually comparable runs, best first.
        best: the ranked runs that may be the best; None for a single run, or with too few examples to tell.
        ahead: the lead of a single best run over the next; None if there is no single best run.
        floor: the score attainable without the question; None if unknown.
        questions: the number of questions on which runs are ranked or, without a ranking, the largest number in a run.
        also: additional headline metrics by name, with their scores by run.
        reasons: the reason why a run is not ranked, by run.
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
    reasons: dict[str, str] = field(default_factory=dict)

    @property
    def is_of_right(self) -> bool:
        """True if scores are shares of right answers."""
        return self.metric.name.endswith("acc")

    @property
    def marked(self) -> list[str]:
        """The runs to mark as possibly the best; empty if every ranked run may be, or if this cannot be told."""
        best = self.best or []
        return best if len(best) < len(self.ranked) else []

    def star(self, run: str) -> str:
        """Return ★ for a run that is the best, ☆ for one that may be, else an empty string."""
        return ("★" if len(self.marked) == 1 else "☆") if run in self.marked else ""

    def best_first(self, runs: Sequence[str]) -> list[str]:
        """Return the runs that have a value, best first, or in the given order for a metric without a direction."""
        sign = {True: -1, False: 1, None: 0}[self.metric.higher_is_better]
        return sorted(filter(self.scores.__contains__, runs), key=lambda run: sign * self.scores[run].value)


@dataclass(kw_only=True)
class Column(Ranking):
    """A benchmark's column under one filter.

    Attributes:
        topic: the task or group of tasks.
        filter: the page's filter or, if the topic lacks it, the topic's first filter.
        outcomes: for each run with samples, the number of examples by outcome (:data:`ENDED`).
        counts: for each run with samples, the number of questions by kind (:func:`counts_of`).
    """

    topic: Topic
    filter: str
    outcomes: dict[str, dict[str, float]]
    counts: dict[str, dict[str, float]]

    @property
    def task(self) -> str:
        """The name of the only task, for links to samples; empty if there is more than one."""
        return self.topic.only_task

    @property
    def available(self) -> int:
        """The number of questions in the benchmark; 0 if unknown."""
        return max(sum(task.available for task in result.tasks) for result in self.topic.results.values())

    @cached_property
    def axis(self) -> Axis:
        """An axis that covers the ranked runs (or all runs, if none is ranked) and the floor."""
        shown_scores = [self.scores[run] for run in self.ranked or self.scores]
        marks = [mark for score in shown_scores for mark in (*score[:3], score.value + score.rise, *score.bracket)]
        of_share = (0.0, 100.0) if self.metric.unit in ("share", "points") else ()
        return Axis.over([*marks, self.floor and self.floor.value], *of_share)

    def losses(self, run: str) -> dict[str, tuple[float, float]]:
        """Return, by cause, the percentage of a run's examples that are lost, and its score had they been right.

        ``none`` counts all unanswered examples; if most of them were cut, ``cut`` counts only these instead. The loss
        by ``form`` is in points.
        """
        score, ended = self.scores[run], self.outcomes.get(run, {})
        losses = {}
        if score.rise:
            unanswered = ended["cut"] + ended["none"]
            kind, lost = ("cut", ended["cut"]) if 2 * ended["cut"] > unanswered else ("none", unanswered)
            losses[kind] = 100 * lost / sum(ended.values()), score.value + score.rise * lost / unanswered
        lenient = self.topic.in_runs(FLEXIBLE, self.metric.name).estimates[run].value
        if self.filter == STRICT and FLEXIBLE in self.topic.filters and lenient is not None:
            losses["form"] = lenient * self.metric.scale - score.value, lenient * self.metric.scale
        return losses

    @cached_property
    def contradicted(self) -> int:
        """The number of questions on which most runs agree on a wrong answer, as in the page's samples.

        Only runs that are right on more than half of the questions count, and at least three of them must have the
        question.
        """
        votes: dict[tuple[str, object], Counter[str | None]] = defaultdict(Counter)
        for task in (task for result in self.topic.sampled.values() for task in result.tasks):
            is_right = task.metric_scores(self.filter, "acc").values > 0.5
            if 2 * is_right.sum() > len(is_right):
                for key, place in task.examples.items():
                    answer = None if is_right[place] else answers_shown(task.samples[place], self.filter)
                    votes[task.task, key][answer] += 1
        enough = [(answers.pop(None, 0), answers) for answers in votes.values() if answers.total() >= VOTERS]
        return sum(2 * n > others + answers.total() for others, answers in enough for n in answers.values())


@dataclass
class Board:
    """All benchmarks under one filter.

    Attributes:
        runs: the names of all runs in the order of the page.
        columns: the benchmarks.
        mean: the mean over all benchmarks; None if it is not defined (:func:`mean_of`).
        ranked: the runs above the dividing line, best first.
        unranked: for each run below the dividing line, the reasons why it cannot be ranked on some benchmark.
    """

    runs: list[str]
    columns: list[Column]
    mean: Ranking | None
    ranked: list[str]
    unranked: dict[str, str]

    @property
    def first(self) -> Ranking:
        """The ranking that determines the order of runs: the mean or, without one, the first benchmark."""
        return self.mean or self.columns[0]

    @cached_property
    def endings(self) -> dict[str, str]:
        """The outcomes in :data:`ENDED` that occur in some run; if replies were cut, *no answer* excludes these."""
        counts = Counter[str]()
        for column in self.columns:
            for ended in column.outcomes.values():
                counts.update({kind: round(n) for kind, n in ended.items()})
        uncut = {"none": "no answer, not cut off"} if counts["cut"] else {}
        return {kind: words for kind, words in (ENDED | uncut).items() if counts[kind]}

    @property
    def extra(self) -> list[str]:
        """Those of the kinds ``none``, ``cut`` and ``same`` (:func:`counts_of`) that occur in some run, for columns."""
        return [kind for kind in ("none", "cut", "same") if any(self.share(run, kind) for run in self.runs)]

    def share(self, run: str, kind: str) -> float | None:
        """Return the percentage of a run's questions of a kind, over benchmarks that count them; None without any."""
        known = [column for column in self.columns if kind in column.counts.get(run, ())]
        n = sum(len(column.topic.results[run].samples) for column in known)
        return 100 * sum(column.counts[run][kind] for column in known) / n if n else None


def board_of(topics: Sequence[Topic], runs: Sequence[str], filter_name: str) -> Board:
    """Return the board of the page's runs under a filter.

    Topics without scores, and groups of several benchmarks, have no column.
    """
    columns = [_column(topic, filter_name) for topic in topics if topic.headline and not topic.is_overall]
    columns = [column for column in columns if column.scores]
    titles = Counter(column.topic.title for column in columns)
    for column in columns:
        column.label = column.topic.title if titles[column.topic.title] == 1 else column.topic.label
    reasons = {run: why_not_ranked(columns, run) for run in runs}
    above = [run for run in runs if not reasons[run]]
    board = Board(list(runs), columns, mean_of(columns, above), above, {})
    if columns:
        board.ranked = list(dict.fromkeys([*board.first.best_first(above), *above]))
    order = dict.fromkeys([*(columns[0].best_first(runs) if columns else ()), *runs])
    board.unranked = {run: reasons[run] for run in order if reasons[run]}
    return board


def why_not_ranked(columns: Sequence[Column], run: str) -> str:
    """Return the benchmarks on which a run is not ranked, with the reasons; empty if it is ranked on all."""
    labels = defaultdict(list)
    for column in columns:
        if run in column.reasons:
            labels[column.reasons[run]].append(column.label)
    if not labels and not any(run in column.scores for column in columns):
        return "no scores"
    return "; ".join(f"{', '.join(of_reason)}: {reason}" for reason, of_reason in labels.items())


def _column(topic: Topic, filter_name: str) -> Column:
    """Return a topic's column, with the runs that can be ranked, and those that may be the best."""
    filter_name = filter_name if filter_name in topic.filters else topic.filters[0]
    name, *others = topic.headline
    values = topic.in_runs(filter_name, name)
    also = {other: topic.in_runs(filter_name, other) for other in others}
    sampled = topic.sampled if topic.benchmark_name else {}
    column = Column(
        label=topic.label,
        metric=values.metric,
        scores=scores_of(values.estimates, values.metric),
        topic=topic,
        filter=filter_name,
        reasons=_reasons(topic, values.incomparable),
        outcomes={run: outcomes(result, filter_name) for run, result in sampled.items()},
        counts={},
        also={other: scores_of(metric.estimates, metric.metric) for other, metric in also.items()},
        floor=floor_of(topic, values.metric, values.without_question and values.without_question.value),
    )
    for run in column.outcomes:
        column.counts[run] = counts_of(column, run)
        if run in column.scores:
            column.scores[run] = _with_bounds(column, run)
    has_filter = [run for run in column.scores if filter_name in topic.results[run].filters]
    comparable = [run for run in has_filter if run not in column.reasons]
    rankable = [run for run in comparable if run in topic.rankable]
    if rankable:
        column.reasons |= {run: _NO_SAMPLES for run in comparable if run not in rankable}
    if column.metric.higher_is_better is not None:
        column.ranked = column.best_first(rankable)
    numbers = [column.scores[run].n for run in column.ranked or column.scores]
    column.questions = min(numbers) if column.ranked else max(numbers, default=0)
    column.best = _may_be_best([column], column.ranked)
    if column.best and len(column.best) == 1:
        ends = column.ranked[:2] if column.metric.higher_is_better is False else column.ranked[1::-1]
        column.ahead, _ = difference_in(column, *ends)
    return column


def _may_be_best(columns: Sequence[Column], runs: Sequence[str]) -> list[str] | None:
    """Return which runs may be the best on average; None for one run or too few examples."""
    if len(runs) < 2:
        return None
    of_runs = [ratios(column.topic, runs, column.filter, column.metric) for column in columns]
    are_best = best_set(of_runs, ascending=not columns[0].metric.higher_is_better)
    return None if are_best is None else list(compress(runs, are_best))


def _reasons(topic: Topic, incomparable: Mapping[str, str]) -> dict[str, str]:
    """Return why each run is not ranked; a reason for different examples describes the difference."""
    ranked = next((result.examples for run, result in topic.results.items() if run not in incomparable), set())
    return {
        run: other_questions(topic.results[run].examples, ranked) if reason == "different examples" else reason
        for run, reason in incomparable.items()
    }


def other_questions(examples: Set[object], ranked: Set[object]) -> str:
    """Describe a run's examples, compared with those of the ranked runs, such as ``only 30 of 100 questions``."""
    n, shared = len(examples), len(examples & ranked)
    if shared == n:
        return f"only {n:,} of {len(ranked):,} questions"
    if shared == len(ranked):
        return f"{n:,} questions, {n - shared:,} more than the others"
    return f"{n:,} questions, {shared:,} of them shared with the others" if shared else f"{n:,} other questions"


def mean_of(columns: Sequence[Column], runs: Sequence[str]) -> Ranking | None:
    """Return the unweighted mean over benchmarks.

    None unless there are two or more runs and benchmarks, all runs are ranked on all benchmarks, and all metrics are
    shares.
    """
    if len(columns) < 2 or len(runs) < 2 or {column.metric.unit for column in columns} != {"share"}:
        return None
    if not all(set(runs) <= {*column.ranked} for column in columns):
        return None
    scores = {}
    for run in runs:
        estimates = [column.topic.in_runs(column.filter, column.metric.name).estimates[run] for column in columns]
        value = fmean(column.scores[run].value for column in columns)
        reach = 100 * Z * math.hypot(*(estimate.stderr or 0.0 for estimate in estimates)) / len(columns)
        scores[run] = Score(value, max(0.0, value - reach), min(100.0, value + reach), 0)
    mean = Ranking(label=f"Mean of {len(columns)}", metric=ACC, scores=scores)
    mean.ranked = mean.best_first(runs)
    mean.best = _may_be_best(columns, mean.ranked)
    return mean


# ---- values


def shown(result: Estimate, metric: Metric) -> Score | None:
    """Convert an estimate to a score in display units; return None if it has no value."""
    return None if result.value is None else score_of(result.value, result, metric)


def score_of(value: float, result: Estimate | Contrast, metric: Metric) -> Score:
    """Return a value or difference with its interval, in display units."""
    low, high = (None if end is None else end * metric.scale for end in (result.low, result.high))
    return Score(value * metric.scale, low, high, result.n, result.unreliable)


def common(topic: Topic, runs: Sequence[str], filter_name: str, metric: str) -> list[MetricScores]:
    """Return each run's scores on the common examples, with the clusters of the first run.

    In a group, each task is a stratum.
    """
    parts = []
    for tasks in zip(*(topic.results[run].tasks for run in runs), strict=True):
        places = common_examples(*tasks)
        scores = [task.metric_scores(filter_name, metric)[place] for task, place in zip(tasks, places, strict=True)]
        parts.append([replace(of_run, clusters=scores[0].clusters, strata=scores[0].strata) for of_run in scores])
    return [concatenate(of_run, tasks_are_strata=topic.is_group) for of_run in zip(*parts, strict=True)]


def ratios(topic: Topic, runs: Sequence[str], filter_name: str, metric: Metric) -> list[Ratio]:
    """Return each run's ratio for a metric, over the common examples to which the metric applies in all runs.

    For a metric of definite answers, it is enough that it applies in one run.
    """
    whole = metric.over_strata() if topic.is_group else metric
    scores = common(topic, runs, filter_name, metric.name)
    over = np.any if metric.aggregation.over_decided else np.all
    applies = over([of_run.applies for of_run in scores], axis=0)
    return [whole.aggregation.ratio(replace(of_run, applies=applies)) for of_run in scores]


def scores_of(estimates: Mapping[str, Estimate], metric: Metric) -> dict[str, Score]:
    """Return the scores of the runs that have a value."""
    return {run: score for run, estimate in estimates.items() if (score := shown(estimate, metric))}


def counts_of(column: Column, run: str) -> dict[str, float]:
    """Count a run's questions by kind.

    The kinds are: no answer (``none``, cut or not), right in the wrong form (``form``), an empty reply (``empty``), the
    most frequent answer (``alike``), a label with known issues (``doubted``) and, where recorded, a reply cut at the
    token limit (``cut``), and equal answers in all generations (``same``).
    """
    samples, in_runs = column.topic.results[run].samples, column.topic.in_runs
    answers = Counter(answer for sample in samples for answer in sample.answers.get(column.filter, ())[:1])
    del answers[UNANSWERED]
    counts: dict[str, float] = {
        "none": column.outcomes[run]["none"] + column.outcomes[run]["cut"],
        "form": column.outcomes[run]["form"],
        "empty": sum("" in map(str.strip, sample.responses) for sample in samples),
        "alike": max(answers.values(), default=0) if len(samples) >= FEW else 0,
        "doubted": sum(bool(sample.doc.get(KNOWN_ISSUES)) for sample in samples),
    }
    for kind, metric in (("cut", in_runs(STRICT, "cut")), ("same", in_runs(column.filter, "agreement"))):
        if (share := metric.estimates[run].value) is not None:
            counts[kind] = share * metric.estimates[run].n
    return counts


def _with_bounds(column: Column, run: str) -> Score:
    """Return a run's score with its bounds: with all lost replies right, over all generations, and by an audit."""
    score, result, metric = column.scores[run], column.topic.results[run], column.metric
    score = score._replace(rise=rise_of(column, result))
    if metric.name != "acc":
        return score
    of_all, of_any = (column.topic.in_runs(column.filter, name).estimates[run].value for name in ("pass^k", "pass@k"))
    if of_all is not None and of_any is not None:
        score = score._replace(bracket=(100 * of_all, 100 * of_any))
    as_read = audit_of(result.tasks[0]).get("accuracy_as_read") if column.task else None
    return score._replace(audited=(100 * as_read["low"], 100 * as_read["high"])) if as_read else score


def rise_of(column: Column, result: RunResult) -> float:
    """Return the points that a share would gain if all unanswered examples were right; 0 for other metrics."""
    metric, is_group = column.metric, column.topic.is_group
    of_means = metric.aggregation.within_stratum or metric.aggregation
    if metric.unit != "share" or of_means.over_decided or not column.is_of_right:
        return 0.0
    best = FLEXIBLE if FLEXIBLE in result.filters else column.filter
    scores = result.metric_scores(column.filter, metric.name, is_group)
    answered = np.nan_to_num(result.metric_scores(best, "answered").values, nan=1.0)
    raised = np.maximum(scores.numerators, scores.denominators * (1 - answered)[:, None, None])
    value = (metric.over_strata() if is_group else metric).aggregation.value
    return 100 * ((value(replace(scores, numerators=raised)) or 0.0) - (value(scores) or 0.0))


def floor_of(topic: Topic, metric: Metric, reached: float | None) -> Floor | None:
    """Return the score without the question, ``reached``, or the accuracy of guessing among non-abstaining answers.

    None if ``reached`` is None, and the metric is no accuracy or the answers are not a fixed set.
    """
    if reached is not None:
        return Floor(reached * metric.scale, True)
    guessing = topic.guessing if metric.name.endswith("acc") else None
    return None if guessing is None else Floor(guessing, False)


def answers_shown(sample: Sample, filter_name: str) -> str | None:
    """Return the answers that the page shows, with their counts: the filter's or else the lenient filter's.

    None if neither filter found an answer.
    """
    for answers in (sample.answers.get(name, []) for name in (filter_name, FLEXIBLE)):
        if {*answers} - {UNANSWERED}:
            return str(Counter(answers).most_common())
    return None


def difference_in(column: Column, a: str, b: str) -> tuple[Score | None, tuple[int, int, int]]:
    """Return B − A on the common examples (None without a value), and how many only A, only B and neither gets right.

    With repeats, an example is right if more than half of its generations are, as in the page's list of examples.
    """
    metric = column.metric.over_strata() if column.topic.is_group else column.metric
    first, second = common(column.topic, [a, b], column.filter, metric.name)
    difference = contrast(first, second, metric)
    score = score_of(difference.difference, difference, metric) if difference else None
    right_a, right_b = first.values > 0.5, second.values > 0.5
    wrong_a, wrong_b = first.values <= 0.5, second.values <= 0.5
    return score, (int((right_a & wrong_b).sum()), int((wrong_a & right_b).sum()), int((wrong_a & wrong_b).sum()))
