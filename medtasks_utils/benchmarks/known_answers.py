"""What ``medtasks selfcheck`` serves for a benchmark's documents, and what it then expects of every score.

The expected scores are worked out from the documents and the answers given, with formulas of their own, so that an
error in extraction, scoring, aggregation or in the harness's calling of them shows as a miss.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from statistics import mean
from typing import Any, NamedTuple

Doc = dict[str, Any]

BEHAVIOURS = {
    "right": "the right answer",
    "first": "always the first answer there is",
    "random": "one drawn at random",
    "malformed": "nothing, or reasoning that is cut off",
    "unsure": "that it is unsure",
}
"""The ways in which the server answers, in words."""


class Reply(NamedTuple):
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
    """A benchmark of lettered options; others override what differs.

    Attributes:
        truth: the field with the right answer.
        form: an answer as a model gives it in the form that was asked for.
        unsure: the response of a model that is unsure, and the answer in it.
    """

    truth = "answer_letter"
    form = "\\boxed{%s}"
    unsure: tuple[str, str | None] = ("Unsure.", None)

    def choices(self, doc: Doc) -> Sequence[str]:
        """Answers to draw from; the first is what ``first`` gives."""
        return "ABCD"

    def is_right(self, doc: Doc, given: str) -> bool:
        """Whether an answer is right."""
        return bool(given == doc[self.truth])

    def reply(self, behaviour: str, doc: Doc, seed: str) -> Reply:
        """What the server answers; documents with the same prompt have the same ``seed``, and so the same answer."""
        rng = random.Random(seed)
        right, choices = doc[self.truth], self.choices(doc)
        if behaviour == "malformed":
            return Reply(rng.choice(["", f"<think>It is {right}"]), None, False)
        if behaviour == "unsure":
            return Reply(*self.unsure, False)
        given = {"right": right, "first": choices[0], "random": rng.choice(choices)}[behaviour]
        return Reply(f"<think>Let me see.</think>\n{self.form % given}", given, self.is_right(doc, given))

    def expected(self, examples: Sequence[tuple[Doc, Reply]]) -> dict[str, float]:
        """The value of every metric of a task: the mean over the examples that have it."""
        values: dict[str, list[float]] = defaultdict(list)
        for doc, reply in examples:
            for name, value in self.each(doc, reply).items():
                values[name].append(value)
        return {name: mean(found) for name, found in values.items()}

    def each(self, doc: Doc, reply: Reply) -> dict[str, float]:
        """The metrics of one example that are means."""
        return {"acc": reply.right, "answered": reply.given is not None}
