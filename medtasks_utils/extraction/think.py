"""Separate the ``<think>…</think>`` blocks of reasoning models from the answer after them."""

import re

from .patterns import later

TAG = later(r"<(/?)think>", re.IGNORECASE)


def final_text(response: str) -> str:
    """Return the part of a response in which an answer may stand.

    This is the text after the last ``</think>``, up to a ``<think>`` that is opened there and never closed (a
    truncated response). A response without think tags comes back as it is.
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
    """Return whether every ``<think>`` is closed after it was opened, and no ``</think>`` stands alone."""
    depth = 0
    for tag in TAG.finditer(response):
        depth += -1 if tag[1] else 1
        if depth < 0:
            return False
    return depth == 0


def is_one_block_then_answer(response: str) -> bool:
    """Return whether the response is one think block followed by some text, as reasoning models are asked to write."""
    tags = list(TAG.finditer(response))
    if [tag[1] for tag in tags] != ["", "/"]:
        return False
    return not response[: tags[0].start()].strip() and bool(response[tags[1].end() :].strip())
