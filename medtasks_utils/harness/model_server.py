"""Understand what a model's server replies: an answer, an error, or a request that is too long for the model."""

import json
import re
from typing import Any

import requests

from medtasks_utils.errors import HINTS_BY_STATUS, MedtasksError, logger, reason_of
from medtasks_utils.tools.native import as_one_text

_CONNECTION_TIMEOUT = 5  # seconds
_PROBE_TIMEOUT = 30  # seconds; a slower server is taken to be busy
_MAX_QUOTED = 300  # characters of a server's message that are quoted
_BUSY = (408, 425, 429, 503)
_TOO_LONG = re.compile(
    r"context|too long|too many tokens|tokens?\b.{0,80}\bmust be|maximum.{0,40}(length|tokens)", re.I
)
_TOO_FEW_TOKENS = re.compile(r"max_(completion_|output_)?tokens|max_new_tokens", re.I)


class PromptTooLong(MedtasksError):
    """Raised for a request that is too long for the model."""


class ServerUnavailable(MedtasksError):
    """Raised when a server cannot answer now; the same request may succeed later."""


def check(status: int, text: str, url: str, model: str) -> None:
    """Raise the error that a reply's HTTP status stands for; return for a status below 400.

    Args:
        status: the HTTP status.
        text: the body of the reply.
        url: the address that was asked.
        model: the model's name.

    Raises:
        PromptTooLong: for a request that is refused for its length.
        ServerUnavailable: for a server that is busy or broken.
        MedtasksError: for every other refusal, with the server's message.
    """
    if status < 400:
        return
    problem = f"{url} answered with status {status} for the model {model}{server_message(text)}"
    if status in (400, 413, 422) and _TOO_LONG.search(text):
        raise PromptTooLong(problem)
    if status >= 500 or status in _BUSY:
        raise ServerUnavailable(f"{problem}: the server cannot answer now; its log should say why")
    hint = HINTS_BY_STATUS.get(status)
    raise MedtasksError(f"{problem}: {hint}" if hint else problem)


def parse_reply(text: str, url: str) -> dict[str, Any]:
    """Return the body of a reply that has an answer; content in parts and native tool calls are joined into one text.

    Raises:
        ServerUnavailable: for any other reply, which lm_eval would score as an empty answer.
    """
    try:
        body: dict[str, Any] = json.loads(text)
        if not (body.get("choices") or body.get("content") or isinstance(body.get("text"), str)):
            raise ValueError("no answer")
        for choice in body.get("choices") or ():
            _join_content(choice)
    except (ValueError, TypeError, AttributeError):
        raise ServerUnavailable(
            f"{url} sent a reply without an answer{server_message(text)}: check that base_url is right"
        ) from None
    return body


def _join_content(choice: dict[str, Any]) -> None:
    """Make the content of a choice's message one text; a ValueError where it has neither a message nor a text."""
    message = choice.get("message") or {}
    if isinstance(message.get("content"), list):
        message["content"] = "".join(str(part.get("text") or "") for part in message["content"])
    if message.get("tool_calls"):
        message["content"] = as_one_text(message.get("content") or "", message["tool_calls"])
    if not message and "text" not in choice:
        raise ValueError("no answer")


def server_message(text: str) -> str:
    """Return the readable message of a reply in brackets, after a space; an empty string if there is none."""
    try:
        message = json.loads(text)
        while isinstance(message, dict):
            message = next((message[name] for name in ("error", "message", "detail") if message.get(name)), "")
    except ValueError:
        message = re.sub(r"<[^>]*>", " ", text)
    line = " ".join(str(message).split())
    return f" ({line[:_MAX_QUOTED]})" if line else ""


def probe(request: dict[str, Any], model: str) -> dict[str, Any]:
    """Ask a model for one token as the run will ask it, and return the reply.

    The reply is empty, and the run goes on, if the server is slow or busy, or finds one token too few, as for models
    that reason.

    Args:
        request: the arguments of ``requests.post``.
        model: the model's name.

    Raises:
        MedtasksError: if no request of the run could be answered.
    """
    url = request["url"]
    try:
        reply = requests.post(**request, timeout=(_CONNECTION_TIMEOUT, _PROBE_TIMEOUT))
    except requests.exceptions.ReadTimeout:
        logger.warning("%s did not answer within %d s; the run starts anyway", url, _PROBE_TIMEOUT)
        return {}
    except requests.exceptions.RequestException as error:
        cause = reason_of(error).rpartition(": ")[2].strip("'\")")
        raise MedtasksError(f"no server answers at {url} ({cause}): start the server, or correct base_url") from None
    if reply.status_code in _BUSY or (reply.status_code == 400 and _TOO_FEW_TOKENS.search(reply.text)):
        return {}
    check(reply.status_code, reply.text, url, model)
    return parse_reply(reply.text, url)
