"""Handle differences between endpoints: the parameters that they accept, and the ways in which they report failures."""

import re
from collections.abc import Mapping, Set
from typing import Any

import openai

from medtasks_utils.errors import HINTS_BY_STATUS
from medtasks_utils.writing import SECRETS, JsonObject, one_line, printable, shortened

from .judge import CallError, Schema

NO_COMPLETION = "http_200"
"""The kind of failure if a successful HTTP reply is not a chat completion."""

TIMEOUT = 180.0
"""Seconds to wait for a reply before an attempt counts as failed."""

_LONGEST_LINE = 300
_SERVER = "is the server running, and is the base URL right?"
HINTS = {
    "unreachable": _SERVER,
    "timeout": _SERVER,
    NO_COMPLETION: HINTS_BY_STATUS[404],
    **{f"http_{status}": hint for status, hint in HINTS_BY_STATUS.items()},
}
"""What the user should check, by kind of failure."""


def parameters(refused: Set[str], max_tokens: int, schema: Schema) -> JsonObject:
    """Return the parameters of a request for a chat completion, without those that the endpoint has refused.

    Newer OpenAI models need ``max_completion_tokens`` instead of ``max_tokens``, and some reasoning models refuse a
    temperature.
    """
    limit = "max_completion_tokens" if "max_tokens" in refused else "max_tokens"
    arguments: JsonObject = {limit: max_tokens, "temperature": 0.0}
    if schema:
        form = {"name": "reply", "strict": True, "schema": schema}
        arguments["response_format"] = {"type": "json_schema", "json_schema": form}
    return {name: value for name, value in arguments.items() if name not in refused}


def refused_by(error: openai.OpenAIError, sent: Mapping[str, Any]) -> str | None:
    """Return the name of the parameter that the endpoint seems to have refused; None if the error has another cause."""
    if not isinstance(error, openai.BadRequestError | openai.UnprocessableEntityError):
        return None
    complaint = str(error).lower()
    hints = {"max_tokens": "max_completion_tokens", "temperature": "temperature"}
    # Endpoints word this in many ways, so any other complaint is taken to be about structured output.
    if not re.search("context (length|window)", complaint):
        hints["response_format"] = ""
    return next((name for name, hint in hints.items() if name in sent and hint in complaint), None)


def explain(error: openai.OpenAIError) -> CallError:
    """Convert an error of the client library into a :class:`CallError` of one line, without the key."""
    kind, message = "unreadable", f"not a chat completion ({type(error).__name__})"
    if isinstance(error, openai.APITimeoutError):
        kind, message = "timeout", f"no response within {TIMEOUT:g} s"
    elif isinstance(error, openai.APIStatusError):
        kind, message = f"http_{error.status_code}", str(error)
    elif isinstance(error, openai.APIConnectionError):
        kind, message = "unreachable", f"{error} {error.__cause__!r}"
    return CallError(error_line(message), kind)


def error_line(text: str) -> str:
    """Return a text on one line, without secrets, truncated to 300 characters."""
    return shortened(one_line(SECRETS.scrub(printable(text))), _LONGEST_LINE)
