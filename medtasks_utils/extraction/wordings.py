"""The ways in which a response may write an option: another spelling, a numeral, an abbreviation."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

_WORD = re.compile(r"[^\W\d_]{4,}")
_LONG = 6  # letters from which on a slip of the pen leaves a word recognisable
_SPELLINGS = (("ae", "e"), ("oe", "e"), ("ph", "f"), ("our", "or"), ("z", "s"))
_ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X")
_NUMERALS = {
    numeral: f"(?:{roman}|{digits})" for digits, roman in enumerate(_ROMAN, start=1) for numeral in (roman, str(digits))
}
_GAPS = re.compile(r"(\s+|[-–])")
_SMALL = frozenset(["a", "an", "and", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with"])


@lru_cache(maxsize=8192)
def _spelling(word: str) -> str:
    """What British and American spelling, accents and the plural leave of a word."""
    word = "".join(letter for letter in unicodedata.normalize("NFKD", word) if not unicodedata.combining(letter))
    for one, other in _SPELLINGS:
        word = word.replace(one, other)
    return re.sub(r"re$", "er", word).removesuffix("s")


def _one_letter_more(longer: str, shorter: str) -> bool:
    """Whether one letter after the first makes the longer of two words; the first makes another word (atypical)."""
    at = next((at for at, (one, other) in enumerate(zip(longer, shorter, strict=False)) if one != other), len(shorter))
    return at > 0 and longer[at + 1 :] == shorter[at:]


def _alike(word: str, other: str) -> bool:
    if abs(len(word) - len(other)) == 1 and min(len(word), len(other)) >= _LONG:
        longer, shorter = sorted((word, other), key=len, reverse=True)
        if _one_letter_more(longer, shorter):
            return True
    return abs(len(word) - len(other)) < 4 and _spelling(word) == _spelling(other)


def as_in_options(text: str, options: Sequence[str]) -> str:
    """The text with the options' words spelt as they are there, and the slips of the pen in them mended.

    >>> as_in_options("a subdural hemorrhage, or pregabaline", ["Subdural haemorrhage", "Pregabalin"])
    'a subdural haemorrhage, or pregabalin'
    """
    known = {word for option in options for word in _WORD.findall(option.lower())}
    respelt = {}
    for written in set(_WORD.findall(text.lower())) - known:
        meant = [word for word in known if _alike(word, written)]
        if len(meant) == 1:
            respelt[written] = meant[0]
    return _WORD.sub(lambda match: respelt.get(match[0].lower(), match[0]), text) if respelt else text


@lru_cache(maxsize=256)
def wordings(options: tuple[str, ...]) -> tuple[tuple[tuple[frozenset[str], str], ...], ...]:
    """For each option the regular expressions of its wordings, the longest first, each with the words that it needs.

    >>> [source for _, source in wordings(("pH > 7", "Neisseria meningitidis"))[1]]
    ['(?:Neisseria|N\\\\.)[\\\\s–-]{1,4}meningitidis']
    """
    found = []
    for index, option in enumerate(options):
        others = " ".join(options[:index] + options[index + 1 :])
        phrases = {option.strip().rstrip("."): None, _without_brackets(option): None}
        sources = [_phrase(phrase) for phrase in phrases if phrase and not re.fullmatch(r"[^\W\d_]", phrase)]
        short = {name for name in _abbreviations(option) if name not in re.findall(r"\w+", others)}
        rivals = {name for other in options[:index] + options[index + 1 :] for name in _abbreviations(other)}
        found.append((*sources, *((frozenset({name.lower()}), f"(?-i:{name})") for name in sorted(short - rivals))))
    return tuple(found)


def _without_brackets(option: str) -> str:
    bare = re.sub(r"\s*\([^()]*\)", "", option).strip().rstrip(".")
    return bare if len(bare) > 3 else ""


def _phrase(phrase: str) -> tuple[frozenset[str], str]:
    *pieces, last = _GAPS.split(phrase.replace(" %", "%"))
    needed, source = set(), ""
    for piece in (*pieces, last):
        if not piece:
            continue
        if _GAPS.fullmatch(piece):
            source += r"[\s–-]{0,2}" if piece in "-–" else r"[\s–-]{1,4}"
        elif piece in _NUMERALS and len(pieces) > 1:
            source += _NUMERALS[piece]
        elif piece[0].isupper() and not source and len(pieces) == 2 and len(piece) > 3 and last.islower():
            source += f"(?:{re.escape(piece)}|{piece[0]}\\.)"  # N. meningitidis
        else:
            needed.update(re.findall(r"\w+", piece.lower()))
            source += _variants(re.escape(piece))
    return frozenset(needed), source


def _variants(escaped: str) -> str:
    for written, pattern in (("'", "['’]?"), ("%", r"\s?%"), (":", r"\s?:\s?"), (r"\(", r"\(?"), (r"\)", r"\)?")):
        escaped = escaped.replace(written, pattern)
    return escaped


def _abbreviations(option: str) -> Iterable[str]:
    """The capitals that stand for an option: in brackets in it, or the initials of three words and more."""
    yield from re.findall(r"\(([A-Z][A-Z\d-]{1,6})\)", option)
    words = [word for word in re.split(r"[\s-]+", _without_brackets(option)) if word and word.lower() not in _SMALL]
    if 3 <= len(words) <= 6 and all(word[0].isalpha() and word not in _NUMERALS for word in words):
        yield "".join(word[0].upper() for word in words)
