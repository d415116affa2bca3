"""Examples that one run has right and the other wrong."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from medtasks_utils.results import Sample

Pair = tuple[Sample, Sample]


@dataclass(frozen=True)
class Flip:
    """An example that one run has right and the other wrong, each in most generations; a tie is neither.

    Attributes:
        direction: ``gained`` where only the second run is right, ``lost`` where only the first is.
        sample_a: the first run's sample.
        sample_b: the second's.
    """

    task: str
    filter: str
    direction: Literal["gained", "lost"]
    sample_a: Sample
    sample_b: Sample


@dataclass(frozen=True)
class Agreement:
    """How many examples both runs have right, and so on: with repeats, as expected of one generation of each.

    A majority of generations is no fair count: of 4 a tie is neither, and most of 4 is another thing than 1 of 1. The
    expected numbers are whole without repeats; ``gained − lost`` is always the difference in accuracy times n.

    Attributes:
        both_right: in both runs right.
        both_wrong: in both wrong.
        gained: only in the second right.
        lost: only in the first.
    """

    both_right: float
    both_wrong: float
    gained: float
    lost: float


def agreement(pairs: Sequence[Pair], filter_name: str) -> Agreement:
    """The expected numbers of examples that both runs have right, and so on."""
    known = [(a, b) for a, b in _shares(pairs, filter_name) if a is not None and b is not None]
    sums = (
        math.fsum(a * b for a, b in known),
        math.fsum((1 - a) * (1 - b) for a, b in known),
        math.fsum((1 - a) * b for a, b in known),
        math.fsum(a * (1 - b) for a, b in known),
    )
    return Agreement(*(round(number, 6) for number in sums))


def flips(pairs: Sequence[Pair], task: str, filter_name: str) -> Iterator[Flip]:
    """Examples that one run has right and the other wrong, in most of the generations."""
    for (a, b), shares in zip(pairs, _shares(pairs, filter_name), strict=True):
        right = [None if share in (None, 0.5) else share > 0.5 for share in shares]
        if None not in right and right[0] != right[1]:
            yield Flip(task, filter_name, "gained" if right[1] else "lost", a, b)


def _shares(pairs: Sequence[Pair], filter_name: str) -> list[tuple[float | None, ...]]:
    """The shares of generations that are right; None where accuracy was not computed."""
    return [tuple(sample.metrics.get(filter_name, {}).get("acc") for sample in both) for both in pairs]
