"""Read the content of ``<answer>…</answer>``."""

import re

from .patterns import later

_TAG = later(r"<([/\\]?)answer>", re.IGNORECASE)


def last_tag(text: str) -> str | None:
    r"""Return the content of the last answer tag closed by ``</answer>`` or ``<\answer>``; None without one.

    If an answer tag opens inside another one, only the inner one is read.
    """
    opened = last = None
    for tag in _TAG.finditer(text):
        if not tag[1]:
            opened = tag.end()
        elif opened is not None:
            last = text[opened : tag.start()]
            opened = None
    return last
