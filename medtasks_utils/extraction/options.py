"""The options of a question, named by their texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

from medtasks_utils.extraction.tokens import ARTICLE
from medtasks_utils.extraction.wordings import wordings

LETTERS = "ABCD"
MARKS = "\ue000\ue001\ue002\ue003"
"""What stands for the four options in a text that has letters of its own."""
_TWICE = re.compile(
    r"(?<![A-Za-z0-9])(?i:([A-D]))(?:(?<=[A-D])|(?=[)\].:,]))[)\].:,]{0,2}\s?(?:[\-–—:=(]\s?)?(?:option\s|choice\s"
    r"|(?i:an?|the)\s)?\(?((?i:\1))(?![A-Za-z0-9])\)?"
)
_NO_ARTICLE = "\ue010"
_GENERIC = "disease syndrome disorder deficiency therapy test method law equation principle effect"
_BEFORE_A_WORD = re.compile(ARTICLE)
_ONE = r"(?:[1-9]|[IVX]{1,4}|[a-eivx]{1,3})"
_SEVERAL = re.compile(
    r"(?<![\w.,)/-])(?<!\d\s)(?P<only>(?i:only|both|nur|seul\w{0,2}|solo|sólo"
    rf"|apenas)\s)?\(?(?<!\w){_ONE}\)?(?:(?:\s?[,&+/]\s?|,?\s(?i:and|und|et|y|e|и)\s)\(?{_ONE}\)?(?![\w.]\w"
    r"|\w)){0,5}(?P<after>\s(?i:only|alone|both))?(?![\w/-]|[.,]\w|\s?[%(=×])"
)


def _enumerated(text: re.Match[str]) -> frozenset[str] | None:
    """The statements that a phrase such as "1, 3 and 4" or "only II" counts up, or None for one number alone."""
    ones = frozenset(re.findall(rf"\b{_ONE}\b", text[0]))
    return ones if len(ones) > 1 or text["only"] or text["after"] else None


def _enumerations(options: Sequence[str]) -> dict[frozenset[str], int]:
    """Which options only count up statements: "1 and 3", "Only I"; nothing unless two of them do."""
    matches = [_SEVERAL.fullmatch(option.strip().rstrip(".")) for option in options]
    found = {ones: index for index, match in enumerate(matches) if match and (ones := _enumerated(match))}
    return found if len(found) > 1 else {}


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


def _pattern(options: Sequence[str], index: int, folded: str) -> re.Pattern[str] | None:
    """A search for an option's wordings as whole words, or None where none of them can stand in the folded text."""
    possible = [
        source
        for needed, source in wordings(tuple(options))[index]
        if all(word in folded for word in needed)  # far cheaper than compiling a search for it
    ]
    if not possible:
        return None
    return re.compile(
        rf"(?<![A-Za-z0-9À-ÿ])(?<!\d[.,])(?:{'|'.join(possible)})(?:-(?:Syndrom\w{{0,2}}|Krankheit"
        r"|disease))?(?![A-Za-z0-9À-ÿ])(?![.,]\d)",
        re.IGNORECASE,
    )


def short_names(options: Sequence[str]) -> list[str]:
    """The word by which each option may be called for short, or nothing.

    It is one that no other option has: a name ("Crohn" of "Morbus Crohn"), else the longest.

    >>> short_names(["A-mode", "B-mode", "Doppler mode", "Type A personality"])
    ['', '', 'Doppler', 'personality']
    """
    words = [re.findall(r"(?<![\w-])[^\W\d_]{3,}(?![\w-])", option) for option in options]
    names = []
    for index, option in enumerate(options):
        others = " ".join([*options[:index], *options[index + 1 :]]).lower()
        head, _, tail = option.rpartition(" ")
        if head and all(other.startswith(f"{head} ") for other in options if other):
            *_, last = head.split()
            names.append(tail if len(tail) > 1 else f"{last} {tail}" if last != head else "")
            continue
        own = [word for word in words[index] if word.lower() not in others and word not in _GENERIC]
        own.sort(key=lambda word: (word[0].isupper() and not option.startswith(word), len(word)))
        names.append(own[-1] if own and len(option.split()) > 1 else "")
    return names


def _longest_first(options: Sequence[str]) -> list[int]:
    return sorted(range(len(options)), key=lambda i: len(options[i]), reverse=True)


def _lettered(option: re.Match[str], letter: str) -> str:
    """The letter, an A so that it is not taken for the article."""
    return f"A{_NO_ARTICLE}" if letter == "A" and _BEFORE_A_WORD.match(option.string, option.end()) else letter


def with_letters(text: str, options: Sequence[str], letters: str = LETTERS) -> str:
    """The text with options replaced by their letters, the longest first; "C. Iron" and "Iron (C)" become "C".

    >>> with_letters("It is iron deficiency (B)", ["Iron", "Iron deficiency", "Zinc", "Copper"])
    'It is B'
    """
    folded = text.lower()
    replaced = text
    enumerations = _enumerations(options)
    if enumerations:

        def lettered(match: re.Match[str]) -> str:
            index = enumerations.get(_enumerated(match) or frozenset())
            return match[0] if index is None else letters[index]

        replaced = _SEVERAL.sub(lettered, replaced)
    for index in _longest_first(options):
        pattern = None if index in enumerations.values() else _pattern(options, index, folded)
        if pattern:
            replaced = pattern.sub(partial(_lettered, letter=letters[index]), replaced)
    return text if replaced == text else _TWICE.sub(r"\2", replaced).replace(_NO_ARTICLE, "'")


def named_options(
    text: str, options: Sequence[str], is_denied: Callable[[str, int, int], bool]
) -> list[tuple[str, int]]:
    """The letters of the options whose texts stand in ``text`` undenied, and where each does last.

    An option inside a longer one that stands there ("iron" in "iron deficiency") does not count.
    """
    named = []
    folded = text.lower()
    for index in _longest_first(options):
        pattern = _pattern(options, index, folded)
        if pattern is None:
            continue
        places = [match.span() for match in pattern.finditer(text)]
        undenied = [start for start, end in places if not is_denied(text, start, end)]
        if undenied:
            named.append((LETTERS[index], undenied[-1]))
        text = pattern.sub(lambda match: "\x00" * len(match[0]), text)
    return named
