"""What METEOR needs of NLTK's data: found in its data path, or fetched into it on first use; never done without."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import nltk
from filelock import FileLock
from huggingface_hub import constants
from nltk.corpus import wordnet
from nltk.downloader import Downloader

from medtasks_utils.benchmarks.medexqa.metrics.metric import MetricError
from medtasks_utils.errors import logger

_WAIT = 30.0
"""Seconds without an answer after which the download is given up."""


class Package(NamedTuple):
    """A package of NLTK's data.

    Attributes:
        name: as the downloader has it.
        places: of its files in NLTK's data path.
        read: reads it as METEOR does; LookupError if it is not there.
    """

    name: str
    places: tuple[str, ...]
    read: Callable[[], object]


WORDNET = Package("wordnet", ("corpora/wordnet", "corpora/wordnet.zip"), lambda: wordnet.ensure_loaded())
PUNKT = Package(
    "punkt_tab", ("tokenizers/punkt_tab", "tokenizers/punkt_tab.zip"), lambda: nltk.word_tokenize("Loaded.")
)


def load(package: Package) -> None:
    """Load a package, fetched if need be.

    Raises:
        MetricError: if it is neither there nor to be had, or cannot be read.
    """
    problem = "HF_HUB_OFFLINE forbids to fetch it" if constants.HF_HUB_OFFLINE else "it could not be fetched"
    try:
        if _is_read(package):
            return
        if not constants.HF_HUB_OFFLINE:
            _fetch(package)
            if _is_read(package):
                return
    except Exception as error:  # a damaged copy, or a folder that cannot be written
        problem = repr(error)
    raise MetricError(
        f"meteor needs NLTK's {package.name}, which is not there to be read ({problem}): run `python -m "
        f"nltk.downloader {package.name}` where there is internet (on another machine: then copy its folder nltk_data "
        "and name it in the variable NLTK_DATA), or leave meteor out of explanation_metrics"
    )


def _is_read(package: Package) -> bool:
    try:
        package.read()
    except LookupError:
        return False
    return True


def _fetch(package: Package) -> None:
    folder = Path(Downloader().default_download_dir())
    folder.mkdir(parents=True, exist_ok=True)
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(_WAIT)  # NLTK sets none of its own
    try:
        with FileLock(folder / f".medtasks-{package.name}.lock"):  # several processes start at the same time
            if not _is_read(package):
                logger.warning("meteor needs NLTK's %s: fetching it into %s", package.name, folder)
                nltk.download(package.name, download_dir=str(folder), quiet=True)
    finally:
        socket.setdefaulttimeout(before)
