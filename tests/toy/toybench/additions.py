"""A metric, a judge and a tool."""

from collections.abc import Sequence

from medtasks_utils.benchmarks.medexqa.metrics import ExplanationMetric
from medtasks_utils.judging import Case
from medtasks_utils.judging.judge import Ask, Judgement
from medtasks_utils.tools.tool import CallResult, Tool


class SharedWords(ExplanationMetric):
    """The share of a candidate's words that stand in a reference, 0–100."""

    name = "words"
    signature = "words|v:1"

    def of_one(self, candidate: str, references: Sequence[str]) -> float:
        """Score, 0–1."""
        words = candidate.split()
        return sum(word in " ".join(references).split() for word in words) / len(words)


class KindJudge:
    """One call, whatever it says: 99."""

    name = "kind-judge"
    rates = ()
    signature = "kind-judge|v:1"

    async def judge(self, case: Case, ask: Ask) -> Judgement:
        """Judge."""
        said = await ask([{"role": "user", "content": f"Praise this: {case.explanation}"}], str)
        return Judgement(99.0, output={"said": said})


class Reverse(Tool):
    """A text backwards."""

    name = "reverse"
    argument = "text"
    description = "returns a text backwards"
    example = "abc"
    offers = "turn texts round"

    def run(self, calls: Sequence[tuple[str, str]]) -> list[CallResult]:
        """Reverse each."""
        return [CallResult(text[::-1], failed=False) for _, text in calls]
