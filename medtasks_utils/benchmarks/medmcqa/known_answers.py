"""What selfcheck expects of MedMCQA."""

from __future__ import annotations

from collections.abc import Sequence

from medtasks_utils.benchmarks.known_answers import Doc, KnownAnswers, Reply, share


class MedMCQAAnswers(KnownAnswers):
    """Boxed letters."""

    def exact(self, examples: Sequence[tuple[Doc, Reply]]) -> dict[str, float]:
        """With ``format`` and ``one_box``."""
        values = super().exact(examples)
        formatted = share(["</think>" in reply.text for _, reply in examples])
        return {
            **values,
            "format": formatted,
            "one_box": share(["\\boxed" in _final(reply.text) for _, reply in examples]),
        }


def _final(text: str) -> str:
    return text.split("</think>")[-1] if "</think>" in text else text.split("<think>")[0]
