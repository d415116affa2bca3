"""What ``medtasks selfcheck`` serves for a benchmark's documents, and what it then expects of every score.

The expected scores are worked out from the documents and the answers given, with formulas of their own, so that an
error in extraction, scoring, aggregation or in the harness's calling of them shows as a miss.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Doc = dict[str, Any]
Range = tuple[float, float]

BEHAVIOURS = {
    "right": "the right answer",
    "first": "always the first answer there is",
    "random": "one drawn at random",
    "malformed": "nothing, or reasoning that is cut off",
    "unsure": "that it is unsure",
}
"""The ways in which the server answers, in words."""


@dataclass(frozen=True)
class Reply:
    """An answer served for one document.

    Attributes:
        text: the response.
        given: the answer in it, None if there is none.
        right: whether that is the right answer.
    """

    text: str
    given: str | None
    right: bool


class KnownAnswers:
    """A benchmark of lettered options with the right one in ``answer_letter``; others override what differs."""

    unsure_text = "Unsure."
    unsure_answer: str | None = None

    def target(self, doc: Doc) -> str:
        """The right answer."""
        return str(doc["answer_letter"])

    def choices(self, doc: Doc) -> Sequence[str]:
        """Answers to draw from; the first is what ``first`` gives."""
        return "ABCD"

    def written(self, answer: str) -> str:
        """An answer as a model gives it in the form that was asked for."""
        return f"\\boxed{{{answer}}}"

    def cut_off(self, answer: str) -> str:
        """Reasoning that is cut off once it has named an answer, which is none."""
        return f"<think>It is {self.written(answer)}"

    def is_right(self, doc: Doc, given: str) -> bool:
        """Whether an answer is right."""
        return given == self.target(doc)

    def reply(self, behaviour: str, doc: Doc, seed: str) -> Reply:
        """What the server answers; documents with the same prompt have the same ``seed``, and so the same answer."""
        rng = random.Random(seed)
        target = self.target(doc)
        if behaviour == "malformed":
            return Reply(rng.choice(["", self.cut_off(target)]), None, False)
        if behaviour == "unsure":
            return Reply(self.unsure_text, self.unsure_answer, False)
        choices = self.choices(doc)
        drawn = rng.choice(choices)
        given = {"right": target, "first": choices[0], "random": drawn}[behaviour]
        return Reply(f"<think>Let me see.</think>\n{self.written(given)}", given, self.is_right(doc, given))

    def expected(self, behaviour: str, filter_name: str, examples: Sequence[tuple[Doc, Reply]]) -> dict[str, Range]:
        """Floor and ceiling of every metric of a task."""
        return exactly(self.exact(examples))

    def exact(self, examples: Sequence[tuple[Doc, Reply]]) -> dict[str, float]:
        """The value of every metric of a task."""
        replies = [reply for _, reply in examples]
        return {
            "acc": share([reply.right for reply in replies]),
            "answered": share([reply.given is not None for reply in replies]),
        }


def exactly(values: dict[str, float]) -> dict[str, Range]:
    """Values as ranges of no width."""
    return {name: (value, value) for name, value in values.items()}


def share(flags: Sequence[bool]) -> float:
    """The share that is true; 0 of none."""
    return sum(flags) / len(flags) if flags else 0.0
