"""Replace the names of files and folders in settings by hashes of their contents."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from medtasks_utils.writing import digest

_LARGEST = 1 << 26  # bytes; of larger files, such as weights, only the size counts


def by_content(value: Any, exclude: Path) -> Any:
    """Return settings in which each name of an existing file or folder is replaced by a hash of its contents.

    Generation settings are unchanged. Files in the folder ``exclude``, which receives the results, are ignored. Only
    the size of files above 64 MiB counts.
    """
    if isinstance(value, Mapping):
        return {name: item if name == "gen_kwargs" else by_content(item, exclude) for name, item in value.items()}
    if isinstance(value, list):
        return [by_content(item, exclude) for item in value]
    path = os.path.expanduser(value) if isinstance(value, str) else ""
    return digest([*_hashes(Path(path), exclude)]) if os.path.exists(path) else value


def _hashes(place: Path, exclude: Path) -> Iterator[tuple[str, str]]:
    """Yield the relative path and a hash of each file in a folder, or of a single file.

    Files in ``__pycache__`` and in the folder ``exclude`` are skipped.
    """
    for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
        if path.is_file() and "__pycache__" not in path.parts and exclude not in path.resolve().parents:
            status = path.stat()
            yield str(path.relative_to(place)), _hash_of(path, status.st_size, status.st_mtime_ns)


@lru_cache(100_000)
def _hash_of(path: Path, size: int, changed: int) -> str:
    """Return a file's hash, or its size if it is above 64 MiB; cached until size or modification time changes."""
    return str(size) if size > _LARGEST else hashlib.sha256(path.read_bytes()).hexdigest()
