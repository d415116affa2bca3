"""Text that can be written as UTF-8, and text that does nothing to a terminal."""

from __future__ import annotations

from medtasks_utils.extraction.patterns import later

_CONTROLS = later("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""C0 and C1 but for tab and line feed; line and paragraph separators; what turns the direction of writing."""


def printable(text: str) -> str:
    """The text with lone surrogates as U+FFFD; surrogates that make a pair become the character they mean."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def without_controls(text: str) -> str:
    """The text with control characters as escapes, so that it can neither move a cursor nor hide what it says."""
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)
