"""``<answer>…</answer>``."""

from __future__ import annotations

import re

from medtasks_utils.extraction.patterns import later

_TAG = later(r"<([/\\]?)answer>", re.IGNORECASE)


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
    """What follows an answer tag up to the end of its line, where none closes it, or one that opens; or None."""
    content = opened = None
    for tag in _TAG.finditer(text):
        between = "" if opened is None else text[opened : tag.start()].strip()
        content = between if between and "\n" not in between and not tag[1] else None
        opened = None if tag[1] or content else tag.end()
    return content if opened is None else re.split(r"\n|(?<=\w)\s(?=[(—–])", text[opened:].strip())[0].rstrip()
