"""What a long build is doing, on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable


def progress(quiet: float = 2.0) -> Callable[[str], None]:
    """To be called with a few words at the beginning of each stage, which are said once in so many seconds at most."""
    start = said = time.perf_counter()

    def say(stage: str) -> None:
        nonlocal said
        now = time.perf_counter()
        if now - said >= quiet:
            print(f"{now - start:.0f} s: {stage}", file=sys.stderr)
            said = now

    return say
