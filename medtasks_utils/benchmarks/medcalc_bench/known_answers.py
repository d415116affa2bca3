"""What selfcheck expects of MedCalc-Bench."""

from __future__ import annotations

from collections.abc import Sequence

from medtasks_utils.benchmarks.known_answers import Doc, KnownAnswers, Reply
from medtasks_utils.benchmarks.medcalc_bench.kinds import NOT_AVAILABLE

_FIRST = {"date": "1/1/1900", "weeks_days": "(0 weeks, 1 days)"}


class MedCalcBenchAnswers(KnownAnswers):
    """Values in answer tags; where a label may be ``N/A``, to be unsure is to say so of every example."""

    truth = "shown_truth"
    form = "<answer>%s</answer>"

    def choices(self, doc: Doc) -> Sequence[str]:
        """A value that is hardly ever right, and the right one."""
        return [_FIRST.get(str(doc["judgement"]), "1"), doc[self.truth]]

    def is_right(self, doc: Doc, given: str) -> bool:
        """The truth itself, or a number within its limits, where it has any."""
        if doc["lower_limit"] is None or NOT_AVAILABLE in (given, doc[self.truth]):
            return super().is_right(doc, given)
        return float(doc["lower_limit"]) <= float(given) <= float(doc["upper_limit"])

    def reply(self, behaviour: str, doc: Doc, seed: str) -> Reply:
        """See the class it overrides."""
        if behaviour == "unsure" and "labels" in doc:
            return Reply(self.form % NOT_AVAILABLE, NOT_AVAILABLE, self.is_right(doc, NOT_AVAILABLE))
        return super().reply(behaviour, doc, seed)

    def each(self, doc: Doc, reply: Reply) -> dict[str, float]:
        """With the accuracy of its category and, where a label may be ``N/A``, what is told of that."""
        right = reply.right
        found = {**super().each(doc, reply), "by_calculator": right, f"acc_{doc['category']}": right}
        if "labels" in doc:
            answerable = "unanswerable" if doc[self.truth] == NOT_AVAILABLE else "answerable"
            found |= {f"acc_{answerable}": right, "na_rate": reply.given == NOT_AVAILABLE}
        return found
