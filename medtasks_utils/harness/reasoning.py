"""Tell reasoning from the answer in replies whose prompt opens the reasoning, or that mark it in ways of their own.

What is moved to a reply's ``reasoning`` is what a server with a reasoning parser would have sent there.
"""

import re
from typing import Any

from medtasks_utils.inference.replies import Reply

_OF_TOKENS = (
    r"[\[◁]think[\]▷]|<seed:think>|<\|channel\|>analysis(?:<\|message\|>)?|<\|channel>thought|<\|START_THINKING\|>"
    r"|<\|inner_prefix\|>|<unused94>(?:thought)?|<\|im_start\|>think\b|<\|open\|>think<\|sep\|>"
    r"|\Aanalysis(?=(?-i:[A-Z]))"  # without its special tokens
)
_OF_WORDS = r"<(?:thinking|thought|reasoning)>|<\|begin_of_thought\|>|Here are my reasoning steps:"
_ENDS = (
    r"[<\[◁]/(?:seed:)?(?:think|thinking|thought|reasoning)[>\]▷]|<\|end_of_thought\|>|<channel\|>|<\|END_THINKING\|>"
    r"|<\|inner_suffix\|>|<unused95>|<\|im_start\|>answer\b|<\|close\|>think<\|sep\|>|\[BEGIN FINAL RESPONSE\]"
    r"|<\|channel\|>final(?:<\|message\|>)?|(?=<\|channel\|>commentary)|(?<=\S)assistantfinal(?=\W|(?-i:[A-Z]))"
)
_OPEN = re.compile(rf"{_OF_TOKENS}|{_OF_WORDS}|<think>", re.IGNORECASE)
_BY_TOKENS = re.compile(rf"\s*(?:{_OF_TOKENS})", re.IGNORECASE)
_BY_WORDS = re.compile(
    rf"\s*(?:{_OF_WORDS}|## Thinking\n|Here(?:'s| is) my thought process:|(?:think|thought)\n)", re.IGNORECASE
)
_CLOSE = re.compile(_ENDS, re.IGNORECASE)
_OF_ENDS = ("</", "[/", "◁/", "<|", "|>", "<unused", "[begin", "assistantfinal")
"""Texts, in lower case, of which each mark at the end of reasoning has one."""
_CLOSE_BY_WORDS = re.compile(
    rf"{_ENDS}|^(?:## Final Response|Here(?:'s| is) my response:|answer)\s", re.IGNORECASE | re.MULTILINE
)
_BEGUN = re.compile(r"\s*|\s*\n[^\n<]{1,60}")  # what follows the mark in a prompt, such as "Okay,"
_LONGEST_OPENING = 200  # characters, of a mark and what follows it
_TAG = "<think>"


def opened_by(prompt: Any) -> str:
    r"""Return the end of a prompt that opens reasoning; empty if none does, or if only a server knows the prompt.

    >>> opened_by("<|assistant|><think>\n"), opened_by("<think>\n\n</think>\n\n"), opened_by("in <think> tags")
    ('<think>\n', '', '')
    """
    text = prompt if isinstance(prompt, str) else ""
    marks = _OPEN.finditer(text, max(len(text.rstrip()) - _LONGEST_OPENING, 0))
    return next((text[mark.start() :] for mark in marks if _BEGUN.fullmatch(text, mark.end())), "")


def separated(reply: Reply, opening: str) -> Reply:
    r"""Return a reply whose text has no reasoning but in think tags that are closed; the rest is in ``reasoning``.

    A reply with think tags of its own is returned unchanged, and so is a finished one that opens reasoning in words,
    such as a heading, and does not close it.

    Args:
        reply: the reply.
        opening: the mark with which its prompt opens reasoning; empty for none.

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
        return Reply(opening + reply, **reply.facts)
    reasoning, text = (reply[: close.start()], reply[close.end() :]) if close else (reply, "")
    return Reply(text.lstrip(), **{**reply.facts, "reasoning": reasoning})


def separated_of_server(reply: Reply) -> Reply:
    """Return a reply as :func:`separated` does, where finished replies show that prompts open the reasoning."""
    return separated(reply, f"{_TAG}\n") if reply.ended == "length" or closes_unopened(reply) else reply


def closes_unopened(reply: Reply) -> bool:
    """Return whether a reply closes reasoning that it did not open, since its prompt did."""
    lower = reply.lower()
    close = _CLOSE.search(reply) if any(sign in lower for sign in _OF_ENDS) else None
    return close is not None and not reply.reasoning and not _OPEN.search(reply, 0, close.start())
