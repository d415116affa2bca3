"""Where rows come from: the hub, a directory, or the bundled sample; all three end as files in a folder.

A hub repository is downloaded to the hub's own cache and then read like any directory, so that a snapshot copied to a
machine without internet, files converted by hand, and the hub itself take the same path.

Files of a GitHub repository at one commit are downloaded once by pooch, which checks their SHA-256, into a cache:
``$XDG_CACHE_HOME/medtasks/data`` (``~/.cache`` by default). ``MEDTASKS_GITHUB`` names a mirror of
``https://raw.githubusercontent.com``. ``HF_HUB_OFFLINE`` keeps from these downloads as from the hub's.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from medtasks_utils.benchmarks.base import Benchmark, Repository
from medtasks_utils.benchmarks.tables import SUFFIXES
from medtasks_utils.benchmarks.yaml_tasks import PACKAGE
from medtasks_utils.errors import DataError, reason_of

from .task_options import DATA_KEY

HUB = "hub"
SAMPLE = PACKAGE / "sample"
ENVIRONMENT_VARIABLE = "MEDTASKS_DATA"
ADDRESS_VARIABLE = "MEDTASKS_GITHUB"
_ADDRESS = "https://raw.githubusercontent.com"
_WAY_OUT = (
    "run medtasks fetch where there is internet and copy the cache, or set MEDTASKS_DATA to a directory with the "
    'files, or to "sample" for the bundled sample'
)


def source_of(metadata: Mapping[str, Any]) -> str:
    """``medtasks_data`` in ``--metadata``, else the variable ``MEDTASKS_DATA``, else ``hub``."""
    return str(metadata.get(DATA_KEY) or os.environ.get(ENVIRONMENT_VARIABLE) or HUB)


class BenchmarkFiles:
    """One benchmark's files at a source, as the benchmark asks for them; each repository is looked for once.

    Args:
        name: the source: ``hub``, ``sample`` or a directory.
        benchmark: whose they are.
        revision: in place of the pinned one of the repository that is asked for first.
    """

    def __init__(self, name: str, benchmark: Benchmark, revision: str | None = None) -> None:
        self.name = name
        self._benchmark = benchmark
        self._revision = revision
        self._found: dict[str, Path] = {}

    @property
    def commit(self) -> str:
        """That of the hub's snapshot which was asked for first; empty where none was."""
        return next((folder.name for folder in self._found.values()), "")

    def folder(self, repository: Repository) -> Path:
        """The folder with a repository's files, downloaded to the hub's cache where need be.

        Raises:
            DataError: where there is no such folder, or the hub cannot be reached and has not been before.
        """
        if repository.name not in self._found:
            self._found[repository.name] = self._folder(repository, None if self._found else self._revision)
        return self._found[repository.name]

    def _folder(self, repository: Repository, revision: str | None) -> Path:
        own = self._benchmark
        if self.name == HUB and repository.files:
            return download_pinned(repository)
        if self.name == HUB:
            return _download(repository.name, revision or repository.revision)
        root = SAMPLE if self.name == "sample" else Path(self.name).expanduser()
        folder = own.sample if self.name == "sample" and own.sample else root / own.name
        if not folder.is_dir():
            raise DataError(
                f"there is no folder {folder}; put a snapshot of the hub data set {repository.name} or plain files "
                f'there, or set --data, {ENVIRONMENT_VARIABLE} or {DATA_KEY} to "hub" or "sample"'
            )
        return folder

    def cached(self, repository: Repository) -> Path | None:
        """The folder with a repository's pinned files, if they are there already."""
        there = all((cached_folder(repository) / file.name).is_file() for file in repository.files)  # written whole
        return self.folder(repository) if self.name != HUB or there else None


def _download(repository: str, revision: str | None) -> Path:
    from huggingface_hub import constants, snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    patterns = [f"*{suffix}" for suffix in SUFFIXES]
    try:
        folder = snapshot_download(repository, repo_type="dataset", revision=revision, allow_patterns=patterns)
    except (OSError, HFValidationError, *HfHubHTTPError.__bases__) as error:  # whichever HTTP library the client uses
        why = "HF_HUB_OFFLINE is set" if constants.HF_HUB_OFFLINE else reason_of(error)
        raise DataError(
            f"{repository} at revision {revision} is not in the hub's cache on this machine, and cannot be downloaded "
            f"({why}); {_WAY_OUT}"
        ) from None
    return Path(folder)


def cached_folder(repository: Repository) -> Path:
    """Where the files of a repository are kept; its name is the commit."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "medtasks" / "data" / repository.name.replace("/", "--") / str(repository.revision)


def download_pinned(repository: Repository) -> Path:
    """The folder with the files, downloaded where they are not there yet.

    Raises:
        DataError: where a file cannot be had, or is not the one that is meant.
    """
    import pooch
    from huggingface_hub import constants

    folder = cached_folder(repository)
    address = os.environ.get(ADDRESS_VARIABLE, _ADDRESS).rstrip("/")
    for file in repository.files:
        url = f"{address}/{repository.name}/{repository.revision}/{file.path}"
        try:
            if constants.HF_HUB_OFFLINE and not (folder / file.name).is_file():
                raise OSError("HF_HUB_OFFLINE is set")
            pooch.retrieve(url, f"sha256:{file.sha256}", file.name, folder)
        except (OSError, ValueError) as error:
            raise DataError(
                f"{file.name} of {repository.name} cannot be had from the cache {folder}, nor from {url} "
                f"({reason_of(error)}); {_WAY_OUT}"
            ) from None
    return folder
