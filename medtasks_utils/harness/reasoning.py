"""Separate reasoning from the answer where the prompt opens it, or the reply marks it in an unusual way.

Reasoning outside closed think tags is moved to the reply's ``reasoning``, where a server with a reasoning parser would
have sent it.
"""

import re
from typing import Any

from medtasks_utils.extraction.reasoning_marks import AT_END, SIGNS, TOKENS_AT_START, WORDS_AT_START
from medtasks_utils.inference.replies import Reply

_OF_TOKENS = rf"{TOKENS_AT_START}|\Aanalysis(?=(?-i:[A-Z]))"  # gpt-oss without its special tokens
_OF_WORDS = rf"{WORDS_AT_START}|Here are my reasoning steps:"
_ENDS = rf"</think>|{AT_END}|(?=(?:<\|channel\|>|assistant)commentary)"
_OPEN = re.compile(rf"{_OF_TOKENS}|{_OF_WORDS}|<think>", re.IGNORECASE)
_BY_TOKENS = re.compile(rf"\s*(?:{_OF_TOKENS})", re.IGNORECASE)
_BY_WORDS = re.compile(
    rf"\s*(?:{_OF_WORDS}|## Thinking\n|Here(?:'s| is) my thought process:|(?:think|thought)\n)", re.IGNORECASE
)
_CLOSE = re.compile(_ENDS, re.IGNORECASE)
_CLOSE_BY_WORDS = re.compile(
    rf"{_ENDS}|^(?:## Final Response|Here(?:'s| is) my response:|answer)\s", re.IGNORECASE | re.MULTILINE
)
_IN_TEMPLATES = re.compile(rf"{_OF_TOKENS}|</?think>|<\|think|<\|channel", re.IGNORECASE)
_BEGUN = re.compile(r"\s*|\s*\n[^\n<]{1,60}")  # what follows the mark in a prompt, such as "Okay,"
_LONGEST_OPENING = 200  # characters, of a mark and what follows it
_TAG = "<think>"


def opened_by(prompt: Any) -> str:
    r"""Return the end of a prompt, from the mark that opens reasoning; empty without a mark, or if a server renders it.

    >>> opened_by("<|assistant|><think>\n"), opened_by("<think>\n\n</think>\n\n"), opened_by("in <think> tags")
    ('<think>\n', '', '')
    """
    text = prompt if isinstance(prompt, str) else ""
    marks = _OPEN.finditer(text, max(len(text.rstrip()) - _LONGEST_OPENING, 0))
    return next((text[mark.start() :] for mark in marks if _BEGUN.fullmatch(text, mark.end())), "")


def is_marked_by(template: str) -> bool:
    """Return whether a chat template contains marks of reasoning."""
    return _IN_TEMPLATES.search(template) is not None


def separated(reply: Reply, opening: str) -> Reply:
    r"""Move reasoning from a reply's text to its ``reasoning``; only closed think tags stay in the text.

    A reply is returned unchanged if it is empty, has reasoning or a refusal already, begins with a think tag, or if
    neither the prompt nor the reply opens reasoning. So is a finished reply that opens reasoning in words, such as a
    heading, and never closes it.

    Args:
        reply: the reply.
        opening: the opening mark in the prompt; empty if there is none.

    >>> separated(Reply("B? No.</think>A"), "<think>\n"), separated(Reply("Maybe B"), "<think>\n")
    ('<think>\nB? No.</think>A', '')
    >>> reply = separated(Reply("[THINK]B?[/THINK]A"), "")
    >>> reply, reply.reasoning
    ('A', '[THINK]B?')
    """
    is_in_words = not opening and _BY_WORDS.match(reply)
    is_in_text = reply.lower().lstrip().startswith(_TAG) or not (opening or is_in_words or _BY_TOKENS.match(reply))
    if reply.reasoning or reply.refusal or not reply or is_in_text:
        return reply
    *_, close = (None, *(_CLOSE_BY_WORDS if is_in_words else _CLOSE).finditer(reply))
    if is_in_words and not close and reply.ended != "length":
        return reply
    if close and close[0].lower() == "</think>" and opening.startswith(_TAG):
        return Reply(opening + reply, **reply.attributes)
    reasoning, text = (reply[: close.start()], reply[close.end() :]) if close else (reply, "")
    return Reply(text.lstrip(), **{**reply.attributes, "reasoning": reasoning})


def separated_of_server(reply: Reply) -> Reply:
    """Separate reasoning in a reply to a prompt in which a server renders the opening mark.

    The reply is returned unchanged unless it was cut, or closes reasoning that it did not open.
    """
    return separated(reply, f"{_TAG}\n") if reply.ended == "length" or closes_unopened(reply) else reply


def closes_unopened(reply: Reply) -> bool:
    """Return whether a reply closes reasoning that it did not open, because the prompt did."""
    lower = reply.lower()
    close = _CLOSE.search(reply) if any(sign in lower for sign in SIGNS) else None
    return close is not None and not reply.reasoning and not _OPEN.search(reply, 0, close.start())
