"""What selfcheck expects of the toy benchmark."""

from __future__ import annotations

from collections.abc import Sequence

from medtasks_utils.benchmarks.known_answers import Doc, KnownAnswers, Reply


class ToyAnswers(KnownAnswers):
    """Yes or no, and nothing else."""

    truth = "answer"
    form = "%s"

    def choices(self, doc: Doc) -> Sequence[str]:
        """Both."""
        return ("yes", "no")

    def each(self, doc: Doc, reply: Reply) -> dict[str, float]:
        """With the length."""
        return {**super().each(doc, reply), "letters": len(reply.text)}
