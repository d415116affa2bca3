"""Where rows come from: the hub, a directory, or the bundled sample; all three end as files in a folder.

A hub repository is downloaded to the hub's own cache and then read like any directory, so that a snapshot copied to a
machine without internet, files converted by hand, and the hub itself take the same path.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medtasks_utils.benchmarks.base import Benchmark, Repository
from medtasks_utils.benchmarks.yaml_tasks import PACKAGE
from medtasks_utils.errors import DataError, OptionError, first_line
from medtasks_utils.harness import pinned
from medtasks_utils.harness.options import DATA_KEY

SAMPLE = PACKAGE / "sample"
ENVIRONMENT_VARIABLE = "MEDTASKS_DATA"


@dataclass(frozen=True)
class Source:
    """A place that holds the benchmarks' data: ``hub``, ``sample`` or a directory."""

    name: str

    @classmethod
    def from_metadata(cls, metadata: Mapping[str, Any]) -> Source:
        """``medtasks_data`` in ``--metadata``, else the variable ``MEDTASKS_DATA``, else the hub."""
        value = metadata.get(DATA_KEY)
        if value is None:
            value = os.environ.get(ENVIRONMENT_VARIABLE) or "hub"
        if not isinstance(value, str) or not value:
            raise DataError(f'{DATA_KEY} must be "hub", "sample" or the path of a directory, not {value!r}')
        return cls(value)

    def folder(self, benchmark: Benchmark, repository: Repository, revision: str | None = None) -> Path:
        """The folder with one benchmark's files, downloaded to the hub's cache where need be.

        ``revision`` is a commit, tag or branch in place of the repository's pinned one.

        Raises:
            OptionError: for a revision of rows that do not come from the hub.
            DataError: where there is no such folder, or the hub cannot be reached and has not been before.
        """
        if self.name == "hub" and repository.files:
            return pinned.download(repository)
        if self.name == "hub":
            return _download(repository.name, revision or repository.revision, benchmark.file_patterns)
        if revision is not None:
            raise OptionError(
                f"{benchmark.name}: revision={revision} is of the hub's repository, and the rows come from "
                f"{self.name}: leave one of the two out (--data, {ENVIRONMENT_VARIABLE} or {DATA_KEY} says where from)"
            )
        if self.name == "sample" and benchmark.sample is not None:
            return benchmark.sample
        root = SAMPLE if self.name == "sample" else Path(self.name).expanduser()
        folder = root / benchmark.name
        if not folder.is_dir():
            raise DataError(
                f"there is no folder {folder}; put a snapshot of the hub data set {repository.name} or plain files "
                f'there, or set --data, {ENVIRONMENT_VARIABLE} or {DATA_KEY} to "hub" or "sample"'
            )
        return folder


class BenchmarkFiles:
    """One benchmark's files at a source, as the benchmark asks for them; each repository is looked for once.

    Args:
        source: where they are.
        benchmark: whose they are.
        revision: in place of the pinned one of the repository that the rows come from.
    """

    def __init__(self, source: Source, benchmark: Benchmark, revision: str | None = None) -> None:
        self._source = source
        self._benchmark = benchmark
        self._revision = revision
        self._found: dict[str, Path] = {}

    @property
    def name(self) -> str:
        """The source's."""
        return self._source.name

    @property
    def commit(self) -> str:
        """That of the hub's snapshot which was asked for first; empty where none was."""
        return next((folder.name for folder in self._found.values()), "")

    def folder(self, repository: Repository) -> Path:
        """The folder with a repository's files."""
        if repository.name not in self._found:
            revision = None if self._found else self._revision
            self._found[repository.name] = self._source.folder(self._benchmark, repository, revision)
        return self._found[repository.name]

    def cached(self, repository: Repository) -> Path | None:
        """The folder with a repository's pinned files, if they are there already."""
        return pinned.cached_folder(repository) if pinned.is_cached(repository) else None


def _download(repository: str, revision: str | None, patterns: Sequence[str]) -> Path:
    from huggingface_hub import constants, snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    place = f"{repository}" + (f" at revision {revision}" if revision else "")
    try:
        return Path(
            snapshot_download(repository, repo_type="dataset", revision=revision, allow_patterns=list(patterns))
        )
    except (OSError, HFValidationError, *HfHubHTTPError.__bases__) as error:  # whichever HTTP library the client uses
        why = "HF_HUB_OFFLINE is set" if constants.HF_HUB_OFFLINE else first_line(error)
        raise DataError(
            f"{place} is not in the hub's cache on this machine, and cannot be downloaded ({why}); run medtasks fetch "
            f"where there is internet and copy the hub's cache, or set {ENVIRONMENT_VARIABLE} to a directory with the "
            'files, or to "sample" for the bundled sample'
        ) from None
