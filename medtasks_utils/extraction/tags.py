"""``<answer>…</answer>``."""

import re

from .patterns import later

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
