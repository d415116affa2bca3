"""Choices that each generation of an example may see in another order (``vary_order``); letters stay with choices."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from typing import Any

from medtasks_utils.benchmarks.base import Benchmark, Example, TaskInfo
from medtasks_utils.benchmarks.options import Options
from medtasks_utils.errors import OptionError


class ChoiceOptions(Options):
    """Options of a benchmark with choices."""

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

    def check(self, task: TaskInfo, options: Any) -> list[str]:
        """Refuse ``vary_order`` where nothing is generated; a line where there is nothing to vary."""
        if options.vary_order and not task.generates:
            raise OptionError(f"{task.name}: vary_order is for generated answers, and this task scores logits")
        if options.vary_order and options.repeats == 1:
            return ["vary_order varies the order over repeats, and repeats is 1"]
        return []


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
