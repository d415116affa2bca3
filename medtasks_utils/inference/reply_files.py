"""Read and write the files of kept replies, and skip damaged lines.

A line is a JSON array of a checksum and an object, ``["1f2e3d4c", {…}]``. Each process that sends requests appends to
its own file and locks it, so an unlocked file belongs to a process that has ended. The lines of finished runs are moved
to an archive, which is a sequence of gzip members.
"""

import fcntl
import gzip
import json
import os
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from pydantic_core import from_json

from medtasks_utils.errors import logger
from medtasks_utils.writing import printable, write_whole

_CHECKSUM = slice(2, 10)  # the checksum's position in a line
_OBJECT = slice(13, -1)
_GZIP = b"\x1f\x8b\x08"
"""The first bytes of each member of an archive."""
_MEMBER_LINES = 2_000  # maximum number of lines that damage in one place can lose


def files_of_replies(folder: Path, ending: str) -> list[Path]:
    """Return the files of kept replies in a folder and its subfolders whose names end with ``ending``, sorted."""
    return sorted(folder.rglob(f"replies_*{ending}"))


def line_of(value: Any) -> bytes:
    """Encode an object as a line, without its line break."""
    text = printable(json.dumps(value, ensure_ascii=False)).encode()
    return b'["%08x", %b]' % (zlib.crc32(text), text)


def objects_in(path: Path) -> Iterator[tuple[bytes, Any]]:
    """Yield each intact line of a file or an archive with its object; log the number of damaged lines."""
    damaged = 0
    for line in _lines_in(path):
        value = object_of(line)
        if value is None:
            damaged += 1
        else:
            yield line, value
    if damaged:
        logger.warning("%s: damaged lines are ignored (%d); their requests are sent again", path, damaged)


def object_of(line: bytes) -> Any:
    """Return the object in a line that is given without its line break; None if the checksum does not match."""
    is_whole = line[_CHECKSUM] == b"%08x" % zlib.crc32(line[_OBJECT])
    return from_json(line[_OBJECT]) if is_whole else None


def _lines_in(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file or an archive, including damaged lines."""
    content = path.read_bytes()
    for text in _members(content) if path.suffix == ".gz" else [content]:
        yield from filter(None, text.split(b"\n"))


def _members(content: bytes) -> Iterator[bytes]:
    """Yield the decompressed content of each member of an archive; a damaged member is yielded compressed."""
    while content:
        stream = zlib.decompressobj(zlib.MAX_WBITS | 16)
        try:
            yield stream.decompress(content)
            content = stream.unused_data
        except zlib.error:
            end = content.find(_GZIP, 1)
            yield content[:end]
            content = content[end:] if end > 0 else b""


@contextmanager
def unlocked(path: Path) -> Iterator[bool]:
    """Try to lock a file, and yield whether this succeeded; close the file on exit.

    Success means that the file's process has ended. For a missing file, False is yielded.
    """
    try:
        with path.open("r+b") as file:
            yield lock(file)
    except FileNotFoundError:
        yield False


def lock(file: IO[bytes], wait: bool = False) -> bool:
    """Lock a file, and return whether that succeeded; always True on file systems without locks.

    If a different process holds the lock, wait for it with ``wait``, or else return False.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True


def archive(target: Path, head: Any, sources: Mapping[Path, Sequence[bytes] | None]) -> None:
    """Move lines from files of ended processes to an archive, so that a crash at any time loses no line.

    Files of processes that are still running are skipped. Damaged lines that are not moved are dropped.

    Args:
        target: the archive, which is locked in the meantime.
        head: an object that is written before the lines in each member.
        sources: the lines to move by file, or None for all lines. A file with no lines left is deleted.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("ab") as file:
        lock(file, wait=True)
        for source, lines_to_move in sources.items():
            left_to_move = Counter(lines_to_move)
            with unlocked(source) as has_ended:
                moved, staying = [], []
                for line in _lines_in(source) if has_ended else ():
                    if lines_to_move is None or left_to_move[line] > 0:
                        moved.append(line)
                    elif object_of(line) is not None:
                        staying.append(line)
                    left_to_move[line] -= 1
                for start in range(0, len(moved), _MEMBER_LINES):
                    text = b"\n".join([line_of(head), *moved[start : start + _MEMBER_LINES], b""])
                    file.write(gzip.compress(text, 1, mtime=0))
                file.flush()
                os.fsync(file.fileno())
                if staying:
                    write_whole(source, b"\n".join([*staying, b""]))
                elif moved:
                    source.unlink()
