"""Choices that each generation of an example may see in another order (``vary_order``); letters stay with choices."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from typing import ClassVar

from medtasks_utils.benchmarks.base import Benchmark, Example
from medtasks_utils.benchmarks.options import Options, Requirement


class ChoiceOptions(Options):
    """Options of a benchmark with choices."""

    needs: ClassVar = {"vary_order": Requirement("repeats", lambda options: options.repeats > 1)}

    vary_order: bool = False
    """show each generation the choices in another order; needs repeats"""


class ChoiceBenchmark(Benchmark):
    """A benchmark whose generations may each see the choices in another order."""

    @abstractmethod
    def first_order(self, example: Example) -> str:
        """The letters in the order that a single generation sees."""

    @abstractmethod
    def in_order(self, example: Example, order: str) -> Example:
        """The example as the prompt's template takes it, with its choices in another order."""


def order_of(generation: int, first: str) -> str:
    """The order in which a generation, numbered from 0, of an example sees its choices; ``first`` is generation 0's.

    Four generations in a row show each of four choices once in each place; 24 show every order once.

    >>> [order_of(generation, "ABCD") for generation in range(6)]
    ['ABCD', 'BCDA', 'CDAB', 'DABC', 'ABDC', 'BDCA']
    """
    turns, by = divmod(generation, len(first))
    others = list(itertools.permutations(first[1:]))
    order = first[0] + "".join(others[turns % len(others)])
    return order[by:] + order[:by]
