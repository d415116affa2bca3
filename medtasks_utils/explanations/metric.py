"""What a metric of explanations is, and the error it raises before any model runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from medtasks_utils.errors import MedtasksError

DEFAULT_BERTSCORE_MODEL = "allenai/scibert_scivocab_uncased"
Progress = Callable[[int], object]
"""Called with the number of examples just scored."""


class MetricError(MedtasksError):
    """A metric that cannot be computed here; the message says what to install or fetch, or how to do without."""


def unobserved(count: int) -> None:
    """Progress of which nobody is told."""


class OneByOne:
    """What scores each example for itself; a kind of :class:`Metric` says how."""

    def prepare(self) -> None:
        """Nothing is needed beyond the imports."""

    def score(
        self, candidates: Sequence[str], references: Sequence[Sequence[str]], progress: Progress = unobserved
    ) -> list[float]:
        """See :class:`Metric`."""
        self.prepare()
        scores = []
        for candidate, texts in zip(candidates, references, strict=True):
            scores.append(100 * self.of_one(candidate, texts))
            progress(1)
        return scores

    def of_one(self, candidate: str, references: Sequence[str]) -> float:
        """The score of a candidate, 0–1."""
        raise NotImplementedError


class Metric(Protocol):
    """A similarity of a candidate text to one or more reference texts."""

    @property
    def name(self) -> str:
        """As in :data:`medtasks_utils.explanations.METRICS`."""

    @property
    def signature(self) -> str:
        """Every choice behind the number, with versions, in one line; valid after :meth:`prepare`."""

    def prepare(self) -> None:
        """Check, fetch and load what scoring needs.

        Raises:
            MetricError: if something is missing and cannot be fetched.
        """

    def score(
        self, candidates: Sequence[str], references: Sequence[Sequence[str]], progress: Progress = unobserved
    ) -> list[float]:
        """Score texts.

        Args:
            candidates: n texts; an empty one scores 0.
            references: for each candidate one or more texts that are not blank.
            progress: told about every few examples done.

        Returns:
            n scores, 0–100, higher is more similar.
        """
