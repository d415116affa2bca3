"""Judge explanations by FActScore (Min et al., arXiv:2305.14251): the share of supported atomic claims.

One request extracts the claims (``prompts/factscore_claims.md``). For each claim, another request verifies it against
the question, the right choice and the references (``factscore_verify.md``): full support counts 1, partial support 0.5,
no support 0. With coverage, the distinct claims of all references are also extracted and verified against the
explanation (``factscore_cover.md``). The score is then the mean of both rates, or the support rate alone if the
references make no claims.
"""

import asyncio
from collections.abc import Sequence
from itertools import chain

from medtasks_utils.writing import JsonObject

from . import templates
from .judge import Ask, Case, Judgement
from .judge_replies import LABELS, read_claims, read_label


class FActScore:
    """A judge that verifies claims, with 1 + n requests for a case with n claims.

    Coverage adds one request per reference and one per distinct claim in the references.

    Args:
        use_coverage: True to also verify the references' claims against the explanation.
    """

    name = "factscore"

    def __init__(self, use_coverage: bool = False) -> None:
        self.use_coverage = use_coverage
        self.rates: Sequence[str] = ("support", "coverage") if use_coverage else ("support",)

    @property
    def signature(self) -> str:
        """A string that identifies the scoring method, independently of the judge model."""
        names = ["claims", "verify", *(["cover"] if self.use_coverage else [])]
        versions = "|".join(f"{name}:{templates.load(f'factscore_{name}').version}" for name in names)
        return f"factscore|coverage:{'each-reference' if self.use_coverage else 'no'}|{versions}"

    async def judge(self, case: Case, ask: Ask) -> Judgement:
        """Judge one case; the output contains the claims, their labels, and the rates from 0 to 100."""
        fields = case._asdict()

        async def rate(texts: Sequence[str], prompt: str) -> tuple[list[str], list[str], float | None]:
            """Extract and verify the claims in texts.

            ``prompt`` names the template of the verification. Return the claims, their labels, and the percentage that
            is supported (None without claims).
            """
            extraction, verification = (templates.load(f"factscore_{step}") for step in ("claims", prompt))
            extractions = [ask(extraction.messages(**{**fields, "explanation": text}), read_claims) for text in texts]
            claims = list(dict.fromkeys(chain(*await asyncio.gather(*extractions))))
            verifications = [ask(verification.messages(**fields, claim=claim), read_label) for claim in claims]
            labels = await asyncio.gather(*verifications)
            return claims, labels, 100 * sum(map(LABELS.__getitem__, labels)) / len(labels) if labels else None

        halves = [rate([case.explanation], "verify")]
        if self.use_coverage:
            halves.append(rate(case.references, "cover"))
        output: JsonObject = {}
        for name, prefix, half in zip(self.rates, ("", "reference_"), await asyncio.gather(*halves), strict=False):
            output[f"{prefix}claims"], output[f"{prefix}labels"], output[name] = half
        # An explanation without claims has a support of 0. References without claims have no coverage to be averaged.
        output["support"] = output["support"] or 0.0
        rates = [output[name] for name in self.rates if output[name] is not None]
        return Judgement(sum(rates) / len(rates), output=output)
