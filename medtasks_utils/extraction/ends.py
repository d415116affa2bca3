"""The two ends of a long text."""

from __future__ import annotations

_HEAD, _TAIL = 2_000, 10_000  # characters


def both_ends(text: str) -> str:
    """The beginning and the end of a text, where answers are stated; a text of 12,000 characters comes back whole."""
    return text if len(text) <= _HEAD + _TAIL else f"{text[:_HEAD]}\n\n{text[-_TAIL:]}"
