"""Judge explanations by FActScore (Min et al., arXiv:2305.14251): the share of atomic claims that have support.

One call extracts the claims (``prompts/factscore_claims.md``). For each claim, another call verifies it against the
question, the right option and the references (``factscore_verify.md``): full support counts 1, partial support 0.5, no
support 0. With coverage, the distinct claims of all references are extracted too, and each is verified against the
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
    """A judge that verifies claims, with 1 + n calls for a case with n claims.

    Coverage adds one call per reference and one per distinct claim in the references.

    Args:
        use_coverage: True to also verify the references' claims against the explanation.
    """

    name = "factscore"

    def __init__(self, use_coverage: bool = False) -> None:
        self.use_coverage = use_coverage
        self.rates: Sequence[str] = ("support", "coverage") if use_coverage else ("support",)

    @property
    def signature(self) -> str:
        """A text that identifies how cases are scored, independently of the judge model."""
        names = ["claims", "verify", *(["cover"] if self.use_coverage else [])]
        versions = "|".join(f"{name}:{templates.load(f'factscore_{name}').version}" for name in names)
        return f"factscore|coverage:{'each-reference' if self.use_coverage else 'no'}|{versions}"

    async def judge(self, case: Case, ask: Ask) -> Judgement:
        """Judge one case; the output contains the claims, their labels, and the rates from 0 to 100."""
        output: dict[str, Any] = {}
        fields = case._asdict()

        async def rate(name: str, texts: Sequence[str], prompt: str, prefix: str = "") -> None:
            """Extract the claims in texts, verify each, and store claims, labels and rate in the output."""
            extraction, verification = (templates.load(f"factscore_{step}") for step in ("claims", prompt))
            extractions = [ask(extraction.messages(**{**fields, "explanation": text}), read_claims) for text in texts]
            claims = list(dict.fromkeys(chain(*await asyncio.gather(*extractions))))
            labels: list[Any] = [None] * len(claims)
            output.update({f"{prefix}claims": claims, f"{prefix}labels": labels})

            async def verify(index: int) -> None:
                labels[index] = await ask(verification.messages(**fields, claim=claims[index]), read_label)

            await asyncio.gather(*map(verify, range(len(claims))))
            # Without claims, an explanation has a support of 0; references without claims are covered completely.
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
