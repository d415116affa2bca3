"""Interpret the response of a model's server: return its completion, or raise a typed error.

======================  =======================================================================================
``PromptTooLong``       the request is too long for the model; others may not be
``RequestRefused``      the server refuses the key, the model or a setting, and will refuse the request again
``ServerUnavailable``   the server cannot answer now; the same request may succeed later
``ServerBusy``          it is unavailable because it has too much to do
``NoCompletion``        it is unavailable because something other than a model answers
``NoConnection``        it is unavailable because it cannot be reached, or hangs up
``NoResponse``          it is unavailable because it does not answer within the timeout
======================  =======================================================================================
"""

import re
import time
from contextlib import suppress
from email.utils import mktime_tz, parsedate_tz

from medtasks_utils.errors import HINTS_BY_STATUS, MedtasksError
from medtasks_utils.writing import Settings, one_line

from .replies import Completion, NoReplyError, read_completion, words_of

_MAX_QUOTED = 300  # maximum number of characters that are quoted from a server's message
_BUSY = (408, 425, 429, 503)
_TOO_LONG = re.compile(
    r"context|too long|too many tokens|tokens?\b.{0,80}\bmust be|maximum.{0,40}(length|tokens)", re.I
)


class ServerError(MedtasksError):
    """A request to a server that got no completion.

    Attributes:
        problem: the message without the hint at its end, which says what to check.
        status: the HTTP status, or the one that the body of a successful response states; None without a response.
        body: the body of the response; empty without one.
    """

    def __init__(self, problem: str, hint: str = "", status: int | None = None, body: str = "") -> None:
        super().__init__(f"{problem}: {hint}" if hint else problem)
        self.problem, self.status, self.body = problem, status, body


class RequestRefused(ServerError):
    """A request that the server refuses, and would refuse again."""


class PromptTooLong(RequestRefused):
    """A request that is too long for the model."""


class ServerUnavailable(ServerError):
    """A server that cannot answer now.

    Attributes:
        retry_after: the time in seconds that the server asks to wait; 0 if it does not say.
    """

    retry_after = 0.0


class ServerBusy(ServerUnavailable):
    """A server that has too much to do."""


class NoCompletion(ServerUnavailable):
    """A successful response without a completion."""


class NoConnection(ServerUnavailable):
    """A server that cannot be reached, or that hangs up."""


class NoResponse(ServerUnavailable):
    """A server that does not answer within the timeout."""


def read(status: int, body: str, url: str, model: str, request: Settings, retry_after: str | None = None) -> Completion:
    """Return the completion in a response.

    Args:
        status: the HTTP status.
        body: the body of the response.
        url: the URL of the request, for messages.
        model: the model's name, for messages.
        request: the body of the request, whose limit on tokens shows whether a reply was cut.
        retry_after: the header ``Retry-After``.

    Raises:
        ServerError: of the type that the response indicates.
    """
    words = words_of(body) if status >= 400 else ""
    if status < 400:
        try:
            return read_completion(body, request.get("max_tokens") or request.get("max_completion_tokens"))
        except NoReplyError as error:
            words, status = str(error), error.status or status
    quoted = f" ({one_line(words)[:_MAX_QUOTED]})" if words.strip() else ""
    if status < 400:
        problem = f"{url} responded, but not with a model's reply{quoted}"
        raise NoCompletion(problem, "check that base_url is right", status, body)
    problem = f"{url} answered with status {status} for the model {model}{quoted}"
    if status == 413 or (status in (400, 422) and _TOO_LONG.search(body)):
        raise PromptTooLong(problem, "", status, body)
    if status < 500 and status not in _BUSY:
        raise RequestRefused(problem, HINTS_BY_STATUS.get(status, ""), status, body)
    kind = ServerBusy if status in _BUSY else ServerUnavailable
    unavailable = kind(problem, "the server cannot answer now; see its log for the reason", status, body)
    unavailable.retry_after = _seconds_of(retry_after or "")
    raise unavailable


def _seconds_of(retry_after: str) -> float:
    """Return the seconds from now that a ``Retry-After`` header gives, as a number or a date; 0 if it gives neither."""
    if re.fullmatch(r"[0-9]+(\.[0-9]*)?", retry_after):
        return float(retry_after)
    with suppress(ValueError, OverflowError):  # for years that no calendar has
        if date := parsedate_tz(retry_after):
            return max(mktime_tz(date) - time.time(), 0.0)
    return 0.0
