"""Examples that one run has right and the other wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from medtasks_utils.results import Sample
from medtasks_utils.statistics.ratio import Array

Pair = tuple[Sample, Sample]


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
        examples_gained: the samples of both runs where the second alone is right in most generations.
        examples_lost: where the first alone is.
    """

    both_right: float
    both_wrong: float
    gained: float
    lost: float
    examples_gained: list[Pair] = field(default_factory=list, compare=False)
    examples_lost: list[Pair] = field(default_factory=list, compare=False)

    def mirrored(self) -> Agreement:
        """The same the other way round."""
        lost, gained = ([(b, a) for a, b in own] for own in (self.examples_gained, self.examples_lost))
        return Agreement(self.both_right, self.both_wrong, self.lost, self.gained, gained, lost)


def agreement(pairs: Sequence[Pair], filter_name: str) -> Agreement:
    """How far two runs agree on the examples of which accuracy was computed in both."""
    shares = [[sample.metrics.get(filter_name, {}).get("acc") for sample in pair] for pair in pairs]
    known = [(pair, own) for pair, own in zip(pairs, shares, strict=True) if None not in own]
    a, b = np.array([own for _, own in known], dtype=float).reshape(-1, 2).T
    only_b, only_a = (a < 0.5) & (b > 0.5), (a > 0.5) & (b < 0.5)
    return Agreement(
        both_right=_total(a * b),
        both_wrong=_total((1 - a) * (1 - b)),
        gained=_total((1 - a) * b),
        lost=_total(a * (1 - b)),
        examples_gained=[pair for (pair, _), flipped in zip(known, only_b, strict=True) if flipped],
        examples_lost=[pair for (pair, _), flipped in zip(known, only_a, strict=True) if flipped],
    )


def _total(shares: Array) -> float:
    return round(float(shares.sum()), 6)
