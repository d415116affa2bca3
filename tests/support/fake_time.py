"""Replace clocks by ones that only sleeping advances, for pauses between requests."""

import asyncio
from typing import Any

from medtasks_utils.inference import pace


class FakeTime:
    """A replacement of the clock and the sleep of :mod:`medtasks_utils.inference.pace`.

    Attributes:
        now: the seconds since the beginning.
        slept: the pauses, one after another.
    """

    def __init__(self, monkeypatch):
        self.now = 1000.0
        self.slept: list[float] = []
        monkeypatch.setattr(pace, "clock", lambda: self.now)
        monkeypatch.setattr(pace, "sleep", self.sleep)

    async def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds


class FastLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps to the next timer as soon as the loop is idle."""

    _ready: Any
    _scheduled: Any
    passed = 0.0

    def time(self):
        return self.passed

    def _run_once(self):
        if not self._ready and self._scheduled:
            self.passed = max(self.passed, self._scheduled[0]._when)
        super()._run_once()  # type: ignore[misc]
