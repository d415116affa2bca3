"""What measurements/simulation.py asks, and data sets drawn from models whose true values are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from medtasks_utils.compare.terms import Terms
from numpy.typing import NDArray

from medtasks_utils.statistics import ExampleValue, Size, Verdict, VerdictRatio

Rng = np.random.Generator
Array = NDArray[Any]

_TARGETS = np.array([0, 1])


class Found(NamedTuple):
    """An interval, without ends where the report shows none, and how many clusters it rests on."""

    low: float | None
    high: float | None
    informative: float


@dataclass(frozen=True)
class Coverage:
    """Intervals that should hold a truth."""

    name: str
    draw: Callable[[Rng], Found]
    truth: float


@dataclass(frozen=True)
class Rejection:
    """A test of a null that is true: None from a draw where there is no p-value."""

    name: str
    draw: Callable[[Rng], bool | None]


def verdicts(rng: Rng, rows: int, hit: float, false_alarm: float, unsure: float = 0.0) -> tuple[Array, Array]:
    """Whether each of two examples a row is flagged, half their luck being shared, and whether it is decided."""
    shared = rng.random((rows, 1))
    luck = np.where(rng.random((rows, 2)) < 0.5, shared, rng.random((rows, 2)))
    return (luck < np.array([false_alarm, hit])).astype(int), rng.random((rows, 2)) >= unsure


def ratio_terms(ratio: VerdictRatio, flagged: Array, decided: Array) -> tuple[Terms, Size]:
    """Terms of a ratio over rows, and what it is of."""
    verdict = Verdict(np.broadcast_to(_TARGETS, flagged.shape), flagged)  # type: ignore[arg-type]
    numerator = np.asarray(ratio.numerator(verdict)) * decided
    denominator = np.broadcast_to(np.asarray(ratio.denominator(verdict)), decided.shape) * decided
    terms = Terms(numerator.sum(axis=1, keepdims=True) * 1.0, denominator.sum(axis=1, keepdims=True) * 1.0)
    return terms, Size(terms.counted, int((denominator > 0).sum()))


def accuracy_terms(flagged: Array, decided: Array) -> Terms:
    """Terms of accuracy over rows of two examples, undecided ones being wrong."""
    right = ((flagged == _TARGETS) & decided).sum(axis=1, keepdims=True) * 1.0
    return Terms(right, np.full_like(right, 2.0))


def scores(rng: Rng, n: int, right: float) -> Array:
    """Scores of explanations: 0 for wrong answers, about 60 for right ones."""
    return (rng.random(n) < right) * np.clip(rng.normal(60, 15, n), 0, 100)


def single(values: Array, size: float = 1.0) -> Terms:
    """Terms of a mean over independent examples of so many generations each."""
    return Terms(values[:, None] * 1.0, np.full((len(values), 1), size))


def judged(rng: Rng, values: Array, failing: float) -> list[ExampleValue]:
    """Examples of which right answers (scores above 0) lack their score in a share of cases."""
    fails = (values > 0) & (rng.random(len(values)) < failing)
    return [
        ExampleValue(value, None, None, (), 0, 1, 1)
        if failed
        else ExampleValue(value, None, None, (), 1, int(value > 0), 0)
        for value, failed in zip(values.tolist(), fails.tolist(), strict=True)
    ]


def two_models(rng: Rng, rows: int, unsure: tuple[float, float]) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Verdicts of two equal models on the same rows, some hard for both, that abstain to different extents."""
    hard = rng.random((rows, 1)) < 0.3
    found = []
    for share in unsure:
        hit, false_alarm = np.where(hard, 0.5, 0.92), np.where(hard, 0.5, 0.1)
        flagged = (rng.random((rows, 2)) < np.hstack([false_alarm, hit])).astype(int)
        found.append((flagged, rng.random((rows, 2)) >= share))
    return found[0], found[1]


def items_of(flagged: Array, decided: Array) -> list[ExampleValue | None]:
    """Verdicts as a task returns them."""
    return [
        ExampleValue(0.0, row, None, (Verdict(target, int(flagged[row, target])),)) if decided[row, target] else None
        for row in range(len(flagged))
        for target in (0, 1)
    ]
