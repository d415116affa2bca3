"""Handle differences between endpoints: the parameters that they accept, and the ways in which they report failures."""

import re
from collections.abc import Set

from medtasks_utils.errors import HINTS_BY_STATUS
from medtasks_utils.inference.client import Endpoint
from medtasks_utils.inference.responses import NoConnection, NoResponse, RequestRefused, ServerError
from medtasks_utils.writing import SECRETS, JsonObject, Settings, one_line, printable, shortened

from .judge import CallError, Schema
from .judge_settings import JudgeSettings

TIMEOUT = 180.0
"""Seconds to wait for a reply before an attempt counts as failed."""

_LONGEST_LINE = 300
_SERVER = "is the server running, and is the base URL right?"
HINTS = {
    "unreachable": _SERVER,
    "timeout": _SERVER,
    "http_200": HINTS_BY_STATUS[404],
    **{f"http_{status}": hint for status, hint in HINTS_BY_STATUS.items()},
}
"""What the user should check, by kind of failure."""


def endpoint_of(settings: JudgeSettings) -> Endpoint:
    """Return the endpoint of a judging model, with its limits."""
    return Endpoint(
        url=f"{settings.base_url}/chat/completions",
        model=settings.model,
        headers={"Authorization": f"Bearer {settings.api_key}"},
        at_once=settings.concurrency,
        attempts=settings.max_retries + 1,
        timeout=TIMEOUT,
        pause=settings.pause,
    )


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


def refused_by(error: RequestRefused, sent: Settings) -> str | None:
    """Return the name of the parameter that the endpoint seems to have refused; None if the error has another cause."""
    if error.status not in (400, 422):
        return None
    complaint = error.body.lower()
    hints = {"max_tokens": "max_completion_tokens", "temperature": "temperature"}
    # Endpoints word this in many ways, so any other complaint is taken to be about structured output.
    if not re.search("context (length|window)", complaint):
        hints["response_format"] = ""
    return next((name for name, hint in hints.items() if name in sent and hint in complaint), None)


def explain(error: ServerError) -> CallError:
    """Convert an error of the client into a :class:`CallError` of one line, without the key."""
    if isinstance(error, NoResponse):
        return CallError(f"no response within {TIMEOUT:g} s", "timeout")
    kind = "unreachable" if isinstance(error, NoConnection) else f"http_{error.status}"
    return CallError(error_line(error.problem), kind)


def error_line(text: str) -> str:
    """Return a text on one line, without secrets, truncated to 300 characters."""
    return shortened(one_line(SECRETS.scrub(printable(text))), _LONGEST_LINE)
