"""Words with one slip of the pen: a letter lost, doubled, changed or swapped with its neighbour."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_WORD = re.compile(r"[A-Za-z]?[a-z]{4,15}")


class Spelling:
    """Words whose misspellings are known again.

    >>> Spelling(["factual", "hallucinated"], ["actual"]).corrected("factul, actual, halucinatd, fatcual")
    'factual, actual, halucinatd, factual'
    """

    def __init__(self, words: Iterable[str], others: Iterable[str]) -> None:
        words = list(words)
        self._known = {*words, *others}
        self._cached = lru_cache(maxsize=4096)(self._word)
        self._near = {form: word for word in reversed(words) for form in _shortened(word)}

    def corrected(self, text: str) -> str:
        """The text with such words as they should be, in lower case."""
        return _WORD.sub(lambda match: self._cached(match[0]), text)

    def _word(self, word: str) -> str:
        written, word = word, word.lower()
        if word in self._known or word.removesuffix("s") in self._known:
            return written
        found = {self._near[form] for form in _shortened(word) if form in self._near}
        return found.pop() if len(found) == 1 else written


def _shortened(word: str) -> set[str]:
    """The word, and the word without one of its letters."""
    return {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}
