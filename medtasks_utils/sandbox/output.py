"""What a process wrote, as text of bounded length: decoded, cut and cleaned on the side that is trusted."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass

MAX_STREAM = 64 << 20
"""Bytes after which a call that does nothing but write is ended."""


class TooMuchOutput(Exception):
    """More bytes than any reader needs."""


class OutOfTurn(Exception):
    """Bytes after the end of an answer: the code has forged it, and went on."""


@dataclass(frozen=True)
class Result:
    """What a call gave.

    Attributes:
        text: what the code printed, and the ``repr`` of a last bare expression, as in a REPL; if it failed, then the
            traceback. Valid UTF-8, at most ``max_output`` characters; of more, both ends and how many are left out.
        failed: whether it ended in an error: an exception, code that does not compile, a timeout, a process that ended.
    """

    text: str
    failed: bool


class Answer:
    """The bytes of one answer, as they come.

    Args:
        end: the bytes after which one more, ``1`` for a failure, ends the answer.
        limit: characters of the text.
        paths: of this machine, which the text must not show; longest first.
        last_end: the bytes that ended the answer before; they come again if that end was not the process's own.
    """

    def __init__(self, end: bytes, limit: int, paths: Sequence[str] = (), last_end: bytes = b"") -> None:
        self._end = end
        self._last_end = last_end
        self._limit = limit
        self._paths = paths
        self._margin = len(paths[0]) if paths else 0
        self._pending = b""
        self._bytes = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._head = self._tail = ""
        self._length = 0
        self.failed = False

    def feed(self, data: bytes) -> bool:
        """Take what was received; returns whether the answer is whole.

        Raises:
            TooMuchOutput: if it is endless.
            OutOfTurn: if more follows the end, or the answer before had not ended.
        """
        self._bytes += len(data)
        self._pending += data
        if self._last_end and self._last_end in self._pending:
            raise OutOfTurn
        at = self._pending.find(self._end)
        if at >= 0:
            rest = self._pending[at + len(self._end) :]
            if not rest:
                return False
            if len(rest) > 1:
                raise OutOfTurn
            self._keep(self._decoder.decode(self._pending[:at], final=True))
            self.failed = rest != b"0"
            return True
        if self._bytes > MAX_STREAM:
            raise TooMuchOutput
        safe = max(0, len(self._pending) - len(self._end))
        self._keep(self._decoder.decode(self._pending[:safe]))
        self._pending = self._pending[safe:]
        return False

    def _keep(self, text: str) -> None:
        self._length += len(text)
        room = self._limit + self._margin - len(self._head)
        self._head += text[:room]
        if len(text) > room:
            self._tail = (self._tail + text[room:])[-(self._limit + self._margin) :]

    def text(self, error: str = "") -> str:
        """The text, with an error of ours after it; what is too long is cut in the middle."""
        error = f"\n{error}" if error and self._length else error
        kept = self._head + self._tail
        if self._length == len(kept):
            whole = without_paths(kept, self._paths).rstrip("\n") + error
            if len(whole) <= self._limit:
                return whole
        note = f"\n[some {self._length - self._limit + len(error):,} characters left out]\n"
        room = self._limit - len(note) - len(error)
        if room <= 0:
            return (note.strip() + error)[: self._limit]
        # A path that is cut at an inner end would not be known for one: as much as may be of one goes.
        head = without_paths(self._head, self._paths)[: -self._margin or None]
        tail = without_paths(kept[-(self._limit + self._margin) :], self._paths)[self._margin :].rstrip("\n")
        return head[: room - room // 3] + note + tail[len(tail) - min(len(tail), room // 3) :] + error


def without_paths(text: str, paths: Sequence[str]) -> str:
    """Text in which paths of this machine are relative; ``paths`` come longest first."""
    for path in paths:
        if path in text:
            text = text.replace(path + "/", "").replace(path, "")
    return text
