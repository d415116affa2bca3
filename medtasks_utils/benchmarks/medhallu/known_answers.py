"""What selfcheck expects of MedHallu."""

from __future__ import annotations

from collections.abc import Sequence

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

    def exact(self, examples: Sequence[tuple[Doc, Reply]]) -> dict[str, float]:
        """With detection over the examples answered 0 or 1."""
        by_level = {
            f"f1_{level}": _detection([one for one in examples if one[0]["difficulty"] == level])["f1"]
            for level in DIFFICULTIES
        }
        return {**super().exact(examples), **_detection(examples), **by_level}


def _detection(examples: Sequence[tuple[Doc, Reply]]) -> dict[str, float]:
    """Precision, recall, F1 and accuracy by the four counts of the two verdicts; 0 where a denominator is."""
    pairs = [(doc["target"], reply.given) for doc, reply in examples]
    hits, false_alarms = pairs.count((HALLUCINATED, HALLUCINATED)), pairs.count((FACTUAL, HALLUCINATED))
    misses, passes = pairs.count((HALLUCINATED, FACTUAL)), pairs.count((FACTUAL, FACTUAL))
    wrong = false_alarms + misses
    return {
        "precision": hits / max(1, hits + false_alarms),
        "recall": hits / max(1, hits + misses),
        "f1": 2 * hits / max(1, 2 * hits + wrong),
        "accuracy_answered": (hits + passes) / max(1, hits + passes + wrong),
    }
