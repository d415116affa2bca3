"""WordNet for METEOR: found in NLTK's data path, or fetched into it on first use; never done without."""

from __future__ import annotations

import logging
import socket
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import nltk
from filelock import FileLock
from huggingface_hub import constants
from nltk.corpus import wordnet
from nltk.downloader import Downloader

from medtasks_utils.explanations.metric import MetricError

logger = logging.getLogger("lm_eval.medtasks")  # shown like the harness's own lines

_WAIT = 30.0
"""Seconds without an answer after which the download is given up."""

_WAYS_OUT = (
    "run `python -m nltk.downloader wordnet` where there is internet (on another machine: then copy its folder "
    "nltk_data and name it in the variable NLTK_DATA), or leave meteor out of explanation_metrics"
)


def load_wordnet() -> Any:
    """NLTK's WordNet reader, loaded.

    Raises:
        MetricError: if WordNet is neither there nor to be had, or cannot be read.
    """
    if _is_loaded():
        return wordnet
    if constants.HF_HUB_OFFLINE:
        raise MetricError(f"meteor needs WordNet, and HF_HUB_OFFLINE forbids to fetch it: {_WAYS_OUT}")
    folder = Path(Downloader().default_download_dir())
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / ".medtasks-wordnet.lock"):  # several processes start at the same time
            if _is_loaded():
                return wordnet
            logger.warning("meteor needs WordNet: fetching it (11 MB) into %s", folder)
            _fetch(folder)
    except OSError as error:
        raise MetricError(f"meteor needs WordNet, which cannot be kept in {folder} ({error}): {_WAYS_OUT}") from None
    if not _is_loaded():
        raise MetricError(f"meteor needs WordNet, which is not installed and could not be fetched: {_WAYS_OUT}")
    return wordnet


def _is_loaded() -> bool:
    try:
        wordnet.ensure_loaded()
    except LookupError:
        return False
    except Exception as error:  # a damaged copy fails in many ways
        raise MetricError(f"meteor: the WordNet in NLTK's data path cannot be read ({error!r}): {_WAYS_OUT}") from None
    return True


def _fetch(folder: Path) -> None:
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(_WAIT)  # NLTK sets none of its own
    try:
        nltk.download("wordnet", download_dir=str(folder), quiet=True)
    finally:
        socket.setdefaulttimeout(before)


class _Lemma(NamedTuple):
    text: str

    def name(self) -> str:
        return self.text


class _Synset(NamedTuple):
    words: tuple[_Lemma, ...]

    def lemmas(self) -> tuple[_Lemma, ...]:
        return self.words


class Synonyms:
    """What NLTK's METEOR asks of WordNet: the same answers where they can matter, with a memory.

    METEOR makes one set of all lemmas of all synsets of a word, and looks which of them the reference has. So one
    synset with the lemmas that a reference has does as well.

    Args:
        reader: NLTK's reader.
    """

    def __init__(self, reader: Any) -> None:
        self._reader = reader
        self._remembered = lru_cache(maxsize=1 << 17)(self._names)
        self.vocabulary: frozenset[str] = frozenset()
        """The words of which synonyms are wanted, as METEOR has them then: lower case, stemmed."""

    def synsets(self, word: str) -> tuple[_Synset, ...]:
        """The word's synonyms within the vocabulary, as one synset, if there are any."""
        shared = self._remembered(word) & self.vocabulary
        return (_Synset(tuple(map(_Lemma, shared))),) if shared else ()

    def _names(self, word: str) -> frozenset[str]:
        return frozenset(lemma.name() for synset in self._reader.synsets(word) for lemma in synset.lemmas())
