"""FActScore (Min et al., arXiv:2305.14251): the share of an explanation's atomic claims that the evidence supports.

One call extracts the claims (``prompts/factscore_claims.md``), one more verifies each of them against question, right
option and references (``factscore_verify.md``): fully supported 1, partially 0.5, not 0. With coverage, the references'
claims are extracted and verified against the explanation too (``factscore_cover.md``), and the score is the mean of
both rates.
"""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

from medtasks_utils.judging import templates
from medtasks_utils.judging.case import Case
from medtasks_utils.judging.judge import Ask, CallError, Verdict
from medtasks_utils.judging.replies import LABELS, read_claims, read_label


class FActScore:
    """1 + n calls a case with n claims; with coverage 2 + n + m, m being the references' claims.

    Args:
        use_coverage: verify the references' claims against the explanation as well.
    """

    name = "factscore"

    def __init__(self, use_coverage: bool = False) -> None:
        self.use_coverage = use_coverage
        self.rates = ("support", "coverage") if use_coverage else ("support",)

    @property
    def signature(self) -> str:
        """Every choice behind the number but the model."""
        names = ["claims", "verify", *(["cover"] if self.use_coverage else [])]
        versions = "|".join(f"{name}:{templates.load(f'factscore_{name}').version}" for name in names)
        return f"factscore|coverage:{'yes' if self.use_coverage else 'no'}|{versions}"

    async def judge(self, case: Case, ask: Ask) -> Verdict:
        """Judge one case; the output has claims, labels and the rates, 0–100."""
        output: dict[str, Any] = {}
        halves = [self._rate(case, ask, output, case.explanation, "verify", "", "support")]
        if self.use_coverage:
            reference = "\n\n".join(case.references)
            halves.append(self._rate(case, ask, output, reference, "cover", "reference_", "coverage"))
        await _all(halves, output)
        # References without a medical claim leave nothing to cover.
        rates = [output[name] for name in ("support", "coverage") if output.get(name) is not None]
        return Verdict(sum(rates) / len(rates), output)

    async def _rate(
        self, case: Case, ask: Ask, output: dict[str, Any], text: str, prompt: str, prefix: str, rate: str
    ) -> None:
        """Extract the claims of a text, verify each, and put both with their rate into the output as they come."""
        extraction = templates.load("factscore_claims")
        claims = await ask(
            extraction.messages(specialty=case.specialty, question=case.question, explanation=text), read_claims
        )
        labels: list[str | None] = [None] * len(claims)
        output |= {f"{prefix}claims": claims, f"{prefix}labels": labels}
        verification = templates.load(f"factscore_{prompt}")
        fields = dataclasses.asdict(case)

        async def verify(index: int, claim: str) -> None:
            labels[index] = await ask(verification.messages(**fields, claim=claim), read_label)

        await _all([verify(index, claim) for index, claim in enumerate(claims)], output)
        worths = [LABELS[label] for label in labels if label is not None]
        # An explanation without a medical claim supports nothing.
        output[rate] = 100 * sum(worths) / len(worths) if worths else 0.0 if rate == "support" else None


async def _all(calls: list[Any], output: dict[str, Any]) -> None:
    """Wait for all, so that every answer is kept; then fail as the first that failed did."""
    for result in await asyncio.gather(*calls, return_exceptions=True):
        if isinstance(result, CallError):
            result.output = output
        if isinstance(result, BaseException):
            raise result
