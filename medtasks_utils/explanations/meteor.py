"""METEOR (Banerjee & Lavie 2005, https://aclanthology.org/W05-0909): equal to NLTK's.

The score is ``nltk.translate.meteor_score.meteor_score`` with its defaults (alpha 0.9, beta 3, gamma 0.5; words match
exactly, then by Porter stem, then as WordNet synonyms of the stem; case does not count) on texts split at white space:
NLTK takes tokens, and these need no further download. So a word is not the same as the word with a comma after it.
Alignment and formula are NLTK's own function; what differs is that each word is stemmed and looked up once. That makes
it quick enough that sharing it out over processes, each of which loads WordNet for seconds, would gain nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from itertools import chain

from nltk.translate.meteor_score import meteor_score

from medtasks_utils.explanations.metric import Progress, unobserved
from medtasks_utils.explanations.stems import RememberingStemmer
from medtasks_utils.explanations.wordnet import Synonyms, load_wordnet


class Meteor:
    """METEOR, the best over the references."""

    name = "meteor"

    def __init__(self) -> None:
        self._stemmer = RememberingStemmer()
        self._synonyms: Synonyms | None = None
        self._wordnet_version = ""

    @property
    def signature(self) -> str:
        """Tokenisation, and the versions of WordNet and of the library that it equals."""
        return f"meteor|tok:split|case:lc|refs:best|wordnet:{self._wordnet_version}|nltk:{version('nltk')}"

    def prepare(self) -> None:
        """Load WordNet, and fetch it first if need be.

        Raises:
            MetricError: if it cannot be had.
        """
        if self._synonyms is None:
            reader = load_wordnet()
            self._synonyms = Synonyms(reader)
            self._wordnet_version = str(reader.get_version())

    def score(
        self, candidates: Sequence[str], references: Sequence[Sequence[str]], progress: Progress = unobserved
    ) -> list[float]:
        """See :class:`~medtasks_utils.explanations.metric.Metric`."""
        self.prepare()
        assert self._synonyms is not None
        scores = []
        for candidate, texts in zip(candidates, references, strict=True):
            words = [text.split() for text in texts]
            self._synonyms.vocabulary = frozenset(self._stemmer.stem(word.lower()) for word in chain(*words))
            score = meteor_score(words, candidate.split(), stemmer=self._stemmer, wordnet=self._synonyms)
            scores.append(100 * float(score))
            progress(1)
        return scores
