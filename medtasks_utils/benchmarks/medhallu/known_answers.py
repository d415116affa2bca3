"""What selfcheck expects of MedHallu."""

from __future__ import annotations

from collections.abc import Sequence

from medtasks_utils.benchmarks.known_answers import Doc, KnownAnswers, Reply, share
from medtasks_utils.benchmarks.medhallu.verdicts import DIFFICULTIES, FACTUAL, HALLUCINATED, UNSURE


class MedHalluAnswers(KnownAnswers):
    """Boxed verdicts."""

    unsure_text = "\\boxed{2}"
    unsure_answer = UNSURE

    def target(self, doc: Doc) -> str:
        """The right verdict."""
        return str(doc["target"])

    def choices(self, doc: Doc) -> Sequence[str]:
        """Both verdicts."""
        return (FACTUAL, HALLUCINATED)

    def exact(self, examples: Sequence[tuple[Doc, Reply]]) -> dict[str, float]:
        """With the reward, and detection over the decided examples."""
        values = super().exact(examples)
        unsure = share([reply.given == UNSURE for _, reply in examples])
        by_level = {
            f"f1_{level}": _detection([pair for pair in examples if pair[0]["difficulty"] == level])["f1"]
            for level in DIFFICULTIES
        }
        return {
            **values,
            "unsure_rate": unsure,
            "reward": values["acc"] + 0.01 * unsure,
            **_detection(examples),
            **by_level,
        }


def _detection(examples: Sequence[tuple[Doc, Reply]]) -> dict[str, float]:
    decided = (FACTUAL, HALLUCINATED)
    kept = [(doc["target"] == HALLUCINATED, r.given == HALLUCINATED) for doc, r in examples if r.given in decided]
    hits = sum(target and given for target, given in kept)
    flagged, hallucinated = sum(given for _, given in kept), sum(target for target, _ in kept)
    precision = hits / flagged if flagged else 0.0
    recall = hits / hallucinated if hallucinated else 0.0
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    agreement = share([target == given for target, given in kept])
    return {"f1": f1, "precision": precision, "recall": recall, "accuracy_answered": agreement}
