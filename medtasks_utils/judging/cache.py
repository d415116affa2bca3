"""Keep a judge's replies in a file that several processes can share and that a killed process does not damage.

Each reply is a line with a checksum (:mod:`medtasks_utils.inference.reply_files`). In earlier versions the file was an
SQLite database: its replies are still read, and new ones are added to a file next to it.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from medtasks_utils.inference.reply_files import line_of, object_of

from .judge_settings import JudgeError

_SQLITE = b"SQLite format 3\0"
_BEGINNING = b'\n["'


class Cache:
    """A persistent store of replies by key.

    Args:
        path: the file; it and its folder are created if missing. For a database of an earlier version, the file of the
            same name that ends in ``.jsonl``.

    Raises:
        JudgeError: if the file cannot be opened for writing, or is something else.
    """

    def __init__(self, path: Path) -> None:
        self._replies: dict[str, str] = {}
        with _explaining_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            if _beginning_of(path).startswith(_SQLITE):
                self._replies = _replies_in_database(path)
                path = path.with_suffix(".jsonl")
            if not _BEGINNING.startswith(_beginning_of(path)[: len(_BEGINNING)]):
                raise OSError("it has other content")
            self._added = path.open("ab", buffering=0)  # so that the lines of several processes do not mix
            self._read = path.open("rb")
        self._path = path

    def get(self, key: str) -> str | None:
        """Return the reply stored under a key, also by another process; None if there is none or it is damaged."""
        for line in self._read:
            entry = object_of(line.rstrip(b"\n"))
            if entry is not None:
                self._replies[entry["key"]] = entry["text"]
        return self._replies.get(key)

    def put(self, key: str, text: str) -> None:
        """Store a reply in a line of its own, even if the last line is not whole.

        Raises:
            JudgeError: if the file cannot be written, for instance since the disk is full.
        """
        with _explaining_errors(self._path):
            self._added.write(b"\n%b\n" % line_of({"key": key, "text": text}))

    def close(self) -> None:
        """Close the file."""
        self._added.close()
        self._read.close()


@contextmanager
def _explaining_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise JudgeError(
            f"cannot write the judge's cache {path} ({error}): name another file with judge_cache or --cache"
        ) from None


def _beginning_of(path: Path) -> bytes:
    """Return the first bytes of a file; none if it does not exist."""
    if not path.exists():
        return b""
    with path.open("rb") as file:
        return file.read(len(_SQLITE))


def _replies_in_database(path: Path) -> dict[str, str]:
    """Return the replies in the database of an earlier version by key, without those that are damaged."""
    replies = {}
    with suppress(sqlite3.Error), closing(sqlite3.connect(path)) as database:
        database.text_factory = bytes
        for key, value in database.execute("SELECT key, value FROM replies"):
            with suppress(ValueError, TypeError, KeyError):
                replies[key.decode()] = str(json.loads(value)["text"])
    return replies
