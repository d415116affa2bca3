"""What selfcheck expects of MedExQA."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from medtasks_utils.benchmarks.known_answers import Doc, KnownAnswers, Range, Reply


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

    def each(self, doc: Doc, reply: Reply) -> dict[str, float]:
        """With ``answer_accuracy``."""
        return {**super().each(doc, reply), "answer_accuracy": 100 * reply.right}

    def exact(self, examples: Sequence[tuple[Doc, Reply]]) -> dict[str, float]:
        """With the macro average over the specialties."""
        by_specialty: dict[str, list[bool]] = defaultdict(list)
        for doc, reply in examples:
            by_specialty[doc["specialty"]].append(reply.right)
        means = [sum(rights) / len(rights) for rights in by_specialty.values()]
        return {**super().exact(examples), "macro_acc": sum(means) / len(means)}
