"""Porter's stemmer as ROUGE-L and METEOR use it, with a memory: a few thousand words make up most of any text."""

from __future__ import annotations

from functools import lru_cache

from nltk.stem.porter import PorterStemmer

_LONGEST_REMEMBERED = 64


class RememberingStemmer:
    """NLTK's ``PorterStemmer`` in its default mode, same results."""

    def __init__(self) -> None:
        self._stem = PorterStemmer().stem
        self._remembered = lru_cache(maxsize=1 << 17)(self._stem)

    def stem(self, word: str) -> str:
        """The stem of a word, lower case."""
        # What is longer than any word is rare, and would only fill the memory.
        stem: str = self._remembered(word) if len(word) <= _LONGEST_REMEMBERED else self._stem(word)
        return stem
