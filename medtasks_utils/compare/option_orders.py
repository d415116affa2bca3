"""Measure how the order of choices affects answers, from two runs that show the same questions in different orders."""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from medtasks_utils.benchmarks.choices import ChoiceBenchmark
from medtasks_utils.extraction.letters import LETTERS
from medtasks_utils.results.samples import Sample
from medtasks_utils.statistics.intervals import Estimate, estimate
from medtasks_utils.statistics.metrics import ACC
from medtasks_utils.statistics.score_arrays import MetricScores
from medtasks_utils.writing import JsonObject, table

from .pairing import common_examples
from .task_pair import TaskPair


class OrderEffect(NamedTuple):
    """The effect of the order of choices on a model's answers.

    Attributes:
        n: the number of questions that the runs have in common.
        moved: the number of common questions whose choices are in different orders.
        changed: the share of moved questions, among those that both runs answer, for which the chosen options differ;
            with repeats, the probability that a generation of one run differs from a generation of the other.
        by_position: the accuracy of both runs for each position of the right choice, starting with the first position.
    """

    n: int
    moved: int
    changed: Estimate
    by_position: list[tuple[Estimate, ...]]


def order_effect(pair: TaskPair) -> OrderEffect | None:
    """Return the effect of the order of choices in two runs of a task; None without choices, or if no order differs."""
    benchmark = pair.a.benchmark
    if not isinstance(benchmark, ChoiceBenchmark):
        return None
    choices, truth = benchmark.data.choices, benchmark.data.truth
    places = zip(*common_examples(pair.a, pair.b), strict=True)
    samples = [(pair.a.samples[place_a], pair.b.samples[place_b]) for place_a, place_b in places]
    moved = np.array([a.doc[choices] != b.doc[choices] for a, b in samples])
    if not moved.any():
        return None
    of_runs = pair.metric_scores("acc")
    changes = [[share_changed(a, b, pair.filter, choices)] for a, b in samples]
    changed = MetricScores.of(changes, of_runs[0].clusters, of_runs[0].strata)[moved]
    by_run = []
    for scores, samples_of_run in zip(of_runs, zip(*samples, strict=True), strict=True):
        docs = [sample.doc for sample in samples_of_run]
        positions = np.array([benchmark.first_order(doc).index(doc[truth]) for doc in docs])
        by_run.append([estimate(scores[positions == place], ACC) for place in range(len(LETTERS))])
    return OrderEffect(len(samples), int(moved.sum()), estimate(changed, ACC), [*zip(*by_run, strict=True)])


def share_changed(a: Sample, b: Sample, filter_name: str, choices: str) -> float | None:
    """Return the probability that generations of two samples choose different options.

    Generations without an answer are left out; None if a sample has no other.
    """
    letters_a, letters_b = (filter(LETTERS.__contains__, sample.answers.get(filter_name, ())) for sample in (a, b))
    changes = [
        a.doc[choices][LETTERS.index(letter_a)] != b.doc[choices][LETTERS.index(letter_b)]
        for letter_a, letter_b in product(letters_a, letters_b)
    ]
    return sum(changes) / len(changes) if changes else None


def order_lines(effect: OrderEffect, is_one_model: bool) -> Iterator[str]:
    """Yield lines on the effect of the order of choices; for two models, only the fact that the order differs."""
    yield f"B shows the choices of {effect.moved} of {effect.n} questions in a different order from A."
    if is_one_model:
        yield f"Answers that changed, of the {effect.changed.n} that both runs have: {_shown(effect.changed)}."
        head = ("acc if the right one is", "n", "A", "n", "B")
        rows = [
            (f"choice {place}", a.n, _shown(a), b.n, _shown(b))
            for place, (a, b) in enumerate(effect.by_position, start=1)
        ]
        yield table([head, *rows])


def order_data(effect: OrderEffect) -> JsonObject:
    """Return the effect as a JSON-compatible dict; shares are from 0 to 1."""
    positions = [{"a": _numbers(a), "b": _numbers(b)} for a, b in effect.by_position]
    return {"n": effect.n, "moved": effect.moved, "changed": _numbers(effect.changed), "by_position": positions}


def _numbers(one: Estimate) -> JsonObject:
    return {name: getattr(one, name) for name in ("n", "value", "low", "high", "few")}


def _shown(one: Estimate) -> str:
    ends = one.ends(ACC)
    return f"{ACC.shown(one.value)} % ({ends})" if ends else "too few examples"
