"""Why a call failed, whether to try again, and how long to wait."""

from __future__ import annotations

import email.utils
import json
import random
import time
from asyncio import TimeoutError as AsyncTimeoutError
from collections.abc import Mapping
from datetime import timezone
from typing import Any

import openai
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, wait_random_exponential

from medtasks_utils.extraction.printable import printable
from medtasks_utils.judging.judge import CallError
from medtasks_utils.judging.settings import JudgeError, JudgeSettings

LONGEST_WAIT = 120.0
"""Seconds; an endpoint that asks for more has, for this run, said no."""

ERRORS = (openai.OpenAIError, AsyncTimeoutError, json.JSONDecodeError)
"""What a call through the client library may end in."""

_TRANSIENT = {408, 409, 425, 429}
_BACKOFF = wait_random_exponential(multiplier=0.5, max=30)  # full jitter: 0 to 0.5, 1, 2, 4 … 30 s


def retrying(max_retries: int) -> AsyncRetrying:
    """Tries a call again while its failure may pass, waiting as long as the endpoint asked, else ever longer."""
    return AsyncRetrying(
        retry=retry_if_exception(lambda error: isinstance(error, CallError) and error.transient),
        stop=stop_after_attempt(1 + max_retries),
        wait=_wait,
        reraise=True,
    )


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, CallError) and error.wait is not None:
        return error.wait + random.uniform(0, 0.25)  # those sent away together do not come back together
    return _BACKOFF(state)


def explain(error: Exception, settings: JudgeSettings) -> CallError:
    """An error of the client library as ours: its kind, one line without the key, whether it may pass."""
    if isinstance(error, openai.APITimeoutError | AsyncTimeoutError):
        return CallError("timeout", f"no answer within {settings.timeout:g} s", transient=True)
    if isinstance(error, openai.APIStatusError):
        return _explain_status(error, settings)
    if isinstance(error, openai.APIConnectionError):
        cause = error.__cause__ or error
        return CallError("unreachable", one_line(f"{error} {type(cause).__name__}: {cause}", settings), transient=True)
    return CallError("unreadable", f"no chat completion ({type(error).__name__})", transient=True)


def _explain_status(error: openai.APIStatusError, settings: JudgeSettings) -> CallError:
    status = error.status_code
    message = one_line(f"HTTP {status}: {endpoint_message(error)}", settings)
    transient = status in _TRANSIENT or status >= 500
    wait = requested_wait(error.response.headers) if transient else None
    if error.code == "insufficient_quota":  # a 429 that no waiting cures
        transient = False
    elif wait is not None and wait > LONGEST_WAIT:
        return CallError(f"http_{status}", f"{message} (asked to wait {wait:.0f} s)")
    return CallError(f"http_{status}", message, transient, wait)


def endpoint_message(error: openai.APIStatusError) -> str:
    """The endpoint's own words."""
    if isinstance(error.body, Mapping):
        return str(error.body.get("message") or dict(error.body))
    return str(error.body or error.response.text)


def requested_wait(headers: Mapping[str, Any], now: float | None = None) -> float | None:
    """Seconds from ``retry-after-ms`` or ``Retry-After`` (seconds or a date); None if neither says so."""
    try:
        return max(0.0, float(headers["retry-after-ms"]) / 1000)
    except (KeyError, ValueError):
        pass
    value = str(headers.get("retry-after") or "").strip()
    try:
        seconds = float(value)
    except ValueError:
        try:
            date = email.utils.parsedate_to_datetime(value)
        except (TypeError, ValueError):
            return None
        moment = date if date.tzinfo else date.replace(tzinfo=timezone.utc)
        seconds = moment.timestamp() - (time.time() if now is None else now)
    return max(0.0, seconds) if seconds == seconds else None  # not for NaN


def one_line(text: str, settings: JudgeSettings, longest: int = 300) -> str:
    """The text without line breaks, the key, or too many words."""
    text = " ".join(settings.scrub(printable(text)).split())
    return text if len(text) <= longest else text[: longest - 1] + "…"


def unusable(error: CallError, settings: JudgeSettings) -> JudgeError:
    """What the user is told of an endpoint that failed its check, with the way out where it is known."""
    ways_out = {
        "unreachable": "is the server running, and the base URL right?",
        "unreadable": "does the base URL end as it should (often in /v1)?",
        "timeout": "is the server running, and the base URL right?",
        "http_401": "is the right key in the environment?",
        "http_403": "is the right key in the environment, and may it use this model?",
        "http_404": "does the endpoint serve this model, and does the base URL end as it should (often in /v1)?",
    }
    way_out = ways_out.get(error.kind)
    problem = f"{error}" + (f"; {way_out}" if way_out else "")
    return JudgeError(f"the judge {settings.model} at {settings.base_url} cannot be used: {problem}")
