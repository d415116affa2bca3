"""METEOR (Banerjee & Lavie 2005, https://aclanthology.org/W05-0909), as ``evaluate`` computes it by default.

The score is ``nltk.translate.meteor_score.meteor_score`` with its defaults: alpha 0.9, beta 3, gamma 0.5; words match
exactly, then by Porter stem, then as WordNet synonyms of the stem; case is ignored. The tokens are those of
``nltk.word_tokenize``, which first splits sentences with Punkt's English model. Stems and synonyms of words are cached.
"""

import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import nltk
from huggingface_hub import constants
from nltk.corpus import wordnet
from nltk.stem.porter import PorterStemmer
from nltk.translate.meteor_score import meteor_score

from medtasks_utils.benchmarks.facts import Resource
from medtasks_utils.errors import MedtasksError, NotDownloadedError, logger

from . import ExplanationMetric

_REMEMBERED = 1 << 16  # words; a few thousand words make up most of any text


class Meteor(ExplanationMetric):
    """METEOR against the best reference."""

    name = "meteor"

    def __init__(self) -> None:
        self._stemmer = SimpleNamespace(stem=lru_cache(_REMEMBERED)(PorterStemmer().stem))
        self._synonyms = SimpleNamespace(synsets=lru_cache(_REMEMBERED)(lambda word: wordnet.synsets(word)))

    @property
    def signature(self) -> str:
        """A line with the tokenisation, the case, the use of references, and the versions of WordNet and NLTK."""
        wordnet_version = wordnet.get_version()
        return f"meteor|tok:word_tokenize|case:lc|refs:best|wordnet:{wordnet_version}|nltk:{version('nltk')}"

    def prepare(self) -> None:
        """Load WordNet and Punkt's model; download them first if necessary.

        Raises:
            MedtasksError: if WordNet or the model is not available.
        """
        for resource in RESOURCES:
            resource.load()

    def of_one(self, candidate: str, references: Sequence[str]) -> float:
        """Return METEOR against the best reference, 0–1."""
        words = [nltk.word_tokenize(text) for text in references]
        return float(meteor_score(words, nltk.word_tokenize(candidate), stemmer=self._stemmer, wordnet=self._synonyms))


_READERS: dict[str, Callable[[], object]] = {
    "corpora/wordnet": lambda: wordnet.ensure_loaded(),
    "tokenizers/punkt_tab": lambda: nltk.word_tokenize("Loaded."),
}
"""Functions that read each NLTK package as METEOR does, by the package's path."""


def _load(place: str) -> None:
    """Read a package of NLTK's data; download it first if it is missing.

    Raises:
        MedtasksError: if the package cannot be downloaded or read.
    """
    name = Path(place).name
    with warnings.catch_warnings(record=True) as issued:  # NLTK warns about folders that others can write to
        warnings.simplefilter("always", RuntimeWarning)
        try:
            try:
                _READERS[place]()
            except LookupError:
                if constants.HF_HUB_OFFLINE:
                    raise
                logger.warning("meteor needs NLTK's %s, which is missing; downloading it", name)
                nltk.download(name, quiet=True, print_error_to=StringIO())
                _READERS[place]()
        except Exception as error:  # a damaged copy fails in many ways
            reason = issued[-1].message if issued else type(error).__name__
            kind = NotDownloadedError if type(error) is LookupError and not issued else MedtasksError
            raise kind(f"meteor needs NLTK's {name}, which is missing or cannot be read ({reason})") from None


RESOURCES = [Resource(Path(place).name, f"NLTK's {place}", partial(_load, place)) for place in _READERS]
