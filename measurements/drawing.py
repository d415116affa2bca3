"""Define the cells of measurements/simulation.py, and draw data sets from models whose true values are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from medtasks_utils.compare import compare_runs
from medtasks_utils.compare.against import Standing, TaskAgainst, TopicAgainst
from medtasks_utils.compare.contrast import Contrast
from medtasks_utils.harness.aggregates import ExampleScore
from medtasks_utils.results import Run, Sample, TaskRun
from medtasks_utils.results.samples import SampleLog
from medtasks_utils.statistics.score_arrays import MetricScores
from medtasks_utils.statistics.scores import JudgedScore, Score

Rng = np.random.Generator
Array = NDArray[Any]
Rows = Sequence[Sequence[Score]]

TARGETS = np.array([0, 1])
BENCHMARKS = {
    "medmcqa_openmed": "medmcqa",
    "medexqa_all": "medexqa",
    "medcalc_bench": "medcalc_bench",
    "medhallu": "medhallu",
}
_FILTER = "strict-match"


class Found(NamedTuple):
    """An interval, whose ends are None if none is shown, and whether it is marked as resting on few examples."""

    low: float | None
    high: float | None
    few: bool


@dataclass(frozen=True)
class Coverage:
    """A cell of intervals that should contain a true value; ``examples`` is the size of a data set."""

    name: str
    examples: int
    draw: Callable[[Rng], Found]
    truth: float


@dataclass(frozen=True)
class Rejection:
    """A cell of tests, of a true null hypothesis or of a difference; a draw is None without a p-value."""

    name: str
    examples: int
    draw: Callable[[Rng], bool | None]


# ---- what the command calls


@cache
def blank_samples(name: str, n: int, k: int) -> list[Sample]:
    """Return samples of a run without scores, with n examples and k generations each; cached for speed."""
    return [
        Sample(
            doc_id=place,
            doc_hash=str(place),
            doc={},
            messages=[],
            responses=[""] * k,
            target="",
            answers={_FILTER: [""] * k},
            stratum="",
        )
        for place in range(n)
    ]


def saved(
    name: str,
    tasks: Mapping[str, Rows],
    metric: str,
    clusters: Sequence[int] | None = None,
    strata: Sequence[int] | None = None,
) -> Run:
    """Return a run as it is read from files; ``tasks`` has the scores of its samples by task."""
    own: dict[str, TaskRun] = {}
    for task, rows in tasks.items():
        samples = blank_samples(f"{name} {task}", len(rows), len(rows[0]))
        for place, (sample, row) in enumerate(zip(samples, rows, strict=True)):
            sample.metrics, sample.scores = {_FILTER: {metric: 0.0}}, {_FILTER: {metric: row}}
            sample.cluster = None if clusters is None else str(clusters[place])
            sample.stratum = "" if strata is None else str(strata[place])
        own[task] = TaskRun(task, BENCHMARKS[task], {}, {})
        own[task].__dict__["_log"] = SampleLog(samples, [])
    return Run(name, name, Path(name), "", {}, own, {})


def compared(
    first: Rows, second: Rows, metric: str, task: str = "medhallu", clusters: Sequence[int] | None = None
) -> Contrast | None:
    """Compare a metric of two runs as ``medtasks compare`` does; None if it is not compared."""
    runs = [saved(name, {task: rows}, metric, clusters) for name, rows in (("a", first), ("b", second))]
    return compare_runs(runs[0], runs[1], metrics=[metric], force=True).differences[0].contrast


def asked_until_decided(
    first: Rows, second: Rows, clusters: Sequence[int], strata: Sequence[int], within: float
) -> Standing:
    """Return how a run compares with a saved one when ``medtasks eval --against`` stops; strata are averaged."""
    task, metric = ("medexqa_all", "macro_acc") if len({*strata}) > 1 else ("medmcqa_openmed", "acc")
    run = saved("a", {task: first}, metric, clusters, strata).tasks[task]
    topic = TopicAgainst(task, {task: TaskAgainst(run, [{}] * len(first), range(len(first)))}, within)
    new = {"results": {task: {}}, "configs": {task: {"metadata": {"benchmark": BENCHMARKS[task]}}}}
    while topic.is_open:
        lines = [
            {"doc_id": place, "filter": _FILTER, "prompt_hash": "", metric: ExampleScore(second[place])}
            for place in topic.next_batch()[task]
        ]
        topic.add({**new, "samples": {task: lines}})
    return topic.standing


# ---- data sets


def verdicts(rng: Rng, rows: int, hit: float, false_alarm: float, unsure: float = 0.0) -> tuple[Array, Array]:
    """Draw whether each of two examples per row is flagged, and whether it is decided; half of the luck is shared."""
    shared = rng.random((rows, 1))
    luck = np.where(rng.random((rows, 2)) < 0.5, shared, rng.random((rows, 2)))
    return (luck < np.array([false_alarm, hit])).astype(int), rng.random((rows, 2)) >= unsure


_PAIRS: dict[str, Callable[[Any, Any], tuple[Any, Any]]] = {
    "f1": lambda target, given: (2 * (target & given), target + given),
    "precision": lambda target, given: (target & given, given),
    "recall": lambda target, given: (target & given, target),
    "accuracy_answered": lambda target, given: (target == given, 1),
}


def truth_of(metric: str, flagged: Array, decided: Array) -> float:
    """Return a ratio over many examples."""
    top, bottom = _PAIRS[metric](np.broadcast_to(TARGETS, flagged.shape), flagged)
    return float((top * decided).sum() / (bottom * decided).sum())


def pairs(metric: str, flagged: Array, decided: Array) -> list[list[Score]]:
    """Return numerators and denominators of a ratio by example; None for an undecided one."""

    def of(target: int, given: int) -> tuple[float, float]:
        top, bottom = _PAIRS[metric](target, given)
        return float(top), float(bottom)

    return [
        [of(target, int(flagged[row, target])) if decided[row, target] else None]
        for row in range(len(flagged))
        for target in (0, 1)
    ]


def plain(values: Array) -> list[list[Score]]:
    """Return the scores of examples with one generation or, in columns, several."""
    rows: list[list[Score]] = np.atleast_2d(values.T.astype(float)).T.tolist()
    return rows


def scores(rng: Rng, n: int, right: float, mean: float = 60, spread: float = 15) -> Array:
    """Draw scores of explanations: 0 for wrong answers, about ``mean`` for right ones."""
    return (rng.random(n) < right) * np.clip(rng.normal(mean, spread, n), 1, 100)


def judged(rng: Rng, values: Array, failing: float) -> list[list[Score]]:
    """Return these scores as judged ones; the judge fails on a share of the right answers."""
    fails = (values > 0) & (rng.random(len(values)) < failing)
    return [[JudgedScore(v > 0, None if f else v)] for v, f in zip(values.tolist(), fails.tolist(), strict=True)]


def two_models(rng: Rng, rows: int, unsure: tuple[float, float]) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Draw verdicts of two equal models on the same rows, some hard, of which each abstains on a share."""
    hard = rng.random((rows, 1)) < 0.3
    found = []
    for share in unsure:
        hit, false_alarm = np.where(hard, 0.5, 0.92), np.where(hard, 0.5, 0.1)
        flagged = (rng.random((rows, 2)) < np.hstack([false_alarm, hit])).astype(int)
        found.append((flagged, rng.random((rows, 2)) >= share))
    return found[0], found[1]


def as_scores(rows: Rows, clusters: Array | None = None, strata: Array | None = None) -> MetricScores:
    """Convert scores to arrays."""
    nothing = np.zeros(len(rows), dtype=np.intp)
    return MetricScores.of(
        rows, np.arange(len(rows)) if clusters is None else clusters, nothing if strata is None else strata
    )
