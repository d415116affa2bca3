"""How endpoints differ and fail: which parameters they take, and why a call failed."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import openai

from medtasks_utils.extraction.printable import printable
from medtasks_utils.judging.judge import CallError, Schema
from medtasks_utils.judging.settings import JudgeError, JudgeSettings
from medtasks_utils.writing import SECRETS

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


@dataclass(frozen=True)
class Dialect:
    """What is sent beside the messages.

    Attributes:
        temperature: whether a temperature (of 0) is sent; some reasoning models refuse one.
        limit: ``max_tokens``, or ``max_completion_tokens``, as newer models of the provider have it.
        structured: whether a reply is asked for by its JSON schema.
    """

    temperature: bool = True
    limit: str = "max_tokens"
    structured: bool = True

    def parameters(self, max_tokens: int, schema: Schema) -> dict[str, Any]:
        """Arguments of a chat completion."""
        parameters: dict[str, Any] = {self.limit: max_tokens}
        if self.temperature:
            parameters["temperature"] = 0.0
        if schema and self.structured:
            form = {"name": schema.get("title", "reply"), "strict": True, "schema": schema}
            parameters["response_format"] = {"type": "json_schema", "json_schema": form}
        return parameters

    def without(self, error: Exception, schema: Schema) -> Dialect | None:
        """What to send instead after this error; None if nothing that was sent explains it."""
        if not isinstance(error, openai.APIStatusError) or error.status_code not in (400, 422):
            return None
        complaint = str(error).lower()
        if self.limit == "max_tokens" and "max_completion_tokens" in complaint:
            return replace(self, limit="max_completion_tokens")
        if self.temperature and "temperature" in complaint:
            return replace(self, temperature=False)
        # Endpoints word this in many ways, or not at all, so structured output is what other refusals are put down to.
        if schema and self.structured and not re.search("context (length|window)", complaint):
            return replace(self, structured=False)
        return None


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
