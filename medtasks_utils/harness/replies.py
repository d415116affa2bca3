"""The body of an endpoint's answer, read: the text of each reply, how it ended, its tokens, and its reasoning.

:func:`read_completion` is total. Whatever a body holds, it returns replies or raises :class:`NoReplyError`; nothing
that is no reply becomes an empty one.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from medtasks_utils.tools.native import as_one_text
from medtasks_utils.writing import printable

MAX_BODY = 64 << 20
"""Bytes of a body that are read; a longer one is an error."""

End = Literal["stop", "length", "filter", "unknown"]

_Json = Mapping[str, Any]

_ENDS: dict[str, str] = {
    "stop": "stop eos eos_token eot end_turn stop_sequence stop_token word tool_calls tool_use tool_call function_call "
    "complete completed done finished",
    "length": "length limit max_tokens max_output_tokens max_new_tokens max_length model_length "
    "context_length_exceeded model_context_window_exceeded",
    "filter": "content_filter content_filtered filter safety refusal recitation blocklist sensitive prohibited_content "
    "spii moderation guardrail_intervened",
    "error": "error abort aborted cancelled canceled failed network_error timeout insufficient_system_resource",
}
"""How a reply ended, and the words that servers have for it, in lower case."""

_FIELDS_OF_END = ("finish_reason", "finishReason", "stop_reason", "done_reason", "stop_type", "finish_details")
_PROMPT_TOKENS = ("prompt_tokens", "input_tokens", "prompt_eval_count", "tokens_evaluated")
_COMPLETION_TOKENS = ("completion_tokens", "output_tokens", "eval_count", "tokens_predicted")
_FIELDS_OF_REASONING = ("reasoning_content", "reasoning", "thinking", "reasoning_details")
_FIELDS_OF_TEXT = ("text", "value", "content", "summary", "thinking", "reasoning", "refusal", "response")
_FIELDS_OF_ERROR = ("error", "errors", "error_message")
_FIELDS_OF_WORDS = ("error", "message", "detail", "msg", "type", "code")
_THOUGHT = ("thinking", "reasoning", "redacted_thinking")
_NOT_AN_ERROR = (0, "0", 200, "200", "success", "ok")


class NoReplyError(Exception):
    """A body without a reply; the message is what the server says for people, empty if it says nothing.

    Attributes:
        status: the HTTP status that an error in the body names; None where it names none.
    """

    def __init__(self, words: str = "", status: int | None = None) -> None:
        super().__init__(words)
        self.status = status


class Reply(str):
    """The text of a model's reply, with what is known of how it came about.

    It is a text for whoever takes it as one, so that it passes through the harness and its caches as it is.

    Attributes:
        ended: ``stop``, the model's own end; ``length``, the limit on tokens; ``filter``, the server's content filter.
        tokens: those generated, reasoning included; None where that is not known.
        reasoning: what the server sent of it apart; None where it sent none.
        refusal: why the prompt has no reply, since it does not fit into the model's context; None for a reply.
    """

    ended: End
    tokens: int | None
    reasoning: str | None
    refusal: str | None

    def __new__(
        cls,
        text: str = "",
        ended: End = "unknown",
        tokens: int | None = None,
        reasoning: str | None = None,
        refusal: str | None = None,
    ) -> "Reply":
        """A reply of which nothing is known but what is given."""
        self = super().__new__(cls, text)
        self.ended, self.tokens, self.reasoning, self.refusal = ended, tokens, reasoning, refusal
        return self

    @property
    def facts(self) -> dict[str, Any]:
        """What is known beside the text, as keyword arguments of a reply."""
        return dict(vars(self))

    @property
    def is_empty(self) -> bool:
        """Whether there is no text, though nothing cut or filtered it and it was not refused."""
        return not self.strip() and self.ended in ("stop", "unknown") and self.refusal is None


OF_EACH_REPLY = ("ended", "tokens")
"""What samples say of each reply."""
IF_ANY = ("reasoning", "refusal")
"""What they say only where a reply has it."""


def as_reply(reply: Any, text: str | None = None) -> Reply:
    """A reply as it is, or of a plain text; with another text if one is given."""
    facts = reply.facts if isinstance(reply, Reply) else {}
    return Reply(str.__str__(reply or "") if text is None else text, **facts)


def remarks_on(replies: Sequence[Reply]) -> Iterator[str]:
    """Yield what readers of a task's results have to know of its replies: those that are missing, empty or filtered."""
    refusals = [reply.refusal for reply in replies if reply.refusal]
    if refusals:
        yield f"{len(refusals)} of {len(replies)} requests were not answered: {refusals[0]}"
    if not any(reply.strip() for reply in replies):
        ends = Counter(reply.ended for reply in replies)
        yield f"every reply is empty ({', '.join(f'{count} ended by {end}' for end, count in ends.items())})"
        return
    empty = sum(reply.is_empty for reply in replies)
    if empty:
        yield f"{empty} of {len(replies)} replies are empty, though nothing cut or filtered them"
    filtered = sum(reply.ended == "filter" for reply in replies)
    if filtered:
        yield f"{filtered} of {len(replies)} replies were stopped by the server's content filter"


