"""ROUGE-L (Lin 2004, https://aclanthology.org/W04-1013), as ``evaluate`` computes it by default.

The score is ``RougeScorer(["rougeL"]).score_multi(...)["rougeL"].fmeasure`` of ``rouge-score``: the F-measure against
the best reference, without a stemmer. The tokenizer and the F-measure are rouge-score's functions. The longest common
subsequence comes from rapidfuzz, since rouge-score takes seconds for a response of 200,000 characters.
"""

from collections.abc import Sequence
from importlib.metadata import version

from rapidfuzz.distance import LCSseq
from rouge_score import scoring, tokenize

from . import ExplanationMetric


class RougeL(ExplanationMetric):
    """ROUGE-L F-measure without stemming, against the best reference."""

    name = "rougeL"

    @property
    def signature(self) -> str:
        """The measure, the use of stemming, and rouge-score's version."""
        return f"rougeL|measure:f|stem:none|refs:best|rouge-score:{version('rouge-score')}"

    def of_one(self, candidate: str, references: Sequence[str]) -> float:
        """Return the F-measure against the best reference, 0–1."""
        words = tokenize.tokenize(candidate, None)
        best = 0.0
        for text in references:
            reference = tokenize.tokenize(text, None)
            common = LCSseq.similarity(reference, words)
            precision, recall = common / max(1, len(words)), common / max(1, len(reference))
            best = max(best, scoring.fmeasure(precision, recall))
        return best
