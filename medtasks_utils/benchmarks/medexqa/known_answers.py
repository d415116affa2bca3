"""What selfcheck expects of MedExQA."""

from __future__ import annotations

from collections.abc import Sequence

from medtasks_utils.benchmarks.known_answers import Doc, KnownAnswers, Range, Reply, share


class MedExQAAnswers(KnownAnswers):
    """Letters in a sentence."""

    def written(self, answer: str) -> str:
        """A sentence that the authors' rules read."""
        return f"The answer is {answer}."

    def expected(self, behaviour: str, filter_name: str, examples: Sequence[tuple[Doc, Reply]]) -> dict[str, Range]:
        """Exact values, but that the authors' last rule finds the most similar option in any text."""
        if behaviour == "unsure" and filter_name == "strict-match":
            return {"acc": (0, 1), "answer_accuracy": (0, 100), "macro_acc": (0, 1), "answered": (1, 1)}
        return super().expected(behaviour, filter_name, examples)

    def exact(self, examples: Sequence[tuple[Doc, Reply]]) -> dict[str, float]:
        """With ``answer_accuracy``, and the macro average over the specialties."""
        values = super().exact(examples)
        specialties = sorted({doc["specialty"] for doc, _ in examples})
        parts = [share([reply.right for doc, reply in examples if doc["specialty"] == name]) for name in specialties]
        return {**values, "answer_accuracy": 100 * values["acc"], "macro_acc": sum(parts) / len(parts)}
