"""How endpoints differ and fail: which parameters they take, why a call failed, whether and when to try again."""

from __future__ import annotations

import asyncio
import email.utils
import json
import random
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import openai
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, wait_random_exponential

from medtasks_utils.extraction.printable import printable
from medtasks_utils.judging.judge import CallError, Schema
from medtasks_utils.judging.settings import JudgeError, JudgeSettings

LONGEST_WAIT = 120.0
"""Seconds; an endpoint that asks for more has, for this run, said no."""

ERRORS = (openai.OpenAIError, asyncio.TimeoutError, json.JSONDecodeError)
"""What a call through the client library may end in."""

_LONGEST_LINE = 300
_TRANSIENT = {408, 409, 425, 429}
_BACKOFF = wait_random_exponential(multiplier=0.5, max=30)  # full jitter: 0 to 0.5, 1, 2, 4 … 30 s
_SERVER = "is the server running, and the base URL right?"
_KEY = "is the right key in the environment, and may it use this model?"
_WAYS_OUT = {
    "unreachable": _SERVER,
    "timeout": _SERVER,
    "unreadable": "does the base URL end as it should (often in /v1)?",
    "http_401": _KEY,
    "http_403": _KEY,
    "http_404": "does the endpoint serve this model, and does the base URL end as it should (often in /v1)?",
}


@dataclass(frozen=True)
class Dialect:
    """What is sent beside the messages.

    Attributes:
        temperature: whether a temperature (of 0) is sent; some reasoning models refuse one.
        limit: ``max_tokens``, or ``max_completion_tokens``, as newer models of the provider have it.
        structured: how structured output is asked for: ``json_schema``, ``json_object``, or None, without.
    """

    temperature: bool = True
    limit: str = "max_tokens"
    structured: str | None = "json_schema"

    def parameters(self, max_tokens: int, schema: Schema) -> dict[str, Any]:
        """Arguments of a chat completion."""
        parameters: dict[str, Any] = {self.limit: max_tokens}
        if self.temperature:
            parameters["temperature"] = 0.0
        if schema and self.structured:
            parameters["response_format"] = {"type": self.structured}
            if self.structured == "json_schema":
                form = {"name": schema.get("title", "reply"), "strict": True, "schema": schema}
                parameters["response_format"]["json_schema"] = form
        return parameters

    def without(self, error: Exception, schema: Schema) -> Dialect | None:
        """What to send instead after this error; None if nothing that was sent explains it."""
        if not isinstance(error, openai.APIStatusError) or error.status_code not in (400, 422):
            return None
        complaint = f"{error.param} {_message(error)}".lower()
        if self.limit == "max_tokens" and "max_completion_tokens" in complaint:
            return replace(self, limit="max_completion_tokens")
        if self.temperature and "temperature" in complaint:
            return replace(self, temperature=False)
        # Endpoints word this in many ways, or not at all, so structured output is what other refusals are put down to.
        if schema and self.structured and not re.search("context (length|window)", complaint):
            return replace(self, structured="json_object" if self.structured == "json_schema" else None)
        return None


def retrying(max_retries: int) -> AsyncRetrying:
    """Tries a call again while its failure may pass, waiting as long as the endpoint asked, else ever longer."""
    return AsyncRetrying(
        retry=retry_if_exception(lambda error: isinstance(error, CallError) and error.transient),
        stop=stop_after_attempt(1 + max_retries),
        wait=_wait,
        reraise=True,
    )


def _wait(state: RetryCallState) -> float:
    wait = getattr(state.outcome and state.outcome.exception(), "wait", None)
    # Those sent away together do not come back together.
    return _BACKOFF(state) if wait is None else float(wait + random.uniform(0, 0.25))


def explain(error: Exception, settings: JudgeSettings) -> CallError:
    """An error of the client library as ours: its kind, one line without the key, whether it may pass."""
    kind, message, transient, wait = "unreadable", f"no chat completion ({type(error).__name__})", True, None
    if isinstance(error, openai.APITimeoutError | asyncio.TimeoutError):
        kind, message = "timeout", f"no answer within {settings.timeout:g} s"
    elif isinstance(error, openai.APIStatusError):
        status = error.status_code
        kind, message = f"http_{status}", f"HTTP {status}: {_message(error)}"
        wait = requested_wait(error.response.headers.get("retry-after", ""))
        # A quota that is used up is a 429 that no waiting cures.
        transient = (status in _TRANSIENT or status >= 500) and error.code != "insufficient_quota"
        if transient and (wait or 0.0) > LONGEST_WAIT:
            transient, message = False, f"{message[:200]} (asked to wait {wait:.0f} s)"
    elif isinstance(error, openai.APIConnectionError):
        kind, message = "unreachable", f"{error} {error.__cause__!r}"
    return CallError(kind, one_line(message, settings), transient, wait)


def _message(error: openai.APIStatusError) -> str:
    """The endpoint's own words."""
    said = error.body
    if isinstance(said, Mapping):
        said = said.get("message") or dict(said)
    return str(said or error.response.text)


def requested_wait(text: str, now: float | None = None) -> float | None:
    """Seconds that ``Retry-After`` asks for, as seconds or a date; None if it says nothing."""
    try:
        seconds = float(text)
    except ValueError:
        date = email.utils.parsedate_tz(text)
        if date is None:
            return None
        seconds = email.utils.mktime_tz(date) - (now or time.time())
    return max(0.0, seconds) if seconds == seconds else None  # not for NaN


def one_line(text: str, settings: JudgeSettings) -> str:
    """The text without line breaks, the key, or too many words."""
    text = " ".join(settings.scrub(printable(text)).split())
    return text if len(text) <= _LONGEST_LINE else text[: _LONGEST_LINE - 1] + "…"


def unusable(error: CallError, settings: JudgeSettings) -> JudgeError:
    """What the user is told of an endpoint that failed its check, with the way out where it is known."""
    problem = "; ".join(filter(None, (str(error), _WAYS_OUT.get(error.kind))))
    return JudgeError(f"the judge {settings.model} at {settings.base_url} cannot be used: {problem}")
