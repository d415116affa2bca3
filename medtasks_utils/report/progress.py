"""What a long build is doing, on standard error."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TextIO

_QUIET = 2.0  # seconds in which nothing is said


class Progress:
    """Says which stage begins, once two seconds have passed; on a terminal in one line that changes, else now and then.

    Use as a context, and call with a few words at the beginning of each stage.
    """

    def __init__(self, stream: TextIO | None = None, quiet: float = _QUIET) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._start = time.perf_counter()
        self._quiet = quiet
        self._said = -quiet  # when something was said last

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._said >= 0 and self._stream.isatty():
            self._write("\r\033[K")

    def __call__(self, stage: str) -> None:
        """Begin a stage."""
        seconds = time.perf_counter() - self._start
        if seconds < self._quiet:
            return
        line = f"{seconds:.0f} s: {stage}"
        if self._stream.isatty():
            self._write(f"\r\033[K{line}")
        elif seconds - self._said >= self._quiet:
            self._write(f"{line}\n")
        else:
            return
        self._said = seconds

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
