"""Schedule a client's requests to a server that is rate-limited or temporarily unavailable.

After a failure, all requests wait, longer each time; then one request at a time tests whether the server is back. If a
server is busy or limits the rate, the first failure after a reply halves concurrency, which rises by one after as many
replies as the current limit (additive increase, multiplicative decrease).
"""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable

from medtasks_utils.errors import logger

from .responses import ServerBusy, ServerUnavailable

LONGEST_OUTAGE = 600.0
"""Time in seconds without any reply after which requests fail, unless a number of attempts is given."""
LONGEST_PAUSE = 120.0
"""Maximum time in seconds to wait before a retry, even if the server asks for more."""

BACKOFF = 1.0  # seconds before the second attempt
_DOUBLINGS = 5  # maximum number of times that this is doubled before later attempts
_FIRST_ATTEMPTS = 3  # at a server that has not answered yet
_BEFORE_REMARK, _BETWEEN_REMARKS = 5.0, 60.0  # seconds

clock: Callable[[], float] = time.monotonic
"""The clock, in seconds, for waiting requests. Tests replace it and :data:`sleep`."""
sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
"""The function that waiting requests await."""


class Pace:
    """A scheduler of the requests to a server, which limits their concurrency and pauses after failures.

    Attributes:
        allowed: the current limit of concurrent requests, from 1 to ``most``; its fractional part counts replies.

    Args:
        most: the maximum number of concurrent requests.
        patience: the time in seconds without any reply after which a failure is final.
        has_replied: whether the server has ever replied; if not, its address may be wrong, and waiting is useless.
    """

    def __init__(self, most: int, patience: float = LONGEST_OUTAGE, has_replied: bool = True) -> None:
        self.allowed = float(most)
        self._most, self._patience, self._under_way = most, patience, 0
        self._has_replied = has_replied
        self._given_up: ServerUnavailable | None = None
        self._turn, self._changed = asyncio.Lock(), asyncio.Event()
        self._setbacks = 0  # since the last reply; requests that were under way together are one
        self._failing_since = self._resumes_at = 0.0
        self._next_remark = 0.0

    @property
    def failing_for(self) -> float:
        """The seconds since the first failure after the last reply; 0 without a failure."""
        return clock() - self._failing_since if self._setbacks else 0.0

    async def start(self) -> None:
        """Wait until a request may be sent, in the order of the calls.

        Raises:
            ServerUnavailable: the final error, once the server is considered unavailable.
        """
        async with self._turn:
            while True:
                if self._given_up:
                    raise self._given_up
                pause = self._resumes_at - clock()
                if pause > 0:
                    await sleep(pause)
                elif self._under_way >= (1 if self._setbacks else int(self.allowed)):
                    self._changed.clear()
                    await self._changed.wait()
                else:
                    break
            self._under_way += 1

    def release(self) -> None:
        """Record that a request has ended, so that the next one may start."""
        self._under_way -= 1
        self._changed.set()

    def succeed(self) -> None:
        """Record that the server has answered a request, even by refusing, and raise the limit on concurrency."""
        self._setbacks, self._has_replied = 0, True
        self.allowed = min(self.allowed + 1 / self.allowed, self._most)
        self._changed.set()

    def fail(self, error: ServerUnavailable) -> None:
        """Record that a request failed, and begin a pause; log this at most once a minute.

        During a pause, nothing is recorded, since the request was sent before the failure that caused the pause.

        Raises:
            ServerUnavailable: the error, once patience is exhausted, or after the third failure at a server that has
                never replied and is not busy, unless patience is infinite.
        """
        now = clock()
        if now < self._resumes_at:  # it was under way when another one failed
            return
        if not self._setbacks:
            self._failing_since = now
            if isinstance(error, ServerBusy):
                self.allowed = max(self.allowed / 2, 1.0)
        pause = min(error.retry_after, LONGEST_PAUSE) or BACKOFF * 2 ** min(self._setbacks, _DOUBLINGS)
        self._setbacks += 1
        self._resumes_at = now + pause
        self._next_remark = self._next_remark or now + max(_BEFORE_REMARK - pause, 0.0)
        if now >= self._next_remark:
            self._next_remark = now + _BETWEEN_REMARKS
            message = "%s; failing for %.0f s; waiting %.0f s, then sending at most %d at once"
            logger.warning(message, error.problem, self.failing_for, pause, self.allowed)
        is_unknown = not (self._has_replied or isinstance(error, ServerBusy) or math.isinf(self._patience))
        if self.failing_for > self._patience or (is_unknown and self._setbacks >= _FIRST_ATTEMPTS):
            self._given_up = error
            raise error
