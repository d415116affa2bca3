"""What a long build is doing, on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

QUIET = 2.0
"""Seconds in which nothing is said."""


def progress(quiet: float = QUIET) -> Callable[[str], None]:
    """To be called with a few words at the beginning of each stage, which are said at most once in so many seconds."""
    start = said = time.perf_counter()

    def say(stage: str) -> None:
        nonlocal said
        now = time.perf_counter()
        if now - said >= quiet:
            print(f"{now - start:.0f} s: {stage}", file=sys.stderr)
            said = now

    return say
