"""Text as a string of symbols, one for each word: the words of a notion, in every language, are one symbol.

A row of a table is a pattern over notions (``answer ~6 is the* @``); the words are data (``words.txt``), so that a
language more is a line more, and no pattern grows with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib.resources import files
from itertools import islice
from typing import Any, NamedTuple

_FIRST = 0xE000  # the private use area of Unicode: no text that has been tidied holds these
_OTHER, _LINE, _DIGITS = "w", "¶", "0"
_CANDIDATES = ("cand", "weak", "text")
_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_MARKS = "\u0300-\u036f\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0970-\u097f"  # Arabic and Indic vowels, combining accents
_TOKEN = re.compile(
    rf"[{_CJK}]+|(?:[^\W\d_{_CJK}][{_MARKS}]*)+(?:['’][^\W\d_]+)*|\d+(?:[.,]\d+)*|\n+|[^\w\s\x01]"
)
_UNSPACED = re.compile(rf"[{_CJK}]")
_LONGEST = 12  # characters of a word, in a script without spaces between words
_MOST_TOKENS = 6_000


class Found(NamedTuple):
    """What may be an answer: its value, where it stands in a text, and as which notion."""

    value: Any
    start: int
    end: int
    notion: str = "cand"


class Symbols(NamedTuple):
    """A text as symbols, with the place of each in the text, and the candidates by the place of their symbol."""

    text: str
    symbols: str
    places: Sequence[int]
    found: dict[int, Found]


class _Words(NamedTuple):
    symbols: dict[str, str]  # of notions
    words: dict[str, str]
    phrases: dict[str, list[tuple[tuple[str, ...], str]]]  # by the first word, the longest first
    stems: dict[str, str]
    listed: dict[str, list[str]]  # by notion, also words that another notion has taken


@lru_cache(maxsize=1)
def _table() -> _Words:
    symbols = {"line": _LINE, "word": _OTHER, "digits": _DIGITS}
    table = _Words(symbols, {}, {}, {}, {})
    lines = files(__package__).joinpath("words.txt").read_text(encoding="utf-8").splitlines()
    for notion in _CANDIDATES:
        symbols[notion] = chr(_FIRST + len(symbols))
    for line in lines:
        if line.startswith("#") or not line.strip():
            continue
        head, _, listed = line.partition(": ")
        symbol = symbols.setdefault(head.split()[0], chr(_FIRST + len(symbols)))
        for word in listed.split(" | ") if listed != "|" else ["|"]:
            parts = tuple(word.strip().lower().split())
            table.listed.setdefault(head.split()[0], []).append(" ".join(parts).rstrip("*"))
            if len(parts) > 1:
                table.phrases.setdefault(parts[0], []).append((parts, symbol))
            elif len(parts[0]) > 1 and parts[0].endswith("*"):
                table.stems.setdefault(parts[0][:-1], symbol)
            else:
                table.words.setdefault(parts[0], symbol)
    for listed_phrases in table.phrases.values():
        listed_phrases.sort(key=lambda phrase: -len(phrase[0]))
    return table


def words_of(notion: str) -> list[str]:
    """The words and stems of a notion, in every language, the longest first."""
    return sorted(_table().listed[notion], key=len, reverse=True)


@lru_cache(maxsize=8192)
def _symbol(word: str) -> str:
    table = _table()
    if word in table.words:
        return table.words[word]
    if word[0] == "\n":
        return _LINE
    if word[0].isdigit():
        return _DIGITS
    for end in range(len(word), 2, -1):
        if word[:end] in table.stems:
            return table.stems[word[:end]]
    head, apostrophe, tail = word.partition("'")
    if apostrophe and head and tail:
        return _symbol("is" if tail == "s" else head)
    return _OTHER


@lru_cache(maxsize=256)
def pattern(source: str) -> re.Pattern[str]:
    """A pattern over symbols: names are notions, ``~6`` a gap within a clause, ``..6`` within a line, ``@`` a candidate.

    What stands in ``<>`` is the candidate: ``@`` a ``<cand text>``, ``#`` a ``<cand weak>``, ``@@`` one of any kind.
    Compiled at its first use.
    """
    symbols = _table().symbols
    gap = f"[^{symbols['stop']}{_LINE}{symbols['cand']}{symbols['text']}]"
    source = source.replace("@@", "<cand text weak>").replace("@", "<cand text>").replace("#", "<cand weak>")
    source = re.sub(r"[a-z]+", lambda name: symbols[name[0]], source)
    source = re.sub(r"~(\d+)", rf"{gap}{{0,\1}}?", source)
    source = re.sub(r"\.\.(\d+)", rf"[^{_LINE}]{{0,\1}}?", source).replace(" ", "")
    return re.compile(re.sub(r"<([^<>]+)>", r"(?P<at>[\1])", source))


def _tokens(text: str) -> Iterable[tuple[str, int]]:
    for match in islice(_TOKEN.finditer(text), _MOST_TOKENS):
        word, start = match[0].lower().replace("’", "'"), match.start()
        if not _UNSPACED.match(word):
            yield word, start
            continue
        words, at = _table().words, 0
        while at < len(word):
            end = next((end for end in range(min(len(word), at + _LONGEST), at + 1, -1) if word[at:end] in words), at + 1)
            yield word[at:end], start + at
            at = end


def symbols_of(text: str, found: Sequence[Found]) -> Symbols:
    """The text as symbols; what was found is one symbol each, whatever words it holds."""
    table = _table()
    written: list[str] = []
    places: list[int] = []
    at_symbol: dict[int, Found] = {}
    coming = iter([*found, Found(None, len(text) + 1, len(text) + 1)])
    one = next(coming)
    skip_to = 0
    tokens = list(_tokens(text))
    for index, (word, start) in enumerate(tokens):
        while start >= one.start or (start < one.start < start + len(word)):
            at_symbol[len(written)] = one
            written.append(table.symbols[one.notion])
            places.append(one.start)
            skip_to = max(skip_to, one.end)
            one = next(coming)
        if start < skip_to:
            continue
        symbol = ""
        for parts, of in table.phrases.get(word, ()):
            ahead = tokens[index : index + len(parts)]
            if tuple(token for token, _ in ahead) == parts and ahead[-1][1] < one.start:
                symbol, skip_to = of, ahead[-1][1] + len(parts[-1])
                break
        written.append(symbol or _symbol(word))
        places.append(start)
    while one.start <= len(text):
        at_symbol[len(written)] = one
        written.append(table.symbols[one.notion])
        places.append(one.start)
        one = next(coming)
    return Symbols(text, "".join(written), places, at_symbol)
