"""What a long build is doing, on standard error."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import TextIO

_QUIET = 2.0  # seconds in which nothing is said


class Progress:
    """Says which stage is running, once two seconds have passed: on a terminal in one line that changes.

    Use as a context, and call with a few words at the beginning of each stage.
    """

    def __init__(self, stream: TextIO | None = None, quiet: float = _QUIET) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._start = time.perf_counter()
        self._stage = ""
        self._said = ""
        self._timer = threading.Timer(quiet, self._begin)
        self._timer.daemon = True
        self._speaks = False

    def __enter__(self) -> Progress:
        self._timer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._timer.cancel()
        if self._said and self._stream.isatty():
            self._write("\r\033[K")

    def __call__(self, stage: str) -> None:
        """Begin a stage."""
        self._stage = stage
        if self._speaks:
            self._say()

    def _begin(self) -> None:
        self._speaks = True
        self._say()

    def _say(self) -> None:
        if self._stage and self._stage != self._said:
            self._said = self._stage
            line = f"{self._stage} … ({time.perf_counter() - self._start:.0f} s)"
            self._write(f"\r\033[K{line}" if self._stream.isatty() else f"{line}\n")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
