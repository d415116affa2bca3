"""Text as a string of symbols, one for each word: the words of a notion, in every language, are one symbol.

A row of a table is a pattern over notions (``answer ~6 is the* @``); the words are data (``words.txt``), so that a
language more is a line more, and no pattern grows with it.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from .patterns import later

_FIRST = 0xE000  # the private use area of Unicode: no text that has been tidied holds these
_OTHER, _LINE, _DIGITS = "w", "¶", "0"
_CANDIDATES = ("cand", "weak", "text")
_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_MARKS = (
    "\u0300-\u036f\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0970-\u097f"  # Arabic and Indic vowels, combining accents
)
_TOKEN = later(rf"[{_CJK}]+|(?:[^\W\d_{_CJK}][{_MARKS}]*)+(?:['’][^\W\d_]+)*|\d+(?:[.,]\d+)*|\n+|[^\w\s\x01\x02]")
_UNSPACED = later(rf"[{_CJK}]")
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
    phrases: dict[tuple[str, ...], list[tuple[tuple[str, ...], str]]]  # by their first two words, the longest first
    stems: dict[str, str]
    listed: dict[str, list[str]]  # by notion, also words that another notion has taken


@lru_cache(maxsize=1)
def _table() -> _Words:
    symbols = {"line": _LINE, "word": _OTHER, "digits": _DIGITS}
    table = _Words(symbols, {}, {}, {}, {})
    from pathlib import Path  # where words are first looked up: an import that most commands can do without

    lines = Path(__file__).with_name("words.txt").read_text(encoding="utf-8").splitlines()
    for notion in _CANDIDATES:
        symbols[notion] = chr(_FIRST + len(symbols))
    for line in lines:
        if line.startswith("#") or not line.strip():
            continue
        head, _, listed = line.partition(": ")
        notion = head.split()[0]
        symbol = symbols.setdefault(notion, chr(_FIRST + len(symbols)))
        for word in listed.split(" | "):
            word = word.strip().lower()
            is_stem = len(word) > 1 and word.endswith("*")
            table.listed.setdefault(notion, []).append(word.rstrip("*"))
            parts = tuple(_TOKEN.findall(word.rstrip("*") if is_stem else word))
            if len(parts) > 1:
                table.phrases.setdefault(parts[:2], []).append((parts, symbol))
            elif is_stem:
                table.stems.setdefault(parts[0], symbol)
            else:
                table.words.setdefault(parts[0], symbol)
    for listed_phrases in table.phrases.values():
        listed_phrases.sort(key=lambda phrase: -len(phrase[0]))
    return table


def words_of(notion: str) -> list[str]:
    """The words and stems of a notion, in every language, the longest first."""
    return sorted(_table().listed[notion], key=len, reverse=True)


@lru_cache(maxsize=16_384)
def _symbol(word: str) -> str:
    table = _table()
    if word in table.words:
        return table.words[word]
    if word[0] == "\n" or word[0].isdigit():
        return _LINE if word[0] == "\n" else _DIGITS
    stem = next((word[:end] for end in range(len(word), 2, -1) if word[:end] in table.stems), None)
    if stem:
        return table.stems[stem]
    head, _, tail = word.partition("'")
    return _symbol("is" if tail == "s" else head) if head and tail else _OTHER


@lru_cache(maxsize=256)
def pattern(source: str) -> re.Pattern[str]:
    """A pattern over symbols: names are notions, ``~6`` a gap within a clause.

    What stands in ``<>`` is the candidate: ``@`` a ``<cand text>``, ``#`` a ``<cand weak>``, ``@@`` one of any kind.
    Compiled at its first use.
    """
    symbols = _table().symbols
    gap = f"[^{symbols['stop']}{_LINE}{symbols['cand']}{symbols['text']}]"
    source = source.replace("@@", "<cand text weak>").replace("@", "<cand text>").replace("#", "<cand weak>")
    source = re.sub(r"[a-z]+", lambda name: symbols[name[0]], source)
    source = re.sub(r"~(\d+)", rf"{gap}{{0,\1}}?", source)
    return re.compile(re.sub(r"<([^<>]+)>", r"(?P<at>[\1])", source.replace(" ", "")))


def _tokens(text: str) -> list[tuple[str, int]]:
    lowered = text.lower().replace("’", "'")
    matches = islice(_TOKEN.finditer(lowered if len(lowered) == len(text) else text), _MOST_TOKENS)
    tokens = [(match[0], match.start()) for match in matches]
    if _UNSPACED.search(text) is None:
        return tokens
    return [
        each for word, start in tokens for each in (_parts(word, start) if _UNSPACED.match(word) else ((word, start),))
    ]


def _parts(text: str, start: int) -> Iterator[tuple[str, int]]:
    """The longest words that are known in a text without spaces, one after the other; else single characters."""
    words, at = _table().words, 0
    while at < len(text):
        end = next((end for end in range(min(len(text), at + _LONGEST), at + 1, -1) if text[at:end] in words), at + 1)
        yield text[at:end], start + at
        at = end


def symbols_of(text: str, found: Sequence[Found]) -> Symbols:
    """The text as symbols; what was found is one symbol each, whatever words it holds."""
    table = _table()
    written: list[str] = []
    places: list[int] = []
    at_symbol: dict[int, Found] = {}
    coming = iter([*found, Found(None, len(text) + 1, len(text) + 1)])
    one, skip_to = next(coming), 0
    tokens = _tokens(text)
    words = [word for word, _ in tokens]
    for index, (word, start) in enumerate([*tokens, ("", len(text))]):
        while start + (len(word) or 1) > one.start:
            at_symbol[len(written)] = one
            written.append(table.symbols[one.notion])
            places.append(one.start)
            skip_to = max(skip_to, one.end)
            one = next(coming)
        if start < skip_to or not word:
            continue
        symbol = ""
        for parts, of in table.phrases.get(tuple(words[index : index + 2]), ()):
            last = index + len(parts) - 1
            if tuple(words[index : last + 1]) == parts and tokens[last][1] < one.start:
                symbol, skip_to = of, tokens[last][1] + len(parts[-1])
                break
        written.append(symbol or _symbol(word))
        places.append(start)
    return Symbols(text, "".join(written), places, at_symbol)
