"""METEOR (Banerjee & Lavie 2005, https://aclanthology.org/W05-0909), as ``evaluate`` has it by default.

The score is ``nltk.translate.meteor_score.meteor_score`` with its defaults (alpha 0.9, beta 3, gamma 0.5; words match
exactly, then by Porter stem, then as WordNet synonyms of the stem; case does not count) on the tokens of
``nltk.word_tokenize``, which splits sentences by Punkt's English model first. Each word is stemmed and looked up once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import version
from types import SimpleNamespace

from nltk import word_tokenize
from nltk.corpus import wordnet
from nltk.stem.porter import PorterStemmer
from nltk.translate.meteor_score import meteor_score

from medtasks_utils.benchmarks.medexqa.metrics.metric import Metric
from medtasks_utils.benchmarks.medexqa.metrics.nltk_data import PUNKT, WORDNET, load

_REMEMBERED = 1 << 16  # a few thousand words make up most of any text


class Meteor(Metric):
    """METEOR, the best over the references."""

    name = "meteor"

    def __init__(self) -> None:
        self._stemmer = SimpleNamespace(stem=lru_cache(_REMEMBERED)(PorterStemmer().stem))
        self._synonyms = SimpleNamespace(synsets=lru_cache(_REMEMBERED)(lambda word: wordnet.synsets(word)))

    @property
    def signature(self) -> str:
        """Tokenisation, and the versions of WordNet and of the library that it equals."""
        wordnet_version = wordnet.get_version()
        return f"meteor|tok:word_tokenize|case:lc|refs:best|wordnet:{wordnet_version}|nltk:{version('nltk')}"

    def prepare(self) -> None:
        """Load WordNet and Punkt's model, and fetch them first if need be.

        Raises:
            MetricError: if one of them cannot be had.
        """
        for package in (WORDNET, PUNKT):
            load(package)

    def of_one(self, candidate: str, references: Sequence[str]) -> float:
        """METEOR on the best reference."""
        words = [word_tokenize(text) for text in references]
        return float(meteor_score(words, word_tokenize(candidate), stemmer=self._stemmer, wordnet=self._synonyms))
