"""ROUGE-L (Lin 2004, https://aclanthology.org/W04-1013), as ``evaluate`` has it by default.

The score is ``RougeScorer(["rougeL"]).score_multi(...)["rougeL"].fmeasure`` of ``rouge-score``: the F-measure on the
best reference, without a stemmer. Tokenizer and F-measure are rouge-score's own functions. The longest common
subsequence is computed in compiled code: rouge-score's own takes seconds for a response of 200,000 characters.
"""

from collections.abc import Sequence
from importlib.metadata import version

from rapidfuzz.distance import LCSseq
from rouge_score import scoring, tokenize

from . import Metric


class RougeL(Metric):
    """ROUGE-L F-measure without stemming, the best over the references."""

    name = "rougeL"

    @property
    def signature(self) -> str:
        """Measure, stemmer and the version of the library that it equals."""
        return f"rougeL|measure:f|stem:none|refs:best|rouge-score:{version('rouge-score')}"

    def of_one(self, candidate: str, references: Sequence[str]) -> float:
        """The F-measure on the best reference."""
        words = tokenize.tokenize(candidate, None)
        found = [0.0]
        for other in (tokenize.tokenize(text, None) for text in references):
            common = LCSseq.similarity(other, words)
            found.append(scoring.fmeasure(common / max(1, len(words)), common / max(1, len(other))))
        return max(found)
