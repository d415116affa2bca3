"""What selfcheck expects of MedMCQA."""

from __future__ import annotations

from collections.abc import Sequence

from medtasks_utils.benchmarks.known_answers import Doc, KnownAnswers, Reply, share


class MedMCQAAnswers(KnownAnswers):
    """Boxed letters."""

    def exact(self, examples: Sequence[tuple[Doc, Reply]]) -> dict[str, float]:
        """With ``format``."""
        return {**super().exact(examples), "format": share(["</think>" in reply.text for _, reply in examples])}