class Completion(NamedTuple):
    """What one request came to.

    Attributes:
        replies: of its choices, one for each.
        usage: tokens by ``prompt`` and ``completion``, as far as the server says them.
    """

    replies: list[Reply]
    usage: dict[str, int]


def read_completion(body: str, limit: int | None = None) -> Completion:
    """Return the replies in the body of a completion, in the order of its choices, whatever their ``index``.

    Chat and plain completions of the OpenAI form are read, and a message that stands in the body without ``choices``,
    as those of Anthropic, Ollama and llama.cpp do. Native calls of tools are put into the text
    (:func:`.native.as_one_text`).

    Args:
        body: the text that the server sent.
        limit: tokens that were asked for at most. A reply that has as many and does not say how it ended was cut.

    Raises:
        NoReplyError: for an error in any form and at any level, and for anything that is no completion.
    """
    try:
        return _completion(json.loads(body), limit)
    except (ValueError, RecursionError):
        raise NoReplyError(words_of(body)) from None


def _completion(body: Any, limit: int | None) -> Completion:
    if not isinstance(body, dict):
        raise NoReplyError(_words(body))
    _raise_error(body)
    choices = _choices(body)
    for choice in choices:
        if isinstance(choice, dict):
            _raise_error(choice)
            _raise_error(_message(choice))
    places = [place for place in (body.get("usage"), body) if isinstance(place, dict)]
    counts = {"prompt": _first_count(places, _PROMPT_TOKENS), "completion": _first_count(places, _COMPLETION_TOKENS)}
    tokens = counts["completion"] if len(choices) == 1 else None
    replies = [_reply(choice, tokens, limit) for choice in choices]
    return Completion(replies, {name: count for name, count in counts.items() if count is not None})


def _choices(body: _Json) -> list[Any]:
    """Return the choices; where a body has none, the body is one.

    Raises:
        NoReplyError: where there is none at all.
    """
    choices = body.get("choices")
    if isinstance(choices, dict):
        choices = [choices] if _is_choice(choices) else list(choices.values())
    if choices is None and not isinstance(body.get("message"), str):  # which is what an error says
        choices = [body]
    if not (isinstance(choices, list) and choices and all(map(_is_choice, choices))):
        raise NoReplyError(_words(body.get("message") or body.get("detail")))
    return choices


def _is_choice(choice: Any) -> bool:
    """Whether something is a reply, be it without a text."""
    if not isinstance(choice, dict):
        return isinstance(choice, str)
    has_message = any(isinstance(choice.get(name), dict | str) for name in ("message", "delta"))
    has_text = any(isinstance(choice.get(name), str | list) for name in ("text", "content", "response"))
    return has_message or has_text or any(choice.get(name) for name in _FIELDS_OF_END)


def _message(choice: _Json) -> _Json:
    """The part of a choice that has the content: a message, or in plain completions the choice."""
    message = next((choice[name] for name in ("message", "delta") if choice.get(name)), None)
    if isinstance(message, dict):
        holds_nothing = message.get("content") is None and isinstance(choice.get("text"), str)
        return {**message, "content": choice["text"]} if holds_nothing else message
    return choice if message is None else {"content": message}


