"""Sentence BLEU (Papineni et al. 2002, https://aclanthology.org/P02-1040): equal to sacreBLEU's.

The score is ``sacrebleu.metrics.BLEU(effective_order=True).sentence_score(candidate, references).score`` with
sacreBLEU's defaults: tokenizer ``13a``, the standard of WMT, so that a score can be compared; exponential smoothing,
without which a text that shares no four words in a row with its references scores 0; the effective order, which
sacreBLEU asks for at sentence level, so that a text of three words can score at all. Case counts. Tokenizer and formula
are sacreBLEU's own functions; what differs is that each word is tokenised once, and that only n-grams of the references
are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain

from sacrebleu.metrics.bleu import BLEU, MAX_NGRAM_ORDER

from medtasks_utils.explanations.metric import Progress, unobserved

NGram = tuple[str, ...]

_LONGEST_REMEMBERED = 64


class Bleu:
    """Sentence BLEU against all references together."""

    name = "bleu"

    def __init__(self) -> None:
        self._bleu = BLEU(effective_order=True)
        self._remembered = lru_cache(maxsize=1 << 17)(self._tokenize)

    @property
    def signature(self) -> str:
        """sacreBLEU's signature; ``nrefs:var`` since an example may have one reference or more."""
        bleu = BLEU(effective_order=True)
        bleu.corpus_score(["a", "a"], [["a", "a"], ["a", None]])
        return f"bleu|{bleu.get_signature()}"

    def prepare(self) -> None:
        """Nothing is needed beyond the imports."""

    def score(
        self, candidates: Sequence[str], references: Sequence[Sequence[str]], progress: Progress = unobserved
    ) -> list[float]:
        """See :class:`~medtasks_utils.explanations.metric.Metric`."""
        tokens = lru_cache(maxsize=4096)(self.tokens)
        scores = []
        for candidate, texts in zip(candidates, references, strict=True):
            scores.append(self._score(tokens(candidate), [tokens(text) for text in texts]))
            progress(1)
        return scores

    def tokens(self, text: str) -> list[str]:
        """The tokens of a text, as sacreBLEU's ``13a`` has them."""
        text = text.rstrip()
        if "<skipped>" in text:  # markup that 13a takes out first; what remains may be anything, even the same markup
            return self._tokenize(text)
        # 13a joins words broken at the end of a line. Its other rules look at a character and its neighbours, and white
        # space is to them a character that is no digit: so words can be tokenised one by one, and remembered.
        words = text.replace("-\n", "").split()
        return list(
            chain.from_iterable(
                self._remembered(word) if len(word) <= _LONGEST_REMEMBERED else self._tokenize(word) for word in words
            )
        )

    def _tokenize(self, text: str) -> list[str]:
        return str(self._bleu.tokenizer(text)).split()

    def _score(self, candidate: list[str], references: list[list[str]]) -> float:
        length = len(candidate)
        score = BLEU.compute_bleu(
            correct=[_matches(candidate, references, order) for order in range(1, MAX_NGRAM_ORDER + 1)],
            total=[max(length + 1 - order, 0) for order in range(1, MAX_NGRAM_ORDER + 1)],
            sys_len=length,
            ref_len=min(map(len, references), key=lambda other: (abs(length - other), other)),
            smooth_method=self._bleu.smooth_method,
            effective_order=self._bleu.effective_order,
        )
        return float(score.score)


def _matches(candidate: list[str], references: list[list[str]], order: int) -> int:
    """How many of the candidate's n-grams are in a reference, each at most as often as in the one that has most."""
    counts: list[Mapping[NGram, int]] = [Counter(_ngrams(reference, order)) for reference in references]
    found: dict[NGram, int] = {}
    for count in counts:
        found.update(Counter(filter(count.__contains__, _ngrams(candidate, order))))
    return sum(min(times, max(count.get(ngram, 0) for count in counts)) for ngram, times in found.items())


def _ngrams(tokens: list[str], order: int) -> Iterable[NGram]:
    return zip(*(tokens[start:] for start in range(order)), strict=False)
