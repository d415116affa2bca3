"""What selfcheck expects of MedHallu."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import harmonic_mean, mean

from medtasks_utils.benchmarks.known_answers import Doc, KnownAnswers, Reply
from medtasks_utils.benchmarks.medhallu import DIFFICULTIES, FACTUAL, HALLUCINATED, UNSURE


class MedHalluAnswers(KnownAnswers):
    """Boxed verdicts."""

    truth = "target"
    unsure = "\\boxed{2}", UNSURE

    def choices(self, doc: Doc) -> Sequence[str]:
        """Both verdicts."""
        return (FACTUAL, HALLUCINATED)

    def each(self, doc: Doc, reply: Reply) -> dict[str, float]:
        """With the reward of being right or unsure."""
        unsure = reply.given == UNSURE
        return {**super().each(doc, reply), "unsure_rate": unsure, "reward": 0.01 if unsure else reply.right}

    def expected(self, examples: Sequence[tuple[Doc, Reply]]) -> dict[str, float]:
        """With detection over the examples answered 0 or 1."""
        found = {**super().expected(examples), **_detection(examples)}
        for level in DIFFICULTIES:
            found[f"f1_{level}"] = _detection([one for one in examples if one[0]["difficulty"] == level])["f1"]
        return found


def _detection(examples: Sequence[tuple[Doc, Reply]]) -> dict[str, float]:
    """Precision, recall, F1 and accuracy over the examples that are answered 0 or 1; 0 where there are none."""
    answered = [(doc["target"], reply) for doc, reply in examples if reply.given in (FACTUAL, HALLUCINATED)]
    found = {
        "precision": [reply.right for _, reply in answered if reply.given == HALLUCINATED],
        "recall": [reply.right for target, reply in answered if target == HALLUCINATED],
        "accuracy_answered": [reply.right for _, reply in answered],
    }
    shares = {name: float(mean(right or [0])) for name, right in found.items()}
    return {**shares, "f1": harmonic_mean([shares["precision"], shares["recall"]])}
