"""What selfcheck expects of the toy benchmark."""

from __future__ import annotations

from collections.abc import Sequence

from medtasks_utils.benchmarks.known_answers import Doc, KnownAnswers, Reply


class ToyAnswers(KnownAnswers):
    """Yes or no, and nothing else."""

    def target(self, doc: Doc) -> str:
        """The right answer."""
        return str(doc["answer"])

    def choices(self, doc: Doc) -> Sequence[str]:
        """Both."""
        return ("yes", "no")

    def written(self, answer: str) -> str:
        """As it is."""
        return answer

    def exact(self, examples: Sequence[tuple[Doc, Reply]]) -> dict[str, float]:
        """With the mean length."""
        return {**super().exact(examples), "letters": sum(len(reply.text) for _, reply in examples) / len(examples)}
