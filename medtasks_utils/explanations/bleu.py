"""BLEU-4 of an example (Papineni et al. 2002, https://aclanthology.org/P02-1040), as ``evaluate`` has it by default.

Tokens are those of sacreBLEU's ``13a``; case counts. Each n-gram of the candidate, n = 1 … 4, matches at most as often
as in the reference that has it most often. The score is the geometric mean of the four precisions times the brevity
penalty ``exp(1 − r/c)`` for a candidate of c tokens that is not longer than the shortest reference's r. There is no
smoothing: without a match of some order the score is 0, which is what most single examples get. As a statistic of one
example that is poor, but it is what the published averages are made of.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version

from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from medtasks_utils.explanations.metric import OneByOne

_ORDERS = (1, 2, 3, 4)


class Bleu(OneByOne):
    """Unsmoothed BLEU-4 of an example against all its references together."""

    name = "bleu"

    def __init__(self) -> None:
        self._tokenizer = Tokenizer13a()

    @property
    def signature(self) -> str:
        """Tokenizer and its library's version, smoothing, and the reference's length that counts."""
        return f"bleu|max-order:4|tok:13a|case:mixed|smooth:none|length:shortest|sacrebleu:{version('sacrebleu')}"

    def of_one(self, candidate: str, references: Sequence[str]) -> float:
        """BLEU against all references together."""
        return _bleu(self._tokens(candidate), [self._tokens(text) for text in references])

    def _tokens(self, text: str) -> list[str]:
        return str(self._tokenizer(text)).split()


def _bleu(candidate: list[str], references: list[list[str]]) -> float:
    precisions = []
    for order in _ORDERS:
        found = _ngrams(candidate, order)
        most: Counter[tuple[str, ...]] = Counter()
        for reference in references:
            most |= _ngrams(reference, order)
        matches = (found & most).total()
        if not matches:
            return 0.0
        precisions.append(matches / found.total())
    length, shortest = len(candidate), min(map(len, references))
    penalty = 1.0 if length > shortest else math.exp(1 - shortest / length)
    return penalty * math.exp(sum(map(math.log, precisions)) / len(precisions))


def _ngrams(tokens: list[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(tokens[start:] for start in range(order)), strict=False))
