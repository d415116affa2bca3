"""Measure how much answers depend on the order of choices, by runs that show the same questions in different orders."""

from collections.abc import Iterator
from itertools import chain, product
from typing import NamedTuple

import numpy as np

from medtasks_utils.benchmarks.choices import ChoiceBenchmark
from medtasks_utils.extraction.letters import LETTERS
from medtasks_utils.results.samples import Sample
from medtasks_utils.statistics.intervals import UNRELIABLE_MARK, Estimate, estimate
from medtasks_utils.statistics.metrics import ACC
from medtasks_utils.statistics.score_arrays import MetricScores
from medtasks_utils.writing import JsonObject, table

from .pairing import common_examples
from .task_pair import TaskPair


class OrderEffect(NamedTuple):
    """What another order of the choices changes.

    Attributes:
        n: the number of questions that the runs have in common.
        moved: how many of them show their choices in different orders.
        changed: the share of moved questions, answered in both runs, for which another choice is answered; with
            repeats, the probability of this for one generation of each run.
        by_position: the accuracy of both runs, by the position of the right choice, from the first.
    """

    n: int
    moved: int
    changed: Estimate
    by_position: list[tuple[Estimate, Estimate]]


def order_effect(pair: TaskPair) -> OrderEffect | None:
    """Return what the order of choices changes between two runs of a task; None if it is the same in both."""
    benchmark = pair.a.benchmark
    if not isinstance(benchmark, ChoiceBenchmark):
        return None
    field, truth = benchmark.data.choices, benchmark.data.truth
    places = zip(*common_examples(pair.a, pair.b), strict=True)
    samples = [(pair.a.samples[place_a], pair.b.samples[place_b]) for place_a, place_b in places]
    moved = np.array([a.doc[field] != b.doc[field] for a, b in samples])
    if not moved.any():
        return None
    of_runs = pair.scores("acc")
    changes = [_changes(a, b, pair.filter, field) for a, b in samples]
    scores = MetricScores.of(changes, of_runs[0].clusters, of_runs[0].strata)
    positions = [
        np.array([benchmark.first_order(sample.doc).index(sample.doc[truth]) for sample in of_run])
        for of_run in zip(*samples, strict=True)
    ]
    by_position = []
    for place in range(len(LETTERS)):
        a, b = (estimate(scores[where == place], ACC) for scores, where in zip(of_runs, positions, strict=True))
        by_position.append((a, b))
    return OrderEffect(len(samples), int(moved.sum()), estimate(scores[moved], ACC), by_position)


def _changes(a: Sample, b: Sample, filter_name: str, choices: str) -> list[float | None]:
    """Return the share of pairs of generations in which two samples answer different choices; None without answers."""
    answered = [
        [
            sample.doc[choices][LETTERS.index(answer)]
            for answer in sample.answers.get(filter_name, ())
            if answer in LETTERS
        ]
        for sample in (a, b)
    ]
    pairs = [one != other for one, other in product(*answered)]
    return [sum(pairs) / len(pairs) if pairs else None]


def order_lines(effect: OrderEffect | None, is_one_model: bool) -> Iterator[str]:
    """Yield what the order of choices changes, in lines of at most 80 columns; of two models, only that it differs."""
    if effect is None:
        return
    yield f"The choices are in another order in B for {effect.moved} of {effect.n} questions."
    if not is_one_model:
        return
    yield f"The answer changed: {_shown(effect.changed)} of the {effect.changed.n} that both answer."
    rows = [
        (f"choice {place}", *chain.from_iterable((one.n, _shown(one)) for one in of_runs))
        for place, of_runs in enumerate(effect.by_position, start=1)
    ]
    yield table(rows, ("acc if right is", "n", "A", "n", "B"))


def order_data(effect: OrderEffect) -> JsonObject:
    """Return the effect as JSON, with shares from 0 to 1."""
    positions = [{"a": _numbers(a), "b": _numbers(b)} for a, b in effect.by_position]
    return {"n": effect.n, "moved": effect.moved, "changed": _numbers(effect.changed), "by_position": positions}


def _numbers(one: Estimate) -> JsonObject:
    return {name: getattr(one, name) for name in ("n", "value", "low", "high", "few")}


def _shown(one: Estimate) -> str:
    if one.value is None or one.interval is None:
        return "too few examples"
    low, high = (f"{100 * end:.1f}" for end in one.interval)
    return f"{100 * one.value:.1f} % [{low}, {high}]{UNRELIABLE_MARK * one.few}"
