"""What selfcheck expects of MedHallu."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from medtasks_utils.benchmarks.known_answers import Doc, KnownAnswers, Reply
from medtasks_utils.benchmarks.medhallu.verdicts import DIFFICULTIES, FACTUAL, HALLUCINATED, UNSURE


class MedHalluAnswers(KnownAnswers):
    """Boxed verdicts."""

    unsure = "\\boxed{2}", UNSURE

    def target(self, doc: Doc) -> str:
        """The right verdict."""
        return str(doc["target"])

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
    """Precision, recall, F1 and accuracy by the four counts of the two verdicts; 0 where a denominator is."""
    pairs: list[tuple[str | None, ...]] = [(doc["target"], reply.given) for doc, reply in examples]
    hits, misses, alarms, passes = map(pairs.count, product((HALLUCINATED, FACTUAL), repeat=2))
    return {
        "precision": hits / max(1, hits + alarms),
        "recall": hits / max(1, hits + misses),
        "f1": 2 * hits / max(1, 2 * hits + misses + alarms),
        "accuracy_answered": (hits + passes) / max(1, hits + misses + alarms + passes),
    }
