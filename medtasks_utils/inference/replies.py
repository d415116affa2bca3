"""Parse the body of an endpoint's response: the text of each reply, its finish reason, tokens and reasoning.

For any body, :func:`read_completion` returns replies or raises :class:`NoReplyError`. An error never becomes an empty
reply.
"""

import json
import math
import re
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from medtasks_utils.tools.native import as_one_text
from medtasks_utils.writing import JsonObject, Settings, plain, printable, shortened

MAX_BODY = 64 << 20
"""Maximum size of a body in bytes; a longer body is an error."""

End = Literal["stop", "length", "filter", "unknown"]

_WORDS_OF_ENDS: dict[str, re.Pattern[str]] = {
    "stop": re.compile(
        "(stop|eos|eos_token|eot|end_turn|stop_sequence|stop_token|word|tool_calls|tool_use|tool_call|function_call|"
        "complete|completed|done|finished)$"
    ),
    "error": re.compile(".*(error|abort|cancel|fail|timeout|insufficient)"),
    "length": re.compile(".*(length|limit|max_|exceeded|truncated)"),
    "filter": re.compile(
        ".*(filter|safety|refusal|recitation|b(lock|lack)list|blocked|sensitive|prohibited|spii|moderat|guardrail|policy)"
    ),
}
"""Patterns for servers' finish reasons in lower case, by our finish reason; the first match is used."""

_FIELDS_OF_END = ("finish_reason", "stop_reason")
_FIELDS_OF_TOKENS = {
    "prompt": ("prompt_tokens", "input_tokens"),
    "completion": ("completion_tokens", "output_tokens"),
    "total": ("total_tokens",),
}
_FIELDS_OF_REASONING = ("reasoning_content", "reasoning", "thinking", "reasoning_details")
_FIELDS_OF_TEXT = ("text", "value", "content", "summary", "thinking", "reasoning", "refusal")
_LONGEST_NAME = 100  # maximum number of characters of a model's name
_FIELDS_OF_ERROR = ("error", "errors", "error_message")
_FIELDS_OF_WORDS = (
    "error",
    "errors",
    "message",
    "detail",
    "description",
    "msg",
    "status_msg",
    "base_resp",
    "type",
    "code",
)
_THOUGHT = ("thinking", "reasoning", "redacted_thinking")


class NoReplyError(Exception):
    """A body without a reply, or with an error. The message is the server's own, and may be empty.

    Attributes:
        status: the HTTP status that an error in the body states, or None.
    """

    def __init__(self, words: str, status: int | None = None) -> None:
        super().__init__(words)
        self.status = status


class Reply(str):
    """The text of a model's reply, with details such as its finish reason.

    A reply is a string, so that it passes unchanged through the harness and the harness's caches.

    Attributes:
        ended: ``stop`` (the model ended it), ``length`` (the token limit), ``filter`` (the server's content filter), or
            ``unknown``.
        tokens: the number of generated tokens, reasoning included; None if unknown.
        reasoning: the reasoning that the server sent separately from the text; None if it sent none.
        refusal: the reason why a prompt that is too long or forbidden got no reply; None if the model replied.
        reasoning_field: the name of the field in which the server sent the reasoning; None if it sent none.
        prompt_tokens: the number of tokens of the prompt, by the server's count; None if unknown.
        model: the model that the server names, if it differs from the requested one; else None.
    """

    ended: End
    tokens: int | None
    reasoning: str | None
    refusal: str | None
    reasoning_field: str | None = None
    prompt_tokens: int | None = None
    model: str | None = None

    def __new__(
        cls,
        text: str = "",
        ended: End = "unknown",
        tokens: int | None = None,
        reasoning: str | None = None,
        refusal: str | None = None,
        **of_server: Any,
    ) -> "Reply":
        """Create a reply; by default, without reasoning or refusal, and with unknown finish reason and tokens.

        ``of_server`` sets the attributes ``reasoning_field``, ``prompt_tokens`` and ``model``.
        """
        self = super().__new__(cls, text)
        self.ended, self.tokens, self.reasoning, self.refusal = ended, tokens, reasoning, refusal
        vars(self).update(of_server)
        return self

    @property
    def attributes(self) -> JsonObject:
        """The attributes by name, which are keyword arguments of this class; the text is not among them.

        ``reasoning_field``, ``prompt_tokens`` and ``model`` are included only if they were set.
        """
        return dict(vars(self))

    @property
    def is_empty(self) -> bool:
        """True if the text is empty and the reply was not cut, filtered or refused."""
        return not self.strip() and self.ended in ("stop", "unknown") and self.refusal is None


