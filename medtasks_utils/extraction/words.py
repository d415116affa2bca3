"""Convert a text to a string of symbols, one per word. All words of a word class, in any language, share one symbol.

A row of a reading table is a pattern over word classes (``answer ~6 is the* @``). ``words.txt`` lists the words of each
class; a new language needs a new line for each class, and no change to any pattern.
"""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice, pairwise
from operator import attrgetter
from typing import Any, NamedTuple

from .patterns import later
from .plain import BOLD, JOINED

_FIRST = 0xE000  # start of Unicode's private use area, which tidied text does not contain
_OTHER, _LINE, _DIGITS = "w", "¶", "0"
_CANDIDATES = ("cand", "weak", "text")
_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_MARKS = (
    "\u0300-\u036f\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0970-\u097f"  # Arabic and Indic vowels, combining accents
)
_LETTERS = rf"[^\W\d_{_CJK}]"
_TOKEN = later(
    rf"\b(?:l|d|qu|un|all|dall|dell|nell|sull)'(?={_LETTERS}{{3}})"  # elided words
    rf"|{_LETTERS}+(?:[{_MARKS}]+{_LETTERS}*)*(?:'[^\W\d_]+)*|\d+(?:[.,]\d+)*|\n+|[^\w\s{BOLD}{JOINED}]"
    rf"|(?P<unspaced>[{_CJK}]+)"
)
_MOST_TOKENS = 6_000
_LONGEST = 12  # maximum characters of a word in a script without spaces


class Mention(NamedTuple):
    """A possible answer in a text: its value, its start and end, and the word class that represents it in patterns."""

    value: Any
    start: int
    end: int
    word_class: str = "cand"


def outside(mentions: Iterable[Mention], covers: Iterable[Mention]) -> list[Mention]:
    """Return the mentions that do not begin inside any of ``covers``."""
    covered: set[int] = set()
    for cover in covers:
        covered.update(range(cover.start, cover.end))
    return [mention for mention in mentions if mention.start not in covered]


class Symbols(NamedTuple):
    """A text as symbols.

    Attributes:
        text: the text.
        symbols: its symbols, one character each.
        places: for each symbol, its position in the text; then the text's length.
        mentions: the mentions, by the index of their symbol.
    """

    text: str
    symbols: str
    places: Sequence[int]
    mentions: dict[int, Mention]

    def matches(self, source: str) -> Iterator[re.Match[str]]:
        """Yield the matches of a pattern of words (:func:`pattern`) in the symbols."""
        return pattern(source).finditer(self.symbols)

    def has(self, source: str) -> bool:
        """Return whether a pattern of words (:func:`pattern`) matches anywhere in the symbols."""
        return pattern(source).search(self.symbols) is not None


class _Vocabulary(NamedTuple):
    """The words in ``words.txt``, each with the symbol of the first word class that lists it."""

    symbols: dict[str, str]  # by word class
    words: dict[str, str]
    phrases: dict[tuple[str, ...], list[tuple[list[str], str]]]  # by the first two words, the longest phrase first
    stems: dict[str, str]
    listed: dict[str, list[str]]  # all words of each class, including those that belong to an earlier class


@lru_cache(maxsize=1)
def _vocabulary() -> _Vocabulary:
    """Load the words in ``words.txt``, and assign a symbol to each word class."""
    from pathlib import Path  # imported here, since most commands do not need it

    symbols = {"line": _LINE, "word": _OTHER, "digits": _DIGITS}
    vocabulary = _Vocabulary(symbols, {}, {}, {}, {})
    for word_class in _CANDIDATES:
        symbols[word_class] = chr(_FIRST + len(symbols))
    symbols["any"] = "".join(symbols[word_class] for word_class in _CANDIDATES)
    lines = Path(__file__).with_name("words.txt").read_text(encoding="utf-8").splitlines()
    for line in lines[1:]:
        head, _, listed = line.partition(": ")
        word_class = head.split()[0]
        symbol = symbols.setdefault(word_class, chr(_FIRST + len(symbols)))
        for word in listed.lower().split(" | "):
            stem = word.rstrip("*") or word
            vocabulary.listed.setdefault(word_class, []).append(stem)
            parts = [part[0] for part in _TOKEN.finditer(stem)]
            if len(parts) > 1:
                vocabulary.phrases.setdefault(tuple(parts[:2]), []).append((parts, symbol))
            else:
                kind = vocabulary.words if stem == word else vocabulary.stems
                kind.setdefault(stem, symbol)
    for phrases in vocabulary.phrases.values():
        phrases.sort(key=lambda phrase: -len(phrase[0]))
    return vocabulary


@lru_cache
def words_of(*word_classes: str) -> list[str]:
    """Return the words and stems of word classes in all languages."""
    return list(chain.from_iterable(_vocabulary().listed[name] for name in word_classes))


@lru_cache(maxsize=2)
def numbers_by_word(prefix: str) -> dict[str, int]:
    """Map the words in the word classes ``<prefix><number>`` to the number: those of ``month12`` to 12."""
    numbers: dict[str, int] = {}
    for word_class, words in _vocabulary().listed.items():
        number = word_class.removeprefix(prefix)
        if number.isdecimal():
            numbers |= dict.fromkeys(words, int(number))
    return numbers


