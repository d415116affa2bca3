"""Interpret the response of a model's server: return its completion, or raise a typed error.

======================  =======================================================================================
``RequestRefused``      the server refuses the key, the model or a setting, and will refuse the request again
``PromptRefused``       the server refuses this prompt, but may answer others
``PromptTooLong``       the prompt is too long for the model
``PromptFiltered``      a content policy forbids the prompt
``ServerUnavailable``   the server cannot answer now; the same request may succeed later
``ServerBusy``          the server is overloaded or limits the rate
``NoCompletion``        something other than a model answers
``NoConnection``        the server cannot be reached, or drops the connection
``NoResponse``          the server does not answer within the timeout
======================  =======================================================================================

:mod:`.provider_words` lists the wording of providers for each kind of error.
"""

import re
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from medtasks_utils.errors import HINTS_BY_STATUS, MedtasksError
from medtasks_utils.writing import Settings, quoted

from .provider_words import NO_CREDIT, OF_THE_TIME, asked_pause, is_about_length, is_about_policy, texts_in
from .replies import Completion, End, NoReplyError, read_completion, words_of

_MAX_QUOTED = 300  # maximum number of characters that are quoted from a server's message
_NEEDED = ("model", "messages", "prompt", "tools", "max_tokens", "max_completion_tokens")
"""Fields that a request cannot omit, or that have a different name in ``--gen_kwargs``."""
_NO_SYSTEM_ROLE = re.compile(r"system\W{0,3}role|roles? must alternate|system messages?.{0,20} not ", re.I)
_IN_USER_TURN = (
    "the model's chat template may have no system role: --set BENCHMARK.system_role=user moves the instructions to the "
    "head of the first user turn"
)


class ServerError(MedtasksError):
    """A failed request to a server.

    Attributes:
        problem: the message without the hint.
        hint: advice at the end of the message; empty if there is none.
        status: the HTTP status, or the one in the body of a successful response; None without a response.
        body: the body of the response; empty without one.
    """

    def __init__(self, problem: str, hint: str = "", status: int | None = None, body: str = "") -> None:
        super().__init__(f"{problem}: {hint}" if hint else problem)
        self.problem, self.hint, self.status, self.body = problem, hint, status, body


class RequestRefused(ServerError):
    """A request that the server refuses, and would refuse again."""


class PromptRefused(RequestRefused):
    """A request that the server refuses because of its prompt.

    Attributes:
        ended: the finish reason to record for the request, which has no reply; see :class:`.replies.Reply`.
    """

    ended: End = "unknown"


class PromptTooLong(PromptRefused):
    """A request that is too long for the model."""


class PromptFiltered(PromptRefused):
    """A request that a content policy forbids."""

    ended = "filter"


class ServerUnavailable(ServerError):
    """A server that cannot answer now.

    Attributes:
        retry_after: the time in seconds that the server asks clients to wait; 0 if unspecified.
    """

    retry_after = 0.0


class ServerBusy(ServerUnavailable):
    """The error for a server that is overloaded or limits the rate of requests."""


class NoCompletion(ServerUnavailable):
    """A successful response without a completion."""


class NoConnection(ServerUnavailable):
    """A server that cannot be reached, or drops the connection."""


class NoResponse(ServerUnavailable):
    """A server that does not answer within the timeout."""


def parse_response(
    status: int, body: str, url: str, model: str, request: Settings, retry_after: str | None = None
) -> Completion:
    """Return the completion in a response.

    Args:
        status: the HTTP status.
        body: the body of the response.
        url: the URL of the request, for messages.
        model: the model's name, for messages.
        request: the body of the request; its token limit shows whether a reply was cut.
        retry_after: the header ``Retry-After``.

    Raises:
        ServerError: of the subclass in the module's table that fits the failure.
    """
    words = words_of(body) if status >= 400 else ""
    if status < 400:
        try:
            return read_completion(body, request.get("max_tokens") or request.get("max_completion_tokens"))
        except NoReplyError as error:
            words, status = str(error), error.status or status
    reason = f" ({quoted(words, _MAX_QUOTED)})" if words.strip() else ""
    problem = f"{url}{through_proxy(url)} answered with status {status} for the model {model}{reason}"
    everything = re.sub(rf"(?<!\w){re.escape(model)}(?!\w)", "", texts_in(body))  # it may be named after a filter
    if status == 413 or is_about_length(status, everything):
        raise PromptTooLong(problem, "", status, body)
    if is_about_policy(status, everything):
        raise PromptFiltered(problem, "", status, body)
    if status < 400:
        problem = f"{url} responded, but not with a model's reply{reason}"
        raise NoCompletion(problem, "check that base_url is right", status, body)
    has_system = any(message["role"] == "system" for message in request.get("messages") or ())
    if has_system and _NO_SYSTEM_ROLE.search(words):
        raise RequestRefused(problem, _IN_USER_TURN, status, body)
    if status < 500 and status not in OF_THE_TIME:
        hint = HINTS_BY_STATUS.get(status, "")
        settings = [name for name in request if re.search(rf"\b{name}\b", words) and name not in _NEEDED]
        if settings and status in (400, 422):
            hint = f"to omit {settings[0]}, add --gen_kwargs {settings[0]}=None"
            hint = "omit repeats_in_one_request" if settings[0] == "n" else hint
        if "max_tokens" in request and "max_completion_tokens" in words:
            hint = "use --model openai-chat-completions, which sends max_completion_tokens"
        raise RequestRefused(problem, hint, status, body)
    has_credit = not NO_CREDIT.search(everything)
    kind = ServerBusy if status in OF_THE_TIME and has_credit else ServerUnavailable
    hint = "the server cannot answer now; see its log for the reason" if has_credit else "top up the account"
    unavailable = kind(problem, hint, status, body)
    unavailable.retry_after = asked_pause(retry_after or "", everything)
    raise unavailable


def through_proxy(url: str) -> str:
    """Return a clause that names the proxy used for a URL by the environment's settings; empty if there is none."""
    address = urlsplit(url)
    proxy = getproxies().get(address.scheme)
    if not proxy or proxy_bypass(address.hostname or ""):
        return ""
    return f", through the proxy {proxy.rpartition('@')[2]} (NO_PROXY={address.hostname} avoids it),"
