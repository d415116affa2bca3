"""What a metric of explanations is, and the error it raises before any model runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from medtasks_utils.errors import MedtasksError


class MetricError(MedtasksError):
    """A metric that cannot be computed here; the message says what to install or fetch, or how to do without."""


class Metric(ABC):
    """A similarity of a candidate text to one or more reference texts.

    Attributes:
        name: as in :data:`medtasks_utils.benchmarks.medexqa.metrics.METRICS`.
    """

    name: str

    @property
    @abstractmethod
    def signature(self) -> str:
        """Every choice behind the number, with versions, in one line; valid after :meth:`prepare`."""

    def prepare(self) -> None:  # noqa: B027
        """Check, fetch and load what scoring needs; here nothing.

        Raises:
            MetricError: if something is missing and cannot be fetched.
        """

    def score(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
        """Score texts, each example for itself; a progress bar appears if it takes more than a second.

        Args:
            candidates: n texts; an empty one scores 0.
            references: for each candidate one or more texts that are not blank.

        Returns:
            n scores, 0–100, higher is more similar.
        """
        from tqdm import tqdm  # here, since whether it shows is settled when it is imported

        self.prepare()
        pairs = list(zip(candidates, references, strict=True))
        return [
            100 * self.of_one(candidate, texts) if candidate.strip() else 0.0
            for candidate, texts in tqdm(pairs, delay=1, desc=f"Scoring explanations ({self.name})")
        ]

    @abstractmethod
    def of_one(self, candidate: str, references: Sequence[str]) -> float:
        """The score, 0–1, of a candidate that is not blank."""
