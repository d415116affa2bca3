"""What a metric of explanations is, and the error it raises before any model runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from medtasks_utils.errors import MedtasksError

DEFAULT_BERTSCORE_MODEL = "allenai/scibert_scivocab_uncased"
Progress = Callable[[int], object]
"""Called with the number of examples just scored."""


class MetricError(MedtasksError):
    """A metric that cannot be computed here; the message says what to install or fetch, or how to do without."""


def unobserved(count: int) -> None:
    """Progress of which nobody is told."""


class Metric:
    """A similarity of a candidate text to one or more reference texts.

    Attributes:
        name: as in :data:`medtasks_utils.benchmarks.medexqa.metrics.METRICS`.
    """

    name: str

    @property
    def signature(self) -> str:
        """Every choice behind the number, with versions, in one line; valid after :meth:`prepare`."""
        raise NotImplementedError

    def prepare(self) -> None:
        """Check, fetch and load what scoring needs; here nothing.

        Raises:
            MetricError: if something is missing and cannot be fetched.
        """

    def score(
        self, candidates: Sequence[str], references: Sequence[Sequence[str]], progress: Progress = unobserved
    ) -> list[float]:
        """Score texts, each example for itself.

        Args:
            candidates: n texts; an empty one scores 0.
            references: for each candidate one or more texts that are not blank.
            progress: told about every few examples done.

        Returns:
            n scores, 0–100, higher is more similar.
        """
        self.prepare()
        scores = []
        for candidate, texts in zip(candidates, references, strict=True):
            scores.append(100 * self.of_one(candidate, texts) if candidate.strip() else 0.0)
            progress(1)
        return scores

    def of_one(self, candidate: str, references: Sequence[str]) -> float:
        """The score, 0–1, of a candidate that is not blank."""
        raise NotImplementedError
