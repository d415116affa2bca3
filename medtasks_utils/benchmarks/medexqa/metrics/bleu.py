"""BLEU-4 of an example (Papineni et al. 2002, https://aclanthology.org/P02-1040), as ``evaluate`` has it by default.

The tokens (``13a``; case counts) and the four n-gram precisions, clipped by the reference that has an n-gram most
often, are sacreBLEU's. The score is their geometric mean times the brevity penalty ``exp(1 − r/c)`` for a candidate of
c tokens that is not longer than the shortest reference's r (sacreBLEU would take the reference nearest in length).
There is no smoothing: without a match of some order the score is 0, which is what most single examples get. As a
statistic of one example that is poor, but it is what the published averages are made of.
"""

import math
from collections.abc import Sequence
from importlib.metadata import version

from sacrebleu.metrics import BLEU
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from . import Metric


class Bleu(Metric):
    """Unsmoothed BLEU-4 of an example against all its references together."""

    name = "bleu"

    def __init__(self) -> None:
        self._tokenize = Tokenizer13a()
        self._bleu = BLEU(tokenize="none", smooth_method="none")

    @property
    def signature(self) -> str:
        """Tokenizer and its library's version, smoothing, and the reference's length that counts."""
        return f"bleu|max-order:4|tok:13a|case:mixed|smooth:none|length:shortest|sacrebleu:{version('sacrebleu')}"

    def of_one(self, candidate: str, references: Sequence[str]) -> float:
        """BLEU against all references together."""
        texts = [self._tokenize(text) for text in references]
        found = self._bleu.corpus_score([self._tokenize(candidate)], [[text] for text in texts])
        if not all(found.precisions):
            return 0.0
        shortest = min(len(text.split()) for text in texts)
        penalty = 1.0 if found.sys_len > shortest else math.exp(1 - shortest / found.sys_len)
        return float(penalty * math.prod(found.precisions) ** 0.25 / 100)
