"""What selfcheck expects of MedCalc-Bench."""

from __future__ import annotations

from collections.abc import Sequence

from medtasks_utils.benchmarks.known_answers import Doc, KnownAnswers, Reply, share
from medtasks_utils.benchmarks.medcalc_bench.kinds import NOT_AVAILABLE, PHYSICIANS

_FIRST = {"date": "1/1/1900", "weeks_days": "(0 weeks, 1 days)"}
_COMPARED = (*_FIRST, "days")  # with the truth alone; all else has limits


class MedCalcBenchAnswers(KnownAnswers):
    """Values in answer tags; where a label may be ``N/A``, to be unsure is to say so of every example."""

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
        if given == self.target(doc) or NOT_AVAILABLE in (given, self.target(doc)) or doc["judgement"] in _COMPARED:
            return given == self.target(doc)
        return float(doc["lower_limit"]) <= float(given) <= float(doc["upper_limit"])

    def reply(self, behaviour: str, doc: Doc, seed: str) -> Reply:
        """See the class it overrides."""
        if behaviour == "unsure" and _may_lack_answer(doc):
            return Reply(self.written(NOT_AVAILABLE), NOT_AVAILABLE, self.is_right(doc, NOT_AVAILABLE))
        return super().reply(behaviour, doc, seed)

    def exact(self, examples: Sequence[tuple[Doc, Reply]]) -> dict[str, float]:
        """With the accuracy of each category and, where a label may be ``N/A``, what is told of that."""
        by_category = {
            f"acc_{category}": share([reply.right for doc, reply in examples if doc["category"] == category])
            for category in sorted({doc["category"] for doc, _ in examples})
        }
        plain = super().exact(examples)  # its mean is also the one whose error is stratified by calculator
        return {**plain, "by_calculator": plain["acc"], **by_category, **self._of_abstaining(examples)}

    def _of_abstaining(self, examples: Sequence[tuple[Doc, Reply]]) -> dict[str, float]:
        if not all(_may_lack_answer(doc) for doc, _ in examples):
            return {}
        by_label: dict[bool, list[bool]] = {}
        for doc, reply in examples:
            by_label.setdefault(self.target(doc) == NOT_AVAILABLE, []).append(reply.right)
        names = {False: "acc_answerable", True: "acc_unanswerable"}
        return {
            **{names[is_unanswerable]: share(rights) for is_unanswerable, rights in by_label.items()},
            "na_rate": share([reply.given == NOT_AVAILABLE for _, reply in examples]),
        }


def _may_lack_answer(doc: Doc) -> bool:
    return doc.get("labels") == PHYSICIANS
