"""Separate the ``<think>…</think>`` blocks of reasoning models from the answer after them."""

import re

from .patterns import later

TAG = later(r"<(/?)think>", re.IGNORECASE)


def final_text(response: str) -> str:
    """Return the part of a response that may contain the answer.

    This is the text after the last ``</think>``, up to a ``<think>`` that is never closed (in a truncated response). A
    response without think tags is returned unchanged.
    """
    return response[slice(*final_span(response))]


def final_span(response: str) -> tuple[int, int]:
    """Return the start and end of :func:`final_text` in the response."""
    start, end = 0, len(response)
    for tag in TAG.finditer(response):
        if tag[1]:
            start, end = tag.end(), len(response)
        elif end == len(response):
            end = tag.start()
    return start, end


def think_tags_pair_up(response: str) -> bool:
    """Return whether every ``<think>`` is closed by a ``</think>`` after it, and no other ``</think>`` occurs."""
    depth = 0
    for tag in TAG.finditer(response):
        depth += -1 if tag[1] else 1
        if depth < 0:
            return False
    return depth == 0


def is_one_block_then_answer(response: str) -> bool:
    """Return whether the response is one think block followed by some text, as prompts request."""
    tags = list(TAG.finditer(response))
    if [tag[1] for tag in tags] != ["", "/"]:
        return False
    return not response[: tags[0].start()].strip() and bool(response[tags[1].end() :].strip())
