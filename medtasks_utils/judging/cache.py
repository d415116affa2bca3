"""Store a judge's replies in a file that processes can share, and that a killed process does not damage.

Each reply is a line with a checksum (:mod:`medtasks_utils.inference.reply_files`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from medtasks_utils.inference.reply_files import line_of, object_of

from .judge_settings import JudgeError

_BEGINNING = b'\n["'


class Cache:
    """A persistent store of replies by key.

    Args:
        path: the file; it and its folder are created if missing.

    Raises:
        JudgeError: if the file cannot be opened for writing, or is not a cache of replies.
    """

    def __init__(self, path: Path) -> None:
        self._replies: dict[str, str] = {}
        with _explaining_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._added = path.open("ab", buffering=0)  # so that the lines of several processes do not mix
            self._read = path.open("rb")
            if not _BEGINNING.startswith(self._read.read(len(_BEGINNING))):
                raise OSError("this file is not a cache of replies")
            self._read.seek(0)
        self._path = path

    def get(self, key: str) -> str | None:
        """Return the reply stored under a key, even by another process; None if it is missing or damaged."""
        for line in self._read:
            entry = object_of(line.rstrip(b"\n"))
            if entry is not None:
                self._replies[entry["key"]] = entry["text"]
        return self._replies.get(key)

    def put(self, key: str, text: str) -> None:
        """Store a reply on a line of its own, even if the last line of the file is incomplete.

        Raises:
            JudgeError: if the file cannot be written, for instance because the disk is full.
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
