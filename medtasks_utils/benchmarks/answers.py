"""Define the answers that filters find in responses, and the scorers that process all answers of a task together."""

from collections.abc import Sequence
from typing import Any, Protocol

from medtasks_utils.statistics.scores import Score
from medtasks_utils.writing import printable

from .facts import UNANSWERED, Example


class Answer(str):
    """The answer that a filter read in a response: the text that samples show, and the value that is scored.

    Attributes:
        value: the value that scoring compares; None if no answer was found.
        response: the whole response.
        scores: additional scores of this response, such as those from a :class:`BatchScorer` or from tools.
        details: additional fields of the logged sample, with JSON-compatible values. All answers of a task have the
            same fields, always including the following. ``found_by`` is ``box``, ``tag``, ``key`` (of JSON), ``letter``
            (stated), ``option_text``, ``statement`` (of a value or verdict), ``fuzzy`` (similarity to a choice),
            ``filter`` (of a variant), or ``none``. ``certainty`` is the estimated probability that the response states
            this answer: 1 for a strict rule, 0 if no answer was found. ``words`` are the words that state the answer;
            empty if they are not known.
    """

    value: Any
    response: str
    scores: dict[str, Score]
    details: dict[str, Any]

    def __new__(
        cls,
        value: Any,
        response: str = "",
        shown: str | None = None,
        found_by: str = "statement",
        certainty: float = 1.0,
        words: str = "",
    ) -> "Answer":
        """Create an answer that samples show as ``shown`` or, by default, as ``value``.

        Without a value, samples show :data:`.UNANSWERED`, and ``found_by``, ``certainty`` and ``words`` are ignored.
        """
        if value is None:
            shown, found_by, certainty, words = UNANSWERED, "none", 0.0, ""
        self = super().__new__(cls, shown or str(value))
        self.value = value
        self.response = response
        self.scores = {}
        self.details = {"found_by": found_by, "certainty": round(certainty, 3), "words": printable(words)}
        return self


class BatchScorer(Protocol):
    """An object that scores all answers of a task together, such as a judge or a batched model."""

    failure: str | None
    """Why no answer could be scored; None if at least one was scored, or there were no answers."""

    @property
    def signatures(self) -> dict[str, str]:
        """For each metric or judge, by name, a line with every setting and version that affects its scores."""

    def add_scores(self, answers: Sequence[tuple[Example, Answer]]) -> None:
        """Add scores to each answer's ``scores``, and fields for the sample log to its ``details``.

        If there are answers to score, but none could be scored, set ``failure``.
        """
