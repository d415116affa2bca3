"""Compare the labels of each specialty with its explanations, to find misaligned labels."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from statistics import mean

from medtasks_utils.benchmarks.facts import Example
from medtasks_utils.benchmarks.known_issues import Shift, shifts, words_of
from medtasks_utils.extraction.letters import LETTERS


def shifted_specialties(examples: Iterable[Example]) -> dict[str, Shift]:
    """Return, by specialty, the shift of labels against explanations; specialties with aligned labels are left out."""
    in_order = sorted(examples, key=lambda example: int(example["id"].rpartition("/")[2]))
    return shifts((example["specialty"], supported(example), example["answer_letter"]) for example in in_order)


def supported(example: Example) -> str | None:
    """Return the letter of the choice whose distinctive words are most frequent in the explanations; None for a tie."""
    times = Counter(words_of(f"{example['explanation_1']} {example['explanation_2']}").split())
    options = [set(words_of(option).split()) for option in example["options"]]
    having = Counter(chain.from_iterable(options))

    def support_of(words: set[str]) -> float:
        """Return the mean frequency, in the explanations, of the words that only this choice has."""
        return mean([times[word] for word in words if having[word] == 1] or [0])

    support = list(map(support_of, options))
    most = max(support)
    return LETTERS[support.index(most)] if support.count(most) == 1 else None


def realigned(examples: Sequence[Example], offset: int) -> list[Example]:
    """Return the examples, each with the label of the row ``offset`` rows later; drop examples without such a row."""
    pairs = zip(examples[max(0, -offset) :], examples[max(0, offset) :], strict=False)
    return [{**row, "answer_letter": of["answer_letter"], "answer_idx": of["answer_idx"]} for row, of in pairs]
