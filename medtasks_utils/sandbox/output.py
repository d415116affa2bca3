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
    """Bytes after the end of an answer."""


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
    """

    def __init__(self, end: bytes, limit: int) -> None:
        self._end = end
        self._limit = limit
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
            OutOfTurn: if more follows the end.
        """
        self._bytes += len(data)
        self._pending += data
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
        room = self._limit - len(self._head)
        self._head += text[:room]
        if len(text) > room:
            self._tail = (self._tail + text[room:])[-self._limit :]

    def text(self, error: str = "") -> str:
        """The text, with an error of ours after it; what is too long is cut in the middle."""
        if error and self._length:
            error = f"\n{error}"
        room = max(0, self._limit - len(error))
        kept = self._head + self._tail
        if self._length <= room:
            return kept.rstrip("\n") + error
        note = f"\n[{self._length - room:,} characters left out]\n"
        room -= len(note)
        if room <= 0:
            return (kept + error)[: self._limit]
        end = room // 3
        note = f"\n[{self._length - room:,} characters left out]\n"
        kept_end = kept[len(kept) - end :].rstrip("\n")
        return (kept[: room - end - 1] + note + kept_end + error)[: self._limit]


def without_paths(text: str, paths: Sequence[str]) -> str:
    """Text in which paths of this machine are relative; ``paths`` come longest first."""
    for path in paths:
        if path in text:
            text = text.replace(path + "/", "").replace(path, "")
    return text