def _reply(choice: Any, tokens: int | None, limit: int | None) -> Reply:
    if isinstance(choice, str):
        return Reply(printable(choice), tokens=tokens)
    message = _message(choice)
    content = _first_filled(message, ("content", "text", "response", "refusal"))
    text, thoughts = "", ""
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, dict) and part.get("type") in _THOUGHT:
            thoughts += _text(part)
        else:
            text += _text(part)
    reasoning = next((found for name in _FIELDS_OF_REASONING if (found := _reasoning(message.get(name)))), "")
    calls = message.get("tool_calls")
    if not calls and message.get("function_call"):
        calls = [{"type": "function", "function": message["function_call"]}]
    if calls:
        text = as_one_text(text, calls if isinstance(calls, list) else [calls])
    ends = [end for name in _FIELDS_OF_END if (end := _end(choice.get(name))) != "unknown"]
    ended: Any = ends[0] if ends else "unknown"
    if not ends and limit and tokens is not None and tokens >= limit:
        ended = "length"
    return Reply(printable(text), ended, tokens, printable(reasoning or thoughts) or None)


def _first_filled(fields: _Json, names: Iterable[str]) -> Any:
    """The first field that holds something, be it the number 0; None where none does."""
    return next((fields[name] for name in names if fields.get(name) not in (None, "", [])), None)


def _text(content: Any) -> str:
    """The text of content: a string, parts that have some, or what else a server takes for one."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list):
        return "".join(map(_text, content))
    if isinstance(content, dict):
        named = _first_filled(content, _FIELDS_OF_TEXT)
        if named is not None or "type" in content:
            return _text(named)
    return json.dumps(content, ensure_ascii=False)


def _reasoning(value: Any) -> str:
    """The text of reasoning; settings that a server repeats under the same name are none."""
    return _text(value) if isinstance(value, str | list) else ""


def _end(value: Any) -> str:
    """Return which of the ends a word stands for, ``unknown`` for anything else."""
    word = value.get("type") if isinstance(value, dict) else value
    known = [end for end, words in _ENDS.items() if isinstance(word, str) and word.lower() in words.split()]
    return known[0] if known else "unknown"


def _first_count(places: Sequence[_Json], names: Iterable[str]) -> int | None:
    """The first number of tokens that stands under one of the names."""
    counts = (_whole_number(place.get(name)) for place in places for name in names)
    return next((count for count in counts if count is not None), None)


def _whole_number(value: Any) -> int | None:
    """A number of tokens as an int; None for anything that is none."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if is_number and 0 <= value < 1 << 40 and value == int(value) else None


# ---- errors


def _raise_error(part: _Json) -> None:
    """Raise the error that a body, choice or message holds; ``"error": null`` and its like are none."""
    for name in _FIELDS_OF_ERROR:
        error = part.get(name)
        if error and not _says_nothing(error):
            raise NoReplyError(_words(error), _status(error if isinstance(error, dict) else part))
    for name in ("object", "type", "status", *_FIELDS_OF_END):
        if _end(part.get(name)) == "error":
            raise NoReplyError(_words(part) or f"{name}: {part[name]}", _status(part))


def _says_nothing(error: Any) -> bool:
    """Whether what stands under ``error`` says that there was none."""
    return isinstance(error, dict) and (not any(error.values()) or error.get("code") in _NOT_AN_ERROR)


def _status(error: _Json) -> int | None:
    """The HTTP status that an error names."""
    for name in ("code", "status", "status_code", "http_status"):
        value: Any = error.get(name)
        if re.fullmatch("[45][0-9][0-9]", str(value)):
            return int(value)
        if value == "context_length_exceeded":
            return 413
    return None


def words_of(body: str) -> str:
    """What a body says for people: an error's message, or the text of a page; empty if it says nothing."""
    try:
        return _words(json.loads(body))
    except (ValueError, RecursionError):
        return re.sub(r"<[^>]*>", " ", body[:4_000])


def _words(value: Any) -> str:
    for _ in range(9):
        if isinstance(value, dict):
            value = next((value[name] for name in _FIELDS_OF_WORDS if value.get(name)), "")
        elif isinstance(value, list):
            value = value[0] if value else ""
    return "" if value is None or isinstance(value, dict | list | bool) else str(value)
