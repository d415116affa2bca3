"""Where a text speaks of an option: by its letter, in any guise, or by its text."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import islice

from .patterns import later
from .words import Found

LETTERS = "ABCD"

_STYLED = {
    code: unicodedata.normalize("NFKC", chr(code))
    for first, last in ((0x24B6, 0x24EA), (0x1D400, 0x1D7CC))
    for code in range(first, last)
}
_ALIKE, _IN_ORDER = str.maketrans("АВСΑΒ", "ABCAB"), str.maketrans("АБВГ", "ABCD")
_CYRILLIC = later(
    r"(?<![^\W_])[АБВГСΑΒ](?![^\W_])(?=\s?[).,;:!»\"*\]—–]|\s[(—–-]|\s?$)|(?<=[тюй]\s)[АБВГС](?![^\W_])", re.M
)
# A capital alone: no part of a name ("B-cell", "A's", "D+"); a small one where something closes it or a noun names it.
_LETTER = later(
    r"(?<![A-Za-z0-9À-ÿ_\\{^°~∆Δ])(?<![A-Za-z0-9]['’-])(?:(?P<capital>[A-J])(?![A-Za-z0-9_+À-ÿ^]|['’][a-z]|-[A-Za-z0-9]|[²³₀-₉=]|/[A-Za-z]\w|\.[A-Z]\.)"
    r"|(?P<small>[a-d])(?![A-Za-z0-9_+À-ÿ]|['’-][A-Za-z]|\.[a-z]))"
)
_CLOSED = later(r"\s?[)\].:,;!*'\"]|\s?$|\n", re.M)
_ARTICLE = later(
    r"(?<=[a-z0-9][.!?]\sA)\s[A-Z][a-z]|\s(?=[a-z0-9])(?!(?:is|are|was|and|n?or|because|since|as|for|due|given|which|so|but|not|in|with|rather|here"
    r"|would|seems|must|should|can|cannot|remains|instead|over|fits|matches|makes|best|correctly|ist|und|oder|est|et|ou|weil|car|porque|es|y|o|e|den|only|through)\b)"
)
_MOST = 400  # letters of a text that are looked at


def latin_letters(text: str) -> str:
    """The text with letters of options in other guises as A–D: circled, bold, Cyrillic and Greek ones that look alike.

    >>> latin_letters("Ⓑ"), latin_letters("Ответ: В"), latin_letters("Не Б, а В.")
    ('B', 'Ответ: B', 'Не B, а C.')
    """
    text = text.translate(_STYLED)
    found = {match[0] for match in _CYRILLIC.finditer(text)}
    table = _IN_ORDER if found & {"Б", "Г"} else _ALIKE
    return _CYRILLIC.sub(lambda match: match[0].translate(table), text) if found else text


def letters_in(text: str) -> Iterator[Found]:
    """The letters A–D of a text that may stand for an option; the article and small letters are weak."""
    every = list(_LETTER.finditer(text))
    for match in every if len(every) <= _MOST else [*every[: _MOST // 4], *every[-_MOST:]]:
        closed = _CLOSED.match(text, match.end())
        opened = text[match.start() - 1 : match.start()] in ("(", "[", "*", "'", '"')
        if match["capital"] and match[0] not in LETTERS:
            if closed and match[0] != "I":
                yield Found("", match.start(), match.end(), "weak")
            continue
        if match["capital"]:
            if match[0] == "A" and not closed and _ARTICLE.match(text, match.end()):
                continue
            notion = "cand"
        elif not closed:
            continue
        else:
            notion = "cand" if opened and closed else "weak"
        yield Found(match[0].upper(), match.start(), match.end(), notion)


_SPACE = later(r"\s+")
_DASHES = str.maketrans("–—", "--")
_SIGNS = str.maketrans("–—", "--", "$`")
_FORM = later(r"\\text|\W+")
_TRIMMED = " .;,\"'“”\n"


@lru_cache(maxsize=64)
def names_of(options: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """The options' texts as they are looked for, each with its letter, the longest first; none twice."""
    names = [
        (_SPACE.sub(" ", option).strip(_TRIMMED).lower().translate(_SIGNS), letter)
        for option, letter in zip(options, LETTERS, strict=False)
    ]
    every = [name for name, _ in names]
    kept = [one for one in names if len(one[0]) > 1 and every.count(one[0]) == 1 and one[0] not in ("or", "and", "no")]
    return tuple(sorted(kept, key=lambda one: -len(one[0])))


