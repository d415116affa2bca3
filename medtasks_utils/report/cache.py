"""What an earlier build found out about runs that have not changed since, in files of the user's cache folder.

A key holds the content of all files of the runs, the arguments and this package's own code, so that an entry is right
for ever or never found. Entries are JSON: reading one runs nothing. Without a folder to write to, nothing is kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import medtasks_utils
from medtasks_utils.results import Run
from medtasks_utils.writing import WriteError, write_whole

_BLOCK = 1 << 20
_DAYS_KEPT = 30


class BuildCache:
    """Entries by key.

    Args:
        folder: where; None for ``$XDG_CACHE_HOME/medtasks/report``.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "medtasks/report"

    def get(self, key: str) -> Any:
        """The entry; None where there is none that can be read."""
        try:
            return json.loads((self._folder / f"{key}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return None

    def put(self, key: str, value: Any) -> None:
        """Keep an entry, if it can be kept."""
        with contextlib.suppress(OSError, WriteError):
            self._prepared.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_whole(self._folder / f"{key}.json", json.dumps(value))

    @cached_property
    def _prepared(self) -> Path:
        """The folder, rid of what nobody has asked to be built for a month."""
        oldest = time.time() - _DAYS_KEPT * 24 * 3600
        for path in self._folder.glob("*.json"):
            with contextlib.suppress(OSError):
                if path.stat().st_mtime < oldest:
                    path.unlink()
        return self._folder


def key_of(*parts: object) -> str:
    """A key of strings, numbers and lists of them, together with this package's code."""
    return hashlib.sha256(json.dumps([_code(), *parts], sort_keys=True).encode()).hexdigest()


def content_of(run: Run) -> str:
    """The hash of all files of a run."""
    paths = [run.path, *(task.samples_path for task in run.tasks.values() if task.samples_path)]
    found = hashlib.blake2b(f"{run.model} {run.date}".encode(), digest_size=20)
    for path in paths:
        found.update(path.name.encode())
        with contextlib.suppress(OSError), path.open("rb") as file:  # what cannot be read is empty to all who read it
            while block := file.read(_BLOCK):
                found.update(block)
    return found.hexdigest()


@cache
def _code() -> str:
    found = hashlib.blake2b(digest_size=20)
    for path in sorted(Path(medtasks_utils.__file__).parent.rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()