OF_EACH_REPLY = ("ended", "tokens")
"""Attributes of replies that every sample has."""
IF_ANY = ("reasoning", "refusal", "reasoning_field", "prompt_tokens", "model")
"""Attributes of replies that samples have only if a reply has them."""


def as_reply(reply: Any) -> Reply:
    """Convert a string, a reply or None to a :class:`Reply` whose text can be saved.

    None becomes an empty text, and lone surrogates, which UTF-8 cannot encode, become U+FFFD.
    """
    facts = reply.attributes if isinstance(reply, Reply) else {}
    return Reply(printable(reply or ""), **facts)


class Completion(NamedTuple):
    """The parsed response of a server to one request.

    Attributes:
        replies: one reply per choice.
        usage: those of the token counts ``prompt`` and ``completion`` (with reasoning) that the server reports.
        refusal: the model's refusal in the first choice, if the server sends it separately from the text; else empty.
        model: the model that the server names; empty if it names none.
        body: the whole body, which contains log-probabilities if they were requested.
    """

    replies: list[Reply]
    usage: dict[str, int]
    refusal: str = ""
    model: str = ""
    body: Any = None


def read_completion(body: str, limit: int | None = None) -> Completion:
    """Parse the body of a completion into replies, in the order of its choices.

    Three forms are known: chat and plain completions in OpenAI's format, Anthropic's messages, and SGLang's
    ``/generate``. Native tool calls are put into the text (:func:`.native.as_one_text`).

    Args:
        body: the body of the response.
        limit: the requested maximum number of tokens. A reply with this many tokens and no finish reason counts as cut.

    Raises:
        NoReplyError: if the body contains an error, however nested, or has none of these forms.
    """
    try:
        return _completion(json.loads(body), limit)
    except (ValueError, RecursionError):
        raise NoReplyError(words_of(body)) from None


def _completion(body: Any, limit: int | None) -> Completion:
    """Convert a parsed body to a completion; raise :class:`NoReplyError` for an error in it."""
    if not isinstance(body, dict):
        raise NoReplyError(_words(body))
    _raise_error(body)
    if isinstance(body.get("meta_info"), dict):
        body = {"usage": body["meta_info"], **body, **body["meta_info"]}
    choices = [body] if body.get("type") == "message" or "meta_info" in body else body.get("choices")
    usage = body["usage"] if isinstance(body.get("usage"), dict) else {}
    if "choices" in body and not choices and usage.get("prompt_tokens"):  # Gemini has none for some prompts
        choices = [{"text": ""}]
    if not (isinstance(choices, list) and choices and all(map(_is_choice, choices))):
        raise NoReplyError(_words(body))
    for choice in choices:
        _raise_error(choice)
        _raise_error(_message(choice))
    counts: dict[str, int] = {}
    for kind, names in _FIELDS_OF_TOKENS.items():
        for value in map(usage.get, names):
            if type(value) in (int, float) and 0 <= value < 1 << 40:
                counts.setdefault(kind, int(value))
    of_replies = counts.pop("total", 0) - counts.get("prompt", math.inf)
    if of_replies > counts.get("completion", 0):  # Gemini and xAI count reasoning in the total alone
        counts["completion"] = int(of_replies)
    tokens = counts.get("completion") if len(choices) == 1 else None
    places = [choice.get("index") for choice in choices]
    if sorted(map(str, places)) == sorted(map(str, range(len(choices)))):
        choices = sorted(choices, key=lambda choice: int(choice["index"]))
    replies = [_reply(choice, tokens, limit) for choice in choices]
    if counts.get("prompt"):
        for reply in replies:
            reply.prompt_tokens = counts["prompt"]
    model = shortened(plain(_text(body.get("model"))), _LONGEST_NAME)
    return Completion(replies, counts, _text(_message(choices[0]).get("refusal")), model, body)


def _is_choice(choice: Any) -> bool:
    """Return whether an object is a choice with a reply, even if the reply has no text."""
    if not isinstance(choice, dict) or isinstance(choice.get("message"), str):
        return False
    has_text = any(isinstance(choice.get(name), str | list) for name in ("text", "content"))
    return bool(has_text or _message(choice) or any(choice.get(name) for name in (*_FIELDS_OF_END, "logprobs")))


def _message(choice: Settings) -> Settings:
    """Return the message of a choice; an empty dict if it has none, as in plain completions."""
    message = choice.get("message") or choice.get("delta")
    return message if isinstance(message, dict) else {}


