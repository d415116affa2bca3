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

    def each(self, doc: Doc, reply: Reply) -> dict[str, float]:
        """With the length."""
        return {**super().each(doc, reply), "letters": len(reply.text)}
