"""Find the files of a benchmark on the Hub, in a directory, or in the bundled sample.

A repository of the Hub is downloaded to the Hub's own cache and then read like any directory, so the same code reads
the Hub, a snapshot that was copied to a machine without internet, and files that were converted by hand.

Files of a GitHub repository at one commit are downloaded once by pooch, which checks their SHA-256, to the cache
``$XDG_CACHE_HOME/medtasks/data`` (by default ``~/.cache/medtasks/data``). ``MEDTASKS_GITHUB`` names a mirror of
``https://raw.githubusercontent.com``. ``HF_HUB_OFFLINE`` prevents these downloads as well as the Hub's.
"""

import os
from pathlib import Path

from medtasks_utils.benchmarks.facts import Repository
from medtasks_utils.benchmarks.registered import AnyBenchmark
from medtasks_utils.benchmarks.tables import SUFFIXES
from medtasks_utils.benchmarks.yaml_tasks import PACKAGE
from medtasks_utils.errors import DataError, NotDownloadedError, reason_of
from medtasks_utils.writing import JsonObject, Settings

from .task_options import DATA_KEY

HUB = "hub"
SAMPLE = PACKAGE / "sample"
ENVIRONMENT_VARIABLE = "MEDTASKS_DATA"
ADDRESS_VARIABLE = "MEDTASKS_GITHUB"
_ADDRESS = "https://raw.githubusercontent.com"
_HOW_TO_GET_FILES = (
    "run medtasks fetch on a machine with internet access and copy its cache, or set MEDTASKS_DATA to a directory with "
    'the files, or to "sample" for the bundled sample'
)


def source_of(metadata: Settings) -> str:
    """Return the source of rows: ``medtasks_data`` in ``--metadata``, or else the variable ``MEDTASKS_DATA``.

    If neither is set, the source is ``hub``.
    """
    return str(metadata.get(DATA_KEY) or os.environ.get(ENVIRONMENT_VARIABLE) or HUB)


class BenchmarkFiles:
    """The files of one benchmark at a source. Each repository is located once, when it is needed.

    Args:
        name: the source: ``hub``, ``sample`` or a directory.
        benchmark: the benchmark.
        revision: on the Hub, the revision of the repository that is needed first; None for the pinned one.
    """

    def __init__(self, name: str, benchmark: AnyBenchmark, revision: str | None = None) -> None:
        self.name = name
        self._benchmark = benchmark
        self._revision = revision
        self._folders: dict[str, Path] = {}

    @property
    def commit(self) -> str:
        """The name of the folder that was needed first, which is a commit on the Hub; empty if none was needed."""
        return next((folder.name for folder in self._folders.values()), "")

    def folder(self, repository: Repository) -> Path:
        """Return the folder with a repository's files; download them to the cache if necessary.

        Raises:
            DataError: if there is no such folder, or the files can neither be downloaded nor found in the cache.
        """
        if repository.name not in self._folders:
            self._folders[repository.name] = self._folder(repository, None if self._folders else self._revision)
        return self._folders[repository.name]

    def _folder(self, repository: Repository, revision: str | None) -> Path:
        """Return the folder with a repository's files, which are downloaded if necessary.

        A ``revision`` of None means the pinned one; sources other than the Hub have no revisions.
        """
        benchmark = self._benchmark
        if self.name == HUB and repository.files:
            return download_pinned(repository)
        if self.name == HUB:
            return _download(repository.name, revision or repository.revision)
        root = SAMPLE if self.name == "sample" else Path(self.name).expanduser()
        folder = root / (benchmark.data.folder or benchmark.name)
        if self.name == "sample" and benchmark.data.sample:
            folder = benchmark.data.sample
        if not folder.is_dir():
            raise DataError(
                f"no folder {folder}: put the files of {repository.name} there, "
                f'or set --data, {ENVIRONMENT_VARIABLE} or {DATA_KEY} to "hub" or "sample"'
            )
        return folder

    def cached(self, repository: Repository) -> Path | None:
        """Return the folder with the files of a GitHub repository; None if they would have to be downloaded.

        For a source other than the Hub, this is the folder at the source.
        """
        folder = cached_folder(repository)
        are_cached = all((folder / file.name).is_file() for file in repository.files)  # files are never written in part
        return self.folder(repository) if self.name != HUB or are_cached else None


def _download(repository: str, revision: str | None) -> Path:
    """Return the folder of a repository of the Hub in the Hub's cache; download it if necessary.

    Raises:
        DataError: if it is not in the cache and cannot be downloaded.
    """
    from huggingface_hub import HfApi, constants, snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    failures = OSError, HFValidationError, *HfHubHTTPError.__bases__  # errors of any HTTP library that the client uses
    settings: JsonObject = {"allow_patterns": [f"*{suffix}" for suffix in SUFFIXES]}
    unreachable = None
    try:  # a single request; without a network, snapshot_download retries for half a minute
        HfApi().dataset_info(repository, revision=revision, timeout=constants.HF_HUB_ETAG_TIMEOUT)
    except failures as error:
        unreachable, settings["local_files_only"] = error, True
    try:
        folder = snapshot_download(repository, repo_type="dataset", revision=revision, **settings)
    except failures as error:
        why = "HF_HUB_OFFLINE is set" if constants.HF_HUB_OFFLINE else reason_of(unreachable or error)
        raise NotDownloadedError(
            f"{repository} at revision {revision} is not in the Hub's cache on this machine and cannot be downloaded "
            f"({why}): {_HOW_TO_GET_FILES}"
        ) from None
    return Path(folder)


def cached_folder(repository: Repository) -> Path:
    """Return the folder, named after the commit, in which the files of a GitHub repository are cached."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "medtasks" / "data" / repository.name.replace("/", "--") / str(repository.revision)


def download_pinned(repository: Repository) -> Path:
    """Return the folder with the pinned files of a GitHub repository; download them if they are not in the cache.

    Raises:
        DataError: if a file cannot be downloaded, or has the wrong checksum.
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
            kind = DataError if isinstance(error, ValueError) else NotDownloadedError  # ValueError: another checksum
            raise kind(
                f"{file.name} of {repository.name} is neither in the cache {folder} nor available from {url} "
                f"({reason_of(error)}): {_HOW_TO_GET_FILES}"
            ) from None
    return folder
