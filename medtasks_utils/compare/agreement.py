"""Count how often two runs are right on the same examples, and list the examples that flipped."""

from collections.abc import Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np

from medtasks_utils.results import Sample
from medtasks_utils.statistics.ratio import Array

SamplePair = tuple[Sample, Sample]
"""The samples of one example in the first and in the second run."""


class Agreement(NamedTuple):
    """The numbers of examples on which two runs are right or wrong.

    Without repeats these are counts. With repeats they are expected values for one generation of each run. Majorities
    of generations would not be fair: a tie among four is neither right nor wrong, and a majority of four is harder to
    reach than a single right generation. ``gained − lost`` always equals the difference in accuracy times the number of
    examples.

    Attributes:
        both_right: right in both runs.
        both_wrong: wrong in both runs.
        gained: right in the second run only.
        lost: right in the first run only.
        examples_gained: the examples that only the second run has right in most generations.
        examples_lost: the examples that only the first run has right in most generations.
    """

    both_right: float
    both_wrong: float
    gained: float
    lost: float
    examples_gained: list[SamplePair]
    examples_lost: list[SamplePair]


def agreement(pairs: Sequence[SamplePair], a: Array, b: Array) -> Agreement:
    """Count the examples on which two runs are right or wrong.

    Args:
        pairs: the samples of n examples.
        a: the first run's accuracy on each example, 0 to 1, NaN if unknown; shape ``(n,)``.
        b: the second run's accuracy on each example, in the same form.
    """

    def expected(chances: Array) -> float:
        """Return the expected number of examples, given the probability of each; NaN counts as 0."""
        return round(float(np.nansum(chances)), 6)

    return Agreement(
        both_right=expected(a * b),
        both_wrong=expected((1 - a) * (1 - b)),
        gained=expected((1 - a) * b),
        lost=expected(a * (1 - b)),
        examples_gained=list(compress(pairs, (a < 0.5) & (b > 0.5))),
        examples_lost=list(compress(pairs, (b < 0.5) & (a > 0.5))),
    )
