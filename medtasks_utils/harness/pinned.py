"""Files of a GitHub repository at one commit: downloaded once, checked by their SHA-256, and read from a cache.

The cache is ``$XDG_CACHE_HOME/medtasks/data`` (``~/.cache`` by default). ``MEDTASKS_GITHUB`` names a mirror of
``https://raw.githubusercontent.com``. ``HF_HUB_OFFLINE`` keeps from this download as from the hub's.
"""

from __future__ import annotations

import hashlib
import os
import urllib.request
from http.client import HTTPException
from pathlib import Path

from medtasks_utils.benchmarks.base import PinnedFile, Repository
from medtasks_utils.errors import DataError, first_line
from medtasks_utils.writing import write_whole

ADDRESS_VARIABLE = "MEDTASKS_GITHUB"
_ADDRESS = "https://raw.githubusercontent.com"
_TIMEOUT = 60  # seconds without a byte
_WAY_OUT = (
    "run medtasks fetch where there is internet and copy that folder, or set MEDTASKS_DATA to a directory with the "
    'file, or to "sample" for the bundled sample'
)


def cached_folder(repository: Repository) -> Path:
    """Where the files of a repository are kept; its name is the commit."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "medtasks" / "data" / repository.name.replace("/", "--") / str(repository.revision)


def is_cached(repository: Repository) -> bool:
    """Whether all files are there; each was written whole, after its check."""
    return all((cached_folder(repository) / file.name).is_file() for file in repository.files)


def download(repository: Repository) -> Path:
    """The folder with the files, downloaded where they are not there yet.

    Raises:
        DataError: where a file cannot be had, or is not the one that is meant.
    """
    folder = cached_folder(repository)
    for file in repository.files:
        if not (folder / file.name).is_file():
            write_whole(folder / file.name, _read(repository, file), make_folder=True)
    return folder


def _read(repository: Repository, file: PinnedFile) -> bytes:
    from huggingface_hub import constants

    address = os.environ.get(ADDRESS_VARIABLE, _ADDRESS).rstrip("/")
    url = f"{address}/{repository.name}/{repository.revision}/{file.path}"
    try:
        if constants.HF_HUB_OFFLINE:
            raise OSError("HF_HUB_OFFLINE is set")
        with urllib.request.urlopen(url, timeout=_TIMEOUT) as response:
            content: bytes = response.read()
    except (OSError, HTTPException) as error:
        raise DataError(
            f"{repository.name} is not in the cache {cached_folder(repository)}, and {url} cannot be downloaded "
            f"({first_line(error)}); {_WAY_OUT}"
        ) from None
    found = hashlib.sha256(content).hexdigest()
    if found != file.sha256:
        raise DataError(f"{url} is not the file that is meant: its SHA-256 is {found}, not {file.sha256}; {_WAY_OUT}")
    return content