def any_of(*word_classes: str) -> str:
    """Return a regular expression that matches any word or stem of the word classes."""
    return "|".join(map(re.escape, words_of(*word_classes)))


def occurrences(
    phrases: Sequence[str], text: str, stands: Callable[[str, int, int], bool]
) -> Iterator[tuple[str, int, int]]:
    """Yield the phrases in a text in order, ignoring case, each with its start and end; phrases are in lower case.

    Of phrases that begin at the same position, the first in the list is used; of overlapping phrases, the one that
    begins first. A phrase is accepted only if ``stands(text, start, end)`` is True for its position in the lower-case
    text.
    """
    lowered = text.lower()
    starts = []
    for rank, phrase in enumerate(phrases):
        start = lowered.find(phrase)
        while start >= 0:
            if stands(lowered, start, start + len(phrase)):
                starts.append((start, rank))
            start = lowered.find(phrase, start + 1)
    last = 0
    for start, rank in sorted(starts):
        if start >= last:
            last = start + len(phrases[rank])
            yield phrases[rank], start, last


@lru_cache(maxsize=16_384)
def _symbol(word: str) -> str:
    """Return the symbol of a word: that of its word class, or the one for line breaks, digits or other words."""
    vocabulary = _vocabulary()
    if word in vocabulary.words:
        return vocabulary.words[word]
    if word[0] == "\n":
        return _LINE
    if word[1:].endswith("'"):
        return vocabulary.symbols["the"]  # an elided article, as in "l'âge"
    if word[0].isdigit():
        return _DIGITS
    for end in range(len(word), 2, -1):
        if word[:end] in vocabulary.stems:
            return vocabulary.stems[word[:end]]
    return _OTHER


@lru_cache(maxsize=256)
def pattern(source: str) -> re.Pattern[str]:
    """Compile a pattern of words (``docs/reading.md`` describes its language) to a regular expression on symbols.

    Raises:
        ValueError: for an unknown word class or a malformed pattern.
    """
    symbols = _vocabulary().symbols
    written = re.sub(r"~(\d+)", r"[^ stop line cand text]{0,\1}?", source)
    written = re.sub(r"\((?!\?)", "(?:", written)
    try:
        written = re.sub(r"[a-z]+", lambda word_class: symbols[word_class[0]], written)
        return re.compile(re.sub(r"<([^<>]+)>", r"(?P<at>[\1])", written.replace(" ", "")))
    except KeyError as error:
        raise ValueError(f"the pattern {source}: there is no word class {error}") from None
    except re.error as error:
        raise ValueError(f"the pattern {source}: {error.msg}") from None


def _tokens(text: str) -> list[tuple[str, int]]:
    """Return the first 6,000 or so words and punctuation marks of a text in lower case, each with its position."""
    tokens: list[tuple[str, int]] = []
    for match in islice(_TOKEN.finditer(text.lower()), _MOST_TOKENS):
        if match.lastgroup:
            tokens += _parts(match[0], match.start())
        else:
            tokens.append((match[0], match.start()))
    return tokens


def _parts(text: str, place: int) -> Iterator[tuple[str, int]]:
    """Yield the words of a text in a script without spaces, each with its position.

    At each position, the word is the longest known one, or a single character if none is known.

    Args:
        text: the text.
        place: the position of its beginning, from which positions are counted.
    """
    words, start = _vocabulary().words, 0
    while start < len(text):
        end = min(len(text), start + _LONGEST)
        while end > start + 1 and text[start:end] not in words:
            end -= 1
        yield text[start:end], place + start
        start = end


def symbols_of(text: str, mentions: Iterable[Mention] = ()) -> Symbols:
    """Convert a text to symbols; each mention becomes one symbol, whatever its number of words."""
    vocabulary = _vocabulary()
    written: list[str] = []
    places: list[int] = []
    at_symbol: dict[int, Mention] = {}
    tokens = [*_tokens(text), ("", len(text))]
    words = [word for word, _ in tokens]
    coming = deque([*sorted(mentions, key=attrgetter("start")), Mention(None, len(text) + 1, len(text) + 1)])
    skip_to, next_start = 0, coming[0].start
    for index, (pair, (word, start)) in enumerate(zip(pairwise([*words, ""]), tokens, strict=True)):
        while start + (len(word) or 1) > next_start:
            mention = coming.popleft()
            next_start = coming[0].start
            at_symbol[len(written)] = mention
            written.append(vocabulary.symbols[mention.word_class])
            places.append(mention.start)
            skip_to = max(skip_to, mention.end)
        if start < skip_to or not word:
            continue
        symbol = ""
        for parts, of_phrase in vocabulary.phrases.get(pair, ()):
            last = index + len(parts) - 1
            if words[index : last + 1] == parts and tokens[last][1] < next_start:
                symbol, skip_to = of_phrase, tokens[last][1] + len(parts[-1])
                break
        written.append(symbol or _symbol(word))
        places.append(start)
    return Symbols(text, "".join(written), [*places, len(text)], at_symbol)
