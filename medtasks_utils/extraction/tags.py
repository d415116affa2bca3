"""``<answer>…</answer>``."""

from __future__ import annotations

import re

_TAG = re.compile(r"<([/\\]?)answer>", re.IGNORECASE)


def last_tag(text: str) -> tuple[str, int] | None:
    r"""Content of the last closed answer tag and the position after it, or None; ``<\answer>`` closes too."""
    opened, found = None, None
    for tag in _TAG.finditer(text):
        if not tag[1]:
            opened = tag.end()
        elif opened is not None:
            found = (text[opened : tag.start()], tag.end())
            opened = None
    return found


def unclosed_tag(text: str) -> str | None:
    """What follows an answer tag that is opened last and never closed, up to the end of its line, or None."""
    last = None
    for tag in _TAG.finditer(text):
        last = None if tag[1] else tag.end()
    return None if last is None else text[last:].strip().split("\n", 1)[0].rstrip()