def _reply(choice: Settings, tokens: int | None, limit: int | None) -> Reply:
    """Convert a choice to a reply.

    A reply of ``limit`` tokens or more without a known finish reason counts as cut. A reply without text that
    ``stop`` ended gets the finish reason ``unknown``.

    Args:
        choice: the choice.
        tokens: the number of tokens in the reply; None if unknown.
        limit: the maximum number of tokens of the reply; None if unknown.
    """
    fields = {**choice, **_message(choice)}
    content = _first_filled(fields, ("content", "text", "refusal"))
    text, thoughts = "", ""
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, dict) and part.get("type") in _THOUGHT:
            thoughts += _text(part)
        else:
            text += _text(part)
    field = "content"
    for name in _FIELDS_OF_REASONING:
        reasoning = fields.get(name)
        if reasoning and isinstance(reasoning, str | list):  # some servers repeat settings under this name
            field, thoughts = name, _text(reasoning) or thoughts
            break
    if fields.get("tool_calls"):
        text = as_one_text(text, fields["tool_calls"])
    ends = (_end(choice.get(name)) for name in _FIELDS_OF_END)
    ended: Any = next((end for end in ends if end != "unknown"), "unknown")
    if ended == "unknown" and limit and tokens is not None and tokens >= limit:
        ended = "length"
    if ended == "stop" and not text.strip():
        ended = "unknown"
    place = {"reasoning_field": field} if thoughts else {}
    return Reply(printable(text), ended, tokens, printable(thoughts) or None, **place)


def _first_filled(fields: Settings, names: Iterable[str]) -> Any:
    """Return the first of the named fields that is not empty (0 is not empty); None if all are empty."""
    return next((fields[name] for name in names if fields.get(name) not in (None, "", [])), None)


def _text(content: Any) -> str:
    """Return the text of a message's content, which may be a string, a list of parts, or any other JSON value."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list):
        return "".join(map(_text, content))
    if isinstance(content, dict):
        named = _first_filled(content, _FIELDS_OF_TEXT)
        if named is not None or "type" in content:
            return _text(named)
    return json.dumps(content, ensure_ascii=False)


def _end(value: Any) -> str:
    """Convert a server's finish reason to an :data:`End` or ``error``; ``unknown`` if no pattern matches.

    Of an object, the field ``type`` is converted.
    """
    word = value.get("type") if isinstance(value, dict) else value
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|[\s-]+", "_", str(word)).lower()
    words = words.removeprefix("finish_reason").lstrip("._")
    return next((end for end, pattern in _WORDS_OF_ENDS.items() if pattern.match(words)), "unknown")


# ---- errors


def _raise_error(part: Settings) -> None:
    """Raise the error in a body, choice or message, if there is one; ``"error": null`` is ignored.

    Raises:
        NoReplyError: for a field such as ``error`` that is not empty, and for a type, status or finish reason that
            means an error.
    """
    for name in _FIELDS_OF_ERROR:
        error = part.get(name)
        if any(error.values()) if isinstance(error, dict) else error:  # "error": {"message": ""} is not one
            raise NoReplyError(_words(error), _status(error if isinstance(error, dict) else part))
    for name in ("object", "type", "status", *_FIELDS_OF_END):
        if _end(part.get(name)) == "error":
            raise NoReplyError(_words(part) or f"{name}: {part[name]}", _status(part))


def _status(error: Settings) -> int | None:
    """Return the HTTP status that an error states, or 413 if its code means an exceeded context; else None."""
    for name in ("code", "status"):
        value: Any = error.get(name)
        if re.fullmatch("[45][0-9][0-9]", str(value)):
            return int(value)
        if value == "context_length_exceeded":
            return 413
    return None


def words_of(body: str) -> str:
    """Return the readable message in a body: that of an error, or the text of a body that is not JSON, without tags."""
    try:
        return _words(json.loads(body))
    except (ValueError, RecursionError):
        return re.sub(r"<[^>]*>", " ", body[:4_000])


def _words(value: Any) -> str:
    """Return the message in nested error objects, and the names of the faulty fields; empty if there is none."""
    if isinstance(value, dict):
        words = _words(next((value[name] for name in _FIELDS_OF_WORDS if value.get(name)), ""))
        place = value.get("loc") or value.get("param") or ""
        place = ".".join(map(str, place)) if isinstance(place, list) else str(place)
        return words if place in words else f"{words}: {place}"
    if isinstance(value, list):
        return "; ".join(filter(None, map(_words, value)))
    return "" if value is None or isinstance(value, bool) else str(value)
