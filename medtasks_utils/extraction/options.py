"""The options of a question, named by their texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

LETTERS = "ABCD"
MARKS = "\ue000\ue001\ue002\ue003"
"""What stands for the four options in a text that has letters of its own."""
_TWICE = re.compile(
    r"(?<![A-Za-z0-9])([A-D])[)\].:,]{0,2}\s?(?:[\-–—:=(]\s?)?(?:option\s|choice\s)?\(?\1(?![A-Za-z0-9])\)?"
)


def letter_of(token: str, *, digits: bool = False) -> str | None:
    """The letter A–D that a token is, in any case; with ``digits`` also 0–3, which mean A–D.

    >>> letter_of("c"), letter_of("2", digits=True), letter_of("E")
    ('C', 'C', None)
    """
    if len(token) != 1:
        return None
    if token in "ABCDabcd":
        return token.upper()
    return LETTERS[int(token)] if digits and token in "0123" else None


def _pattern(option: str, folded: str) -> re.Pattern[str] | None:
    """A search for an option's text as whole words, or None where it cannot stand in the folded text."""
    words = option.strip().rstrip(".").split()
    if not words or (len(words) == 1 and len(words[0]) == 1 and words[0].isalpha()):
        return None  # an option "a" or "B" would be found in any text
    if not all(word.lower() in folded for word in words):
        return None  # far cheaper than compiling a search for it
    phrase = r"\s{1,4}".join(map(re.escape, words))
    return re.compile(rf"(?<![A-Za-z0-9À-ÿ])(?<!\d[.,]){phrase}(?![A-Za-z0-9À-ÿ])(?![.,]\d)", re.IGNORECASE)


def short_names(options: Sequence[str]) -> list[str]:
    """The word by which each option may be called for short: its longest that no other option has; else nothing.

    >>> short_names(["A-mode", "B-mode", "Doppler mode", "Type A personality"])
    ['', '', 'Doppler', 'personality']
    """
    words = [[word for word in option.split() if len(word) > 4 and word.isalpha()] for option in options]
    names = []
    for index, option in enumerate(options):
        others = " ".join(
            options[:index] + options[index + 1 :]
            if isinstance(options, list)
            else [other for at, other in enumerate(options) if at != index]
        ).lower()
        own = [word for word in words[index] if word.lower() not in others]
        names.append(max(own, key=len, default="") if len(option.split()) > 1 else "")
    return names


def _longest_first(options: Sequence[str]) -> list[int]:
    return sorted(range(len(options)), key=lambda i: len(options[i]), reverse=True)


def with_letters(text: str, options: Sequence[str], letters: str = LETTERS) -> str:
    """The text with options replaced by their letters, the longest first; "C. Iron" and "Iron (C)" become "C".

    >>> with_letters("It is iron deficiency (B)", ["Iron", "Iron deficiency", "Zinc", "Copper"])
    'It is B'
    """
    folded = text.lower()
    replaced = text
    for index in _longest_first(options):
        pattern = _pattern(options[index], folded)
        if pattern:
            replaced = pattern.sub(letters[index], replaced)
    return text if replaced == text else _TWICE.sub(r"\1", replaced)


def named_options(
    text: str, options: Sequence[str], is_denied: Callable[[str, int, int], bool]
) -> list[tuple[str, int]]:
    """The letters of the options whose texts stand in ``text`` undenied, and where each does last.

    An option inside a longer one that stands there ("iron" in "iron deficiency") does not count.
    """
    named = []
    folded = text.lower()
    for index in _longest_first(options):
        pattern = _pattern(options[index], folded)
        if pattern is None:
            continue
        places = [match.span() for match in pattern.finditer(text)]
        undenied = [start for start, end in places if not is_denied(text, start, end)]
        if undenied:
            named.append((LETTERS[index], undenied[-1]))
        text = pattern.sub(lambda match: "\x00" * len(match[0]), text)
    return named