def texts_in(text: str, options: Sequence[str]) -> list[Found]:
    """Where the options' texts stand in a text, in any case, a plural's ending aside; none within a longer one."""
    lowered = text.lower().translate(_DASHES)
    if len(lowered) != len(text):
        return []
    found: list[Found] = []
    for name, letter in names_of(tuple(options)):
        for start in list(islice(_occurrences(name, lowered), _MOST)):
            end = start + len(name)
            found.append(Found(letter, start, end, "text"))
            lowered = f"{lowered[:start]}{' ' * len(name)}{lowered[end:]}"
    return sorted(found, key=lambda one: one.start)


def same_text(content: str, options: Sequence[str]) -> str | None:
    """The letter of the one option whose words are these, whatever stands between them.

    >>> same_text("25\\\\%", ["5 %", "25 %"])
    'B'
    """
    words, *own = (_FORM.sub("", text).lower() for text in (content, *options[: len(LETTERS)]))
    return LETTERS[own.index(words)] if words and own.count(words) == 1 else None


_ALIKE_ENOUGH, _APART = 0.84, 0.12  # of 1: how like an option a text must be, and how much less the next one


def similar_text(text: str, options: Sequence[str]) -> str | None:
    """Return the letter of the one option that a text all but quotes, misspelt or with other signs.

    >>> similar_text("cyclopentolat", ["Cyclopentolate", "Timolol"]), similar_text("S. albus", ["S. album", "S. alba"])
    ('A', None)
    """
    words, *names = (_FORM.sub(" ", one).lower().strip() for one in (text, *options[: len(LETTERS)]))
    if len(words) < 6 or not names or len(words) > 2 * max(map(len, names)):
        return None
    ratios = [SequenceMatcher(None, words, name, autojunk=False).ratio() for name in names]
    best, *others = sorted(ratios, reverse=True)
    alike = best >= _ALIKE_ENOUGH and all(best - other >= _APART for other in others)
    return LETTERS[ratios.index(best)] if alike else None


_INSIDE = later(r"(?<=\w)(?!e?s\b)\w")  # within a word, but for a plural's ending


def _occurrences(name: str, text: str) -> Iterator[int]:
    unspaced = not name[0].isascii()
    start = text.find(name)
    while start >= 0:
        end = start + len(name)
        if unspaced or not (_INSIDE.match(text, start) or _INSIDE.match(text, end)):
            yield start
        start = text.find(name, end)


_BETWEEN = later(r"[).:\]*, –—-][^\w\n]{0,5}")  # a letter and its text


def spoken_of(text: str, options: Sequence[str]) -> list[Found]:
    """Letters and options' texts in their order; a letter and its text beside it are one."""
    texts = texts_in(text, options)
    letters = [one for one in letters_in(text) if not any(each.start <= one.start < each.end for each in texts)]
    merged: list[Found] = []
    for one in sorted([*texts, *letters], key=lambda each: each.start):
        if merged and _are_one(merged[-1], one, text[merged[-1].end : one.start]):
            last = merged.pop()
            merged.append(Found(last.value, last.start, one.end + (last.notion == "text"), "cand"))
        else:
            merged.append(one)
    return merged


def _are_one(first: Found, second: Found, between: str) -> bool:
    """Whether "(B) the nerve" or "the nerve (B)" is one option; of the first the letter counts, whatever the text."""
    alike = first.value == second.value
    if first.notion == "text":
        return second.notion != "text" and alike and between in (" (", " [", "(", ", (")
    named = second.notion == "text" and (alike or (first.notion == "cand" and first.end == first.start + 1))
    return named and _BETWEEN.fullmatch(between) is not None
