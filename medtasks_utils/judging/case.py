"""What a judge sees of one example, and what it says of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple


@dataclass(frozen=True)
class Case:
    """An explanation of a right answer, with all that it is judged by.

    Attributes:
        specialty: one of MedExQA's five, such as ``clinical_psychology``.
        question: the question without its options.
        options: the texts of A to D.
        answer_letter: the right option, which the explanation chose.
        explanation: the response without its think block.
        references: one or two reference explanations, none blank.
    """

    specialty: str
    question: str
    options: tuple[str, ...]
    answer_letter: str
    explanation: str
    references: tuple[str, ...]


class Tokens(NamedTuple):
    """Tokens as the endpoint counted them; 0 where it does not count."""

    prompt: int = 0
    completion: int = 0

    def plus(self, other: Tokens) -> Tokens:
        """The sum of both."""
        return Tokens(self.prompt + other.prompt, self.completion + other.completion)


@dataclass(frozen=True)
class Judgement:
    """A judge's verdict on one case, or why there is none.

    Attributes:
        score: 0–100; None if the judge failed.
        failure: the kind of failure: ``timeout``, ``unreachable``, ``refusal``, ``unreadable``, or ``http_429`` and the
            like; None if the case was judged.
        error: the failure in one line, without secrets; None if the case was judged.
        output: all that the judge said: for G-Eval its JSON object; for FActScore ``claims``, ``labels``, ``support``
            and, with coverage, ``reference_claims``, ``reference_labels``, ``coverage``. What was said before a
            failure is kept.
        tokens: spent on the case, answers from the cache included.
        calls: requests made for the case: retries count, answers from the cache do not.
    """

    score: float | None
    failure: str | None = None
    error: str | None = None
    output: dict[str, Any] = field(default_factory=dict)
    tokens: Tokens = field(default_factory=Tokens)
    calls: int = 0
