"""Examples that one run has right and the other wrong."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np

from medtasks_utils.results import Sample
from medtasks_utils.statistics.ratio import Array

Pair = tuple[Sample, Sample]


class Agreement(NamedTuple):
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
    examples_gained: list[Pair]
    examples_lost: list[Pair]


def agreement(pairs: Sequence[Pair], a: Array, b: Array) -> Agreement:
    """How far two runs agree on examples.

    Args:
        pairs: the samples of both.
        a: the first run's accuracy on each, 0 to 1; NaN where it is not known.
        b: the second's.
    """
    shares = (a * b, (1 - a) * (1 - b), (1 - a) * b, a * (1 - b))
    both, neither, only_b, only_a = (round(float(np.nansum(share)), 6) for share in shares)
    gained, lost = (list(compress(pairs, (x < 0.5) & (y > 0.5))) for x, y in ((a, b), (b, a)))
    return Agreement(both, neither, only_b, only_a, gained, lost)
