"""What METEOR needs of NLTK's data: found in its data path, or fetched into it on first use; never done without."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import nltk
from filelock import FileLock
from huggingface_hub import constants
from nltk.corpus import wordnet
from nltk.downloader import Downloader

from medtasks_utils.benchmarks.medexqa.metrics.metric import MetricError

logger = logging.getLogger("lm_eval.medtasks")  # shown like the harness's own lines

_WAIT = 30.0
"""Seconds without an answer after which the download is given up."""


@dataclass(frozen=True)
class Package:
    """A package of NLTK's data.

    Attributes:
        name: as the downloader has it.
        title: as messages have it.
        size: of the download.
        places: of its files in NLTK's data path.
        load: reads it as METEOR does; LookupError if it is not there.
    """

    name: str
    title: str
    size: str
    places: tuple[str, ...]
    load: Callable[[], object]

    @property
    def ways_out(self) -> str:
        """What a user can do without it."""
        return (
            f"run `python -m nltk.downloader {self.name}` where there is internet (on another machine: then copy its "
            "folder nltk_data and name it in the variable NLTK_DATA), or leave meteor out of explanation_metrics"
        )


WORDNET = Package(
    "wordnet", "WordNet", "11 MB", ("corpora/wordnet", "corpora/wordnet.zip"), lambda: wordnet.ensure_loaded()
)
PUNKT = Package(
    "punkt_tab",
    "Punkt's sentence model",
    "4 MB",
    ("tokenizers/punkt_tab", "tokenizers/punkt_tab.zip"),
    lambda: nltk.word_tokenize("Loaded."),
)


def load(package: Package) -> None:
    """Load a package, fetched if need be.

    Raises:
        MetricError: if it is neither there nor to be had, or cannot be read.
    """
    if _is_loaded(package):
        return
    problem = "is not installed and could not be fetched"
    if constants.HF_HUB_OFFLINE:
        problem = "is not installed, and HF_HUB_OFFLINE forbids to fetch it"
    else:
        folder = Path(Downloader().default_download_dir())
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with FileLock(folder / f".medtasks-{package.name}.lock"):  # several processes start at the same time
                if not _is_loaded(package):
                    logger.warning("meteor needs %s: fetching it (%s) into %s", package.title, package.size, folder)
                    _fetch(package, folder)
        except OSError as error:
            problem = f"cannot be kept in {folder} ({error})"
    if not _is_loaded(package):
        raise MetricError(f"meteor needs {package.title}, which {problem}: {package.ways_out}")


def _is_loaded(package: Package) -> bool:
    try:
        package.load()
    except LookupError:
        return False
    except Exception as error:  # a damaged copy fails in many ways
        raise MetricError(
            f"meteor: {package.title} in NLTK's data path cannot be read ({error!r}): {package.ways_out}"
        ) from None
    return True


def _fetch(package: Package, folder: Path) -> None:
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(_WAIT)  # NLTK sets none of its own
    try:
        nltk.download(package.name, download_dir=str(folder), quiet=True)
    finally:
        socket.setdefaulttimeout(before)
