"""Text that can be written as UTF-8."""

from __future__ import annotations


def printable(text: str) -> str:
    """The text with lone surrogates as U+FFFD; surrogates that make a pair become the character they mean."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
