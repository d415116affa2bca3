"""Hold the labels of each specialty against its explanations, to find labels that stand at other rows."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain

from medtasks_utils.benchmarks.facts import Example
from medtasks_utils.benchmarks.known_issues import Shift, shift_of, words_of
from medtasks_utils.extraction.letters import LETTERS


def shifts(examples: Iterable[Example]) -> dict[str, Shift]:
    """Return, by specialty, how the labels are shifted against the explanations; only specialties where they are."""
    parts: dict[str, list[Example]] = defaultdict(list)
    for example in sorted(examples, key=lambda example: int(example["id"].rpartition("/")[2])):
        parts[example["specialty"]].append(example)
    labels = {name: [example["answer_letter"] for example in part] for name, part in parts.items()}
    return {name: shift for name, part in parts.items() if (shift := shift_of(map(supported, part), labels[name]))}


def supported(example: Example) -> str | None:
    """Return the letter of the option whose own words the explanations have most often, by word; None for a tie."""
    said = Counter(words_of(f"{example['explanation_1']} {example['explanation_2']}").split())
    options = [set(words_of(option).split()) for option in example["options"]]
    having = Counter(chain.from_iterable(options))
    support = []
    for words in options:
        own = [said[word] for word in words if having[word] == 1]
        support.append(sum(own) / max(1, len(own)))
    most = max(support)
    return LETTERS[support.index(most)] if support.count(most) == 1 else None


def realigned(examples: Sequence[Example], offset: int) -> list[Example]:
    """Return the examples with the label of the row that is ``offset`` further on, without those that have none."""
    pairs = zip(examples[max(0, -offset) :], examples[max(0, offset) :], strict=False)
    return [{**row, **{name: other[name] for name in ("answer_letter", "answer_idx")}} for row, other in pairs]
