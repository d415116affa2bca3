"""Choices that each generation of an example may see in another order (``vary_order``); letters stay with choices."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from medtasks_utils.benchmarks.base import UNANSWERED, Benchmark, Example
from medtasks_utils.benchmarks.options import Options
from medtasks_utils.extraction.letters import LETTERS, read_letter
from medtasks_utils.extraction.plain import without_continuation
from medtasks_utils.extraction.think import final_text
from medtasks_utils.extraction.weighing import Reading


class ChoiceOptions(Options):
    """Options of a benchmark with choices."""

    needs: ClassVar = {"vary_order": "repeats above 1"}

    vary_order: bool = False
    """show each generation the choices in another order; needs repeats"""

    def has_effect(self, name: str) -> bool:
        """See :class:`Options`."""
        return self.repeats > 1 if name == "vary_order" else super().has_effect(name)


class ChoiceBenchmark(Benchmark):
    """A benchmark of four choices; the generations of an example may each see them in another order."""

    answers: Mapping[str, str] = {**dict(zip(LETTERS, LETTERS, strict=True)), UNANSWERED: "no answer"}

    @abstractmethod
    def first_order(self, example: Example) -> str:
        """The letters in the order that a single generation sees."""

    @abstractmethod
    def in_order(self, example: Example, order: str) -> Example:
        """The example as the prompt's template takes it, with its choices in another order."""

    def read(self, text: str, example: Example, options: Any) -> Reading:
        """What is weighed to find a letter, boxes among it."""
        return read_letter(final_text(without_continuation(text)), example["options"])


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
