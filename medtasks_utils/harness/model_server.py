"""Interpret the responses of a model's server: a completion, an error, or the refusal of a prompt that is too long."""

import re
from contextlib import suppress
from typing import Any

import requests
from urllib3.exceptions import InvalidHeader
from urllib3.util import Retry

from medtasks_utils.errors import HINTS_BY_STATUS, MedtasksError

from .replies import Completion, NoReplyError, read_completion, words_of

CONNECTION_TIMEOUT = 5  # seconds
_MAX_QUOTED = 300  # maximum number of characters that are quoted from a server's message
_BACKOFF = 1.0  # seconds before the second attempt; doubled before each further one, up to ten times this
LONGEST_PAUSE = 120
"""Maximum time in seconds to wait before a request is sent again, even if the server asks for more."""
_BUSY = (408, 425, 429, 503)
_TOO_LONG = re.compile(
    r"context|too long|too many tokens|tokens?\b.{0,80}\bmust be|maximum.{0,40}(length|tokens)", re.I
)


class PromptTooLong(MedtasksError):
    """An error: a request is too long for the model."""


class ServerUnavailable(MedtasksError):
    """An error: a server cannot answer now. The same request may succeed later.

    Attributes:
        words: the server's message in parentheses; empty if there is none.
        is_busy: True if the server says that it is only busy.
        retry_after: the time in seconds that the server asks to wait; 0 if it does not say.
    """

    def __init__(self, message: str, words: str = "", is_busy: bool = False, retry_after: float = 0.0) -> None:
        super().__init__(message)
        self.words, self.is_busy, self.retry_after = words, is_busy, retry_after


def read(
    status: int, body: str, url: str, model: str, limit: int | None = None, retry_after: str | None = None
) -> Completion:
    """Return the completion in a server's response.

    Args:
        status: the HTTP status.
        body: the body of the response.
        url: the URL of the request, for messages.
        model: the model's name, for messages.
        limit: the requested maximum number of tokens.
        retry_after: the header ``Retry-After``.

    Raises:
        PromptTooLong: if the request is refused for its length.
        ServerUnavailable: if the server is busy or broken, or the response contains no reply.
        MedtasksError: for any other refusal, with the server's message.
    """
    if status < 400:
        try:
            return read_completion(body, limit)
        except NoReplyError as error:
            words, status = in_brackets(str(error)), error.status or status
    else:
        words = in_brackets(words_of(body))
    if status < 400:
        raise ServerUnavailable(
            f"{url} responded, but not with a model's reply{words}: check that base_url is right", words
        )
    problem = f"{url} answered with status {status} for the model {model}{words}"
    if status == 413 or (status in (400, 422) and _TOO_LONG.search(body)):
        raise PromptTooLong(problem)
    if status >= 500 or status in _BUSY:
        message = f"{problem}: the server cannot answer now; see its log for the reason"
        raise ServerUnavailable(message, words, status in _BUSY, _seconds_of(retry_after))
    hint = HINTS_BY_STATUS.get(status)
    raise MedtasksError(f"{problem}: {hint}" if hint else problem)


def in_brackets(words: str) -> str:
    """Return the beginning of a server's message in parentheses, on one line; an empty string if there is none."""
    line = " ".join(words.split())
    return f" ({line[:_MAX_QUOTED]})" if line else ""


def pause_before(attempt: int, error: ServerUnavailable) -> float:
    """Return the time in seconds to wait before a retry: as the server asks, or else longer with each attempt.

    It is at most :data:`LONGEST_PAUSE`.

    Args:
        attempt: the number of the next attempt, from 2.
        error: the error of the previous attempt.
    """
    return min(error.retry_after, LONGEST_PAUSE) or _BACKOFF * min(2.0 ** (attempt - 2), 10.0)


def _seconds_of(retry_after: str | None) -> float:
    """Return the seconds from now that a ``Retry-After`` header gives, as a number or a date; 0 if there is none."""
    try:
        return Retry().parse_retry_after(retry_after or "0")
    except InvalidHeader:
        return 0.0


def context_of(model: Any) -> int | None:
    """Return the context length of an API model, in tokens of prompt and reply together, as its server reports it.

    vLLM and SGLang report it in the list of models, llama.cpp in its properties, for each slot; None if it is unknown.
    """
    base = re.sub("(/chat)?/completions/?$", "", model.base_url)
    verify = model.ca_cert_path or model.verify_certificate
    for place in (f"{base}/models", f"{base.removesuffix('/v1')}/props"):
        with suppress(requests.exceptions.RequestException, ValueError, AttributeError, TypeError):
            said = requests.get(place, timeout=CONNECTION_TIMEOUT, headers=model.header, verify=verify).json()
            lengths = [each.get("max_model_len") for each in said.get("data", ()) if each.get("id") == model.model]
            for length in (*lengths, said.get("default_generation_settings", {}).get("n_ctx")):
                if isinstance(length, int) and length > 0:
                    return length
    return None
