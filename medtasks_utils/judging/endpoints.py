"""How endpoints differ and fail: which parameters they take, and why a call failed."""

import re
from collections.abc import Mapping, Set
from typing import Any

import openai

from medtasks_utils.writing import SECRETS, printable

from .judge import CallError, Schema
from .settings import JudgeError, JudgeSettings

NO_COMPLETION = "http_200"
"""The kind of failure of an answer that is no chat completion."""

_LONGEST_LINE = 300
_SERVER = "is the server running, and the base URL right?"
_KEY = "is the right key in the environment, and may it use this model?"
_URL = "does the endpoint serve this model, and does the base URL end as it should (often in /v1)?"
_WAYS_OUT = {
    "unreachable": _SERVER,
    "timeout": _SERVER,
    "unreadable": _URL,
    NO_COMPLETION: _URL,
    "http_401": _KEY,
    "http_403": _KEY,
    "http_404": _URL,
}


def parameters(refused: Set[str], max_tokens: int, schema: Schema) -> dict[str, Any]:
    """Arguments of a chat completion: the limit, temperature 0 and the reply's schema, but for what is refused.

    Newer models of the provider have ``max_completion_tokens`` for ``max_tokens``; some reasoning models refuse a
    temperature.
    """
    limit = "max_completion_tokens" if "max_tokens" in refused else "max_tokens"
    every: dict[str, Any] = {limit: max_tokens, "temperature": 0.0}
    if schema:
        form = {"name": schema.get("title", "reply"), "strict": True, "schema": schema}
        every["response_format"] = {"type": "json_schema", "json_schema": form}
    return {name: value for name, value in every.items() if name not in refused}


def refused_by(error: openai.OpenAIError, sent: Mapping[str, Any]) -> str | None:
    """Which of the parameters that were sent an endpoint refuses by this error; None if none of them explains it."""
    if not isinstance(error, openai.BadRequestError | openai.UnprocessableEntityError):
        return None
    complaint = str(error).lower()
    hints = {"max_tokens": "max_completion_tokens", "temperature": "temperature"}
    # Endpoints word this in many ways, or not at all, so structured output is what other refusals are put down to.
    if not re.search("context (length|window)", complaint):
        hints["response_format"] = ""
    return next((name for name, hint in hints.items() if name in sent and hint in complaint), None)


def explain(error: openai.OpenAIError, settings: JudgeSettings) -> CallError:
    """An error of the client library as ours: its kind, and one line without the key."""
    kind, message = "unreadable", f"no chat completion ({type(error).__name__})"
    if isinstance(error, openai.APITimeoutError):
        kind, message = "timeout", f"no answer within {settings.timeout:g} s"
    elif isinstance(error, openai.APIStatusError):
        kind, message = f"http_{error.status_code}", str(error)
    elif isinstance(error, openai.APIConnectionError):
        kind, message = "unreachable", f"{error} {error.__cause__!r}"
    return CallError(one_line(message), kind)


def one_line(text: str) -> str:
    """The text without line breaks, the key, or too many words."""
    text = " ".join(SECRETS.scrub(printable(text)).split())
    return text if len(text) <= _LONGEST_LINE else text[: _LONGEST_LINE - 1] + "…"


def unusable(kind: str, message: str, settings: JudgeSettings) -> JudgeError:
    """What the user is told of an endpoint that failed its check, with the way out where it is known."""
    problem = "; ".join(filter(None, (message, _WAYS_OUT.get(kind))))
    return JudgeError(f"the judge {settings.model} at {settings.base_url} cannot be used: {problem}")
