"""What selfcheck expects of MedExQA."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import mean

from medtasks_utils.benchmarks.known_answers import Doc, KnownAnswers, Reply


class MedExQAAnswers(KnownAnswers):
    """Letters in a sentence; to be unsure is to say so in thought alone, since the authors' rules read any text."""

    unsure = "<think>I am unsure.</think>", None
    form = "The answer is %s."

    def each(self, doc: Doc, reply: Reply) -> dict[str, float]:
        """With ``answer_accuracy``."""
        return {**super().each(doc, reply), "answer_accuracy": 100 * reply.right}

    def expected(self, examples: Sequence[tuple[Doc, Reply]]) -> dict[str, float]:
        """With the macro average over the specialties."""
        by_specialty: dict[str, list[float]] = defaultdict(list)
        for doc, reply in examples:
            by_specialty[doc["specialty"]].append(reply.right)
        return {**super().expected(examples), "macro_acc": mean(map(mean, by_specialty.values()))}
