"""FActScore (Min et al., arXiv:2305.14251): the share of an explanation's atomic claims that the evidence supports.

One call extracts the claims (``prompts/factscore_claims.md``). One more call per claim verifies it against the
question, the right option and the references (``factscore_verify.md``): fully supported counts 1, partially 0.5, not 0.
With coverage, the claims of each reference are extracted too, duplicates are dropped, and each is verified against the
explanation (``factscore_cover.md``); the score is then the mean of both rates.
"""

import asyncio
from collections.abc import Sequence
from itertools import chain
from typing import Any

from . import templates
from .judge import Ask, CallError, Case, Judgement
from .judge_replies import LABELS, read_claims, read_label


class FActScore:
    """Judge by verified claims: 1 + n calls for a case with n claims.

    Coverage adds one call per reference and one per distinct claim in the references.

    Args:
        use_coverage: also verify the references' claims against the explanation.
    """

    name = "factscore"

    def __init__(self, use_coverage: bool = False) -> None:
        self.use_coverage = use_coverage
        self.rates: Sequence[str] = ("support", "coverage") if use_coverage else ("support",)

    @property
    def signature(self) -> str:
        """Return a text that identifies how cases are scored, whatever the judge model."""
        names = ["claims", "verify", *(["cover"] if self.use_coverage else [])]
        versions = "|".join(f"{name}:{templates.load(f'factscore_{name}').version}" for name in names)
        return f"factscore|coverage:{'each-reference' if self.use_coverage else 'no'}|{versions}"

    async def judge(self, case: Case, ask: Ask) -> Judgement:
        """Judge one case; the output holds the claims, their labels and the rates, 0–100."""
        output: dict[str, Any] = {}
        fields = case._asdict()

        async def rate(name: str, texts: Sequence[str], prompt: str, prefix: str = "") -> None:
            """Extract the claims of the texts, verify each, and store claims, labels and rate in the output."""
            extraction, verification = (templates.load(f"factscore_{step}") for step in ("claims", prompt))
            extractions = [ask(extraction.messages(**{**fields, "explanation": text}), read_claims) for text in texts]
            claims = list(dict.fromkeys(chain(*await asyncio.gather(*extractions))))
            labels: list[Any] = [None] * len(claims)
            output.update({f"{prefix}claims": claims, f"{prefix}labels": labels})

            async def verify(index: int) -> None:
                labels[index] = await ask(verification.messages(**fields, claim=claims[index]), read_label)

            await asyncio.gather(*map(verify, range(len(claims))))
            # An explanation without a medical claim supports nothing; references without one leave nothing to cover.
            empty = None if prefix else 0.0
            output[name] = 100 * sum(map(LABELS.__getitem__, labels)) / len(labels) if labels else empty

        halves = [rate("support", [case.explanation], "verify")]
        if self.use_coverage:
            halves.append(rate("coverage", case.references, "cover", "reference_"))
        try:
            await asyncio.gather(*halves)
        except CallError as error:
            error.output = output
            raise
        rates = [output[name] for name in self.rates if output[name] is not None]
        return Judgement(sum(rates) / len(rates), output=output)
