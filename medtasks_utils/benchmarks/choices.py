"""Define the base class of multiple-choice benchmarks with the choices A to D."""

import itertools
from collections.abc import Sequence
from functools import partial
from typing import Annotated, TypeVar

from medtasks_utils.extraction.boxes import unwrap
from medtasks_utils.extraction.letters import LETTERS, letter_of, read_letter
from medtasks_utils.extraction.plain import without_continuation
from medtasks_utils.extraction.think import final_text
from medtasks_utils.extraction.weighing import Reading

from .answers import Answer
from .base import Benchmark
from .facts import Data, Example
from .known_issues import ALIKE, CONTRADICTED, NO_IMAGE, contradicted, has_options_alike, refers_to_image, words_of
from .option_order import ORDER, shuffled_order
from .options import CHOOSES_ROWS, About, Needs, Options


class ChoiceOptions(Options):
    """Options of a multiple-choice benchmark."""

    vary_order: Annotated[bool, About(needs=Needs("repeats above 1", lambda options: options.repeats > 1))] = False
    """show the choices in a different order in each generation; needs repeats"""
    order_seed: Annotated[int | None, CHOOSES_ROWS] = None
    """shuffle and reletter each example's choices with this seed; choices that refer to others keep their place"""


ChoiceOptionsOf = TypeVar("ChoiceOptionsOf", bound=ChoiceOptions)


choice_data = partial(
    Data,
    truth="answer_letter",
    shown=("question", "options"),
    content=("question", "options", "answer_letter"),
    choices="options",
    names={"options": ("choices",), "answer_letter": ("cop", "answer_idx")},
)
"""A function that creates the :class:`.facts.Data` of a multiple-choice benchmark from its repositories."""


class ChoiceBenchmark(Benchmark[ChoiceOptionsOf]):
    """A benchmark with four choices, whose order may differ between the generations of an example.

    The fields of its examples are ``question``, ``options`` (the texts of A to D), ``answer_letter`` and
    ``answer_idx``.

    Attributes:
        are_numbered: True if 0 to 3 in a box mean A to D.
    """

    are_numbered = False
    stated_by = "letter"
    answers = dict(zip(LETTERS, LETTERS, strict=True))
    blanks = {"": {"options": [""] * len(LETTERS)}}

    def reordered(self, examples: Sequence[Example]) -> list[Example]:
        """Return the examples with their choices shuffled by ``order_seed``; unchanged without a seed.

        The field ``option_order`` of a shuffled example contains the original letters of its choices.
        """
        seed = self.options.order_seed
        if seed is None:
            return list(examples)
        orders = [shuffled_order(example["question"], example["options"], seed) for example in examples]
        return [
            {**self.relabelled(example, order), ORDER: order} for example, order in zip(examples, orders, strict=True)
        ]

    def first_order(self, example: Example) -> str:
        """Return the letters in the order in which the first generation shows the choices; by default, A to D."""
        return LETTERS

    def in_order(self, example: Example, order: str) -> Example:
        """Return the example with its choices in the given order of letters, for the prompt template.

        By default, only add the order as the field ``order``, which the template applies.
        """
        return {**example, "order": order}

    def relabelled(self, example: Example, order: str) -> Example:
        """Return the example with reordered choices: A to D become the choices that had the letters in ``order``."""
        options = [example["options"][LETTERS.index(letter)] for letter in order]
        place = order.index(example["answer_letter"])
        return {**example, "options": options, "answer_letter": LETTERS[place], "answer_idx": place}

    def in_data_order(self, example: Example) -> Example:
        """Return an example with its choices in the data's order; unchanged if ``order_seed`` did not shuffle them."""
        if ORDER not in example:
            return example
        order = example[ORDER]
        before = "".join(LETTERS[order.index(letter)] for letter in LETTERS)
        original = {name: value for name, value in example.items() if name != ORDER}
        return self.relabelled(original, before)

    def answer_in_data(self, answer: Answer, order: str) -> Answer:
        """Return an answer to a :meth:`relabelled` example with the letter that the chosen choice has in the data.

        An unanswered response stays unanswered. The order of the choices is logged as the detail ``shown_as``.

        Args:
            answer: the answer, with the letter that the prompt showed.
            order: the data's letters of the choices that the prompt showed as A to D.
        """
        ours = Answer(None if answer.value is None else order[LETTERS.index(answer.value)], answer.response)
        ours.scores, ours.details = answer.scores, {**answer.details, "shown_as": order}
        return ours

    def known_issues(self, examples: Sequence[Example]) -> list[list[str]]:
        """Return the issues of each example.

        An issue is a different answer to the same question and choices elsewhere, two choices that are alike, or a
        question that refers to an image.
        """
        asked = [
            ((words_of(example["question"]), *sorted(example["options"])), example["options"][example["answer_idx"]])
            for example in examples
        ]
        issues = []
        for example, is_contradicted in zip(examples, contradicted(asked), strict=True):
            is_so = (is_contradicted, has_options_alike(example["options"]), refers_to_image(example["question"]))
            issues.append(list(itertools.compress((CONTRADICTED, ALIKE, NO_IMAGE), is_so)))
        return issues

    def value(self, content: str, example: Example) -> str | None:
        """Return the letter A to D in the content of a box or tag; None if the content is not such a letter.

        If choices ``are_numbered``, 0 to 3 mean A to D.
        """
        return letter_of(unwrap(content), self.are_numbered)

    def read(self, text: str, example: Example) -> Reading:
        """Read the letter that a response chooses, in a box or elsewhere; the value is None if it chooses none."""
        return read_letter(final_text(without_continuation(text)), example["options"], example.get("question", ""))


def order_of(generation: int, first: str) -> str:
    """Return the order in which a generation shows the choices.

    Generations 0 to 3, 4 to 7 and so on show each of four choices once in each position; 24 successive ones show every
    order once.

    Args:
        generation: the number of the generation, from 0.
        first: the order in generation 0.

    >>> [order_of(generation, "ABCD") for generation in range(6)]
    ['ABCD', 'BCDA', 'CDAB', 'DABC', 'ABDC', 'BDCA']
    """
    round_number, shift = divmod(generation, len(first))
    arrangements = list(itertools.permutations(first[1:]))
    order = first[0] + "".join(arrangements[round_number % len(arrangements)])
    return order[shift:] + order[:shift]
