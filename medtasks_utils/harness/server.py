"""What a model's server says: whether it can answer at all, why it refuses a request, and what it has."""

import json
import re
from typing import Any

import requests

from medtasks_utils.errors import HINTS_BY_STATUS, MedtasksError, logger, reason_of
from medtasks_utils.tools.native import as_one_text

_CONNECTED_WITHIN = 5  # seconds
_ANSWERED_WITHIN = 30  # seconds; a server that takes longer is busy, and alive
_SHOWN = 300  # characters of what a server says
_BUSY = (408, 425, 429, 503)
_TOO_LONG = re.compile(
    r"context|too long|too many tokens|tokens?\b.{0,80}\bmust be|maximum.{0,40}(length|tokens)", re.I
)
_OF_FEW_TOKENS = re.compile(r"max_(completion_|output_)?tokens|max_new_tokens", re.I)


class DoesNotFit(MedtasksError):
    """A request that is too long for the model."""


class UnableError(MedtasksError):
    """A server that cannot answer now, and may later."""


def check(status: int, said: str, url: str, model: str) -> None:
    """Raise what a reply's status means.

    Raises:
        DoesNotFit: for a request that is refused for its length.
        UnableError: for a server that is busy or broken.
        MedtasksError: for every other refusal, with the server's words.
    """
    if status < 400:
        return
    answer = f"{url} answers {status} for the model {model}{words_of(said)}"
    if status in (400, 413, 422) and _TOO_LONG.search(said):
        raise DoesNotFit(answer)
    if status >= 500 or status in _BUSY:
        raise UnableError(f"{answer}: it cannot answer now; its own log says why")
    raise MedtasksError(": ".join(filter(None, [answer, HINTS_BY_STATUS.get(status)])))


def body_of(said: str, url: str) -> dict[str, Any]:
    """A reply with an answer in it; content in parts and native calls of tools are put into one text.

    Raises:
        UnableError: for anything else. The harness would take it for an empty answer, and score that.
    """
    try:
        body: dict[str, Any] = json.loads(said)
        if not (body.get("choices") or body.get("content") or isinstance(body.get("text"), str)):
            raise ValueError("no answer")
        for choice in body.get("choices") or ():
            message = choice.get("message") or {}
            if isinstance(message.get("content"), list):
                message["content"] = "".join(str(part.get("text") or "") for part in message["content"])
            if message.get("tool_calls"):
                message["content"] = as_one_text(message.get("content") or "", message["tool_calls"])
            if not message and "text" not in choice:
                raise ValueError("no answer")
    except (ValueError, TypeError, AttributeError):
        raise UnableError(f"{url} sends a reply without an answer{words_of(said)}: is base_url right?") from None
    return body


def words_of(said: str) -> str:
    """What a reply says for people, in brackets; empty if it says nothing."""
    try:
        words = json.loads(said)
        while isinstance(words, dict):
            words = next((words[name] for name in ("error", "message", "detail") if words.get(name)), "")
    except ValueError:
        words = re.sub(r"<[^>]*>", " ", said)
    text = " ".join(str(words).split())
    return f" ({text[:_SHOWN]})" if text else ""


def probe(request: dict[str, Any], model: str) -> dict[str, Any]:
    """Ask for one token of a model as the run will ask it; the reply, empty where there is none yet.

    A server that takes its time, is busy, or finds one token too few (a model that reasons) lets the run go on.

    Raises:
        MedtasksError: where no request of this run can be answered.
    """
    url = request["url"]
    try:
        reply = requests.post(**request, timeout=(_CONNECTED_WITHIN, _ANSWERED_WITHIN))
    except requests.exceptions.ReadTimeout:
        logger.warning("%s has not answered within %d s; going on", url, _ANSWERED_WITHIN)
        return {}
    except requests.exceptions.RequestException as error:
        cause = reason_of(error).rpartition(": ")[2].strip("'\")")
        raise MedtasksError(f"no server answers at {url} ({cause}): start it, or correct base_url") from None
    if reply.status_code in _BUSY or (reply.status_code == 400 and _OF_FEW_TOKENS.search(reply.text)):
        return {}
    check(reply.status_code, reply.text, url, model)
    return body_of(reply.text, url)
