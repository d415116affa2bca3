"""What selfcheck expects of MedCalc-Bench."""

from __future__ import annotations

from collections.abc import Sequence

from medtasks_utils.benchmarks.known_answers import Doc, KnownAnswers, Reply, share

_FIRST = {"date": "1/1/1900", "weeks_days": "(0 weeks, 1 days)"}


class MedCalcBenchAnswers(KnownAnswers):
    """Values in answer tags."""

    def target(self, doc: Doc) -> str:
        """The truth in the form that is asked for."""
        return str(doc["shown_truth"])

    def choices(self, doc: Doc) -> Sequence[str]:
        """A value that is hardly ever right, and the right one."""
        return [_FIRST.get(str(doc["judgement"]), "1"), self.target(doc)]

    def written(self, answer: str) -> str:
        """In the tag."""
        return f"<answer>{answer}</answer>"

    def cut_off(self, answer: str) -> str:
        """Within the tag: a tag that is closed would be read, since the think tags do not pair up."""
        return f"<think>It is <answer>{answer}"

    def is_right(self, doc: Doc, given: str) -> bool:
        """The truth itself, or a number within its limits."""
        if given == self.target(doc) or doc["judgement"] in _FIRST:
            return given == self.target(doc)
        return float(doc["lower_limit"]) <= float(given) <= float(doc["upper_limit"])

    def exact(self, examples: Sequence[tuple[Doc, Reply]]) -> dict[str, float]:
        """With the accuracy of each category."""
        by_category = {
            f"acc_{category}": share([reply.right for doc, reply in examples if doc["category"] == category])
            for category in sorted({doc["category"] for doc, _ in examples})
        }
        return {**super().exact(examples), **by_category}
