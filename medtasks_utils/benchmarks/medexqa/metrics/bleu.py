"""BLEU-4 of an example (Papineni et al. 2002, https://aclanthology.org/P02-1040), as ``evaluate`` computes it by
default.

sacreBLEU provides the tokens (``13a``, case-sensitive) and the four n-gram precisions, in which the count of an n-gram
is clipped to its maximum count in any one reference. The score is their geometric mean times the brevity penalty. For c
tokens in the explanation and r in the shortest reference, the penalty is ``exp(1 − r/c)`` if c ≤ r, else 1; sacreBLEU
would use the reference nearest in length. There is no smoothing: the score is 0 if any order has no match, as for most
examples. This makes it a poor statistic for a single example, but published scores are averages of it.
"""

import math
from collections.abc import Sequence
from importlib.metadata import version

from sacrebleu.metrics import BLEU
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from . import ExplanationMetric


class Bleu(ExplanationMetric):
    """BLEU-4 without smoothing, of one explanation against all references of its example together."""

    name = "bleu"

    def __init__(self) -> None:
        self._tokenize = Tokenizer13a()
        self._bleu = BLEU(tokenize="none", smooth_method="none")

    @property
    def signature(self) -> str:
        """The tokenizer, the smoothing, the reference length used, and sacreBLEU's version."""
        return f"bleu|max-order:4|tok:13a|case:mixed|smooth:none|length:shortest|sacrebleu:{version('sacrebleu')}"

    def of_one(self, candidate: str, references: Sequence[str]) -> float:
        """Return BLEU against all references together, 0–1."""
        texts = [self._tokenize(text) for text in references]
        counts = self._bleu.corpus_score([self._tokenize(candidate)], [[text] for text in texts])
        if not all(counts.precisions):
            return 0.0
        shortest = min(len(text.split()) for text in texts)
        penalty = 1.0 if counts.sys_len > shortest else math.exp(1 - shortest / counts.sys_len)
        return float(penalty * math.prod(counts.precisions) ** 0.25 / 100)
