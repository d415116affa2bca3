"""Find the places where a text mentions a choice, by its Latin, Cyrillic, Greek or Arabic letter, or its text."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import chain

from .patterns import later
from .words import Mention, occurrences, outside

LETTERS = "ABCD"

_ALIKE, _IN_ORDER = str.maketrans("АВСΑΒ", "ABCAB"), str.maketrans("АБВГ", "ABCD")
_CYRILLIC = later(
    r"(?<![^\W_])[АБВГСΑΒ](?![^\W_])(?=\s?[).,;:!»\"*\]—–]|\s[(—–-]|\s?$)|(?<=[тюй]\s)[АБВГС](?![^\W_])", re.M
)
_FOREIGN = later("[АБВГСΑΒأبجد]")
_ARABIC = later(
    r"(?<!\w)[أبجد](?!\w)(?=\s?[).,:*\]»}<،\"'-]|\s?$|\s\(|\s(?:أو|لأن|بل)\s)|(?:(?<=ه[يو]\s)|(?<=ختار\s))[أبجد](?![\w؟])",
    re.M,
)
_ARABIC_IN_ORDER = str.maketrans("أبجد", "ABCD")
# A capital letter that is not part of a name ("B-cell", "A's", "D+"), or a small letter.
_LETTER = later(
    r"(?<![A-Za-z0-9À-ÿ_\\{^°~∆Δ])(?<![A-Za-z0-9]['’-])(?:(?P<capital>[A-J])(?![A-Za-z0-9_+À-ÿ^]|['’][a-z]|-[A-Za-z0-9]|[²³₀-₉=]|/[A-Za-z]\w|\.[A-Z]\.)"
    r"|(?P<small>[a-d])(?![A-Za-z0-9_+À-ÿ]|['’-][A-Za-z]|\.[a-z]))"
)
_CLOSED = later(r"\s?[)\].:,;!*]|['\"](?!\w)|\s?$|\n", re.M)
_UNFINISHED = later(r"\b(?!option|answer|choice)[a-z]{1,20} a\Z")  # the text breaks off after the article
_ARTICLE = later(
    r"(?<=[a-z0-9][.!?]\sA)\s[A-Z][a-z]|\s'[A-Za-z]|\s(?:[A-Z]{2,}\s(?!is\b)[a-z]|'?(?=[a-z0-9]))(?!(?:is|are|was|and|n?or|because|since|as|for|due|given|which|so|but|not|in|with|rather|here"
    r"|would|seems|must|should|can|cannot|remains|instead|over|fits|matches|makes|best|correctly|ist|und|oder|est|et|ou|weil|car|porque|es|y|o|e|den|only|through)\b)"
)


def latin_letters(text: str) -> str:
    """Replace Cyrillic, Greek and Arabic letters of choices with A to D.

    A Cyrillic or Greek letter becomes the Latin letter that it resembles. If any Cyrillic letter resembles none, all of
    them become the Latin letters at the same position in the alphabet, as Arabic letters always do.

    >>> latin_letters("Ответ: В"), latin_letters("Не Б, а В.")
    ('Ответ: B', 'Не B, а C.')
    """
    if text.isascii() or not _FOREIGN.search(text):
        return text
    in_order = any(match[0] in "БГ" for match in _CYRILLIC.finditer(text))
    table = _IN_ORDER if in_order else _ALIKE
    text = _ARABIC.sub(lambda match: match[0].translate(_ARABIC_IN_ORDER), text)
    return _CYRILLIC.sub(lambda match: match[0].translate(table), text)


def letters_in(text: str) -> Iterator[Mention]:
    """Yield the letters A to D that may denote a choice; lower-case letters are weak mentions.

    A letter from E to J (except I) in the form of a choice, such as "E)", is a mention with an empty value. The article
    "A" is skipped.
    """
    breaks_off = _UNFINISHED.search(text[-30:]) is not None
    for match in _LETTER.finditer(text):
        letter, start, end = match[0], match.start(), match.end()
        closed = _CLOSED.match(text, end)
        if match["capital"]:
            if letter not in LETTERS:
                if closed and letter != "I":
                    yield Mention("", start, end, "weak")
            elif letter != "A" or closed or not _ARTICLE.match(text, end):
                yield Mention(letter, start, end)
        elif closed and not (breaks_off and end == len(text)):
            yield Mention(letter.upper(), start, end, "weak")


_SPACE = later(r"\s+")
_HYPHEN = later(r"(?<=\w)-(?=\w)")
_DASHES = str.maketrans("–—", "--")
_UNSEEN = str.maketrans("İ", "I", "$`")
_FORM = later(r"\\text|\W+")
_TRIMMED = " .;,\"'“”\n"


# A word boundary, or the ending of a plural before one.
_EDGE = later(r"(?<!\bnon )(?!(?<=\w)(?!e?s\b)\w)")


def _folded(text: str) -> str:
    """Return a text in lower case, with a space for each hyphen within a word, and a hyphen for each dash."""
    return _HYPHEN.sub(" ", text.lower().translate(_DASHES))


def _spellings(name: str) -> set[str]:
    """Return the forms in which models write a choice's text: "90 %" for "90%", "anemia", "E. coli".

    >>> sorted(_spellings("5 mg")), sorted(_spellings("anaemia of pregnancy")), sorted(_spellings("escherichia coli"))
    (['5 mg', '5mg'], ['anaemia of pregnancy', 'anemia of pregnancy'], ['e. coli', 'escherichia coli'])
    """
    return {
        name,
        _BRITISH.sub("", name),
        _GENUS.sub(r"\1. ", name),
        *(_BEFORE_UNIT.sub(space, name) for space in ("", " ")),
    }


_BRITISH = later(r"\B[ao](?=e[a-z])|\b[ao](?=e[a-z]{3})|(?<=[a-z]{2}o)u(?=rs?\b)")  # letters that American omits
_GENUS = later(r"\A([a-z])[a-z]{5,} (?=[a-z]{4,}\Z)")
_BEFORE_UNIT = later(r"(?<=\d) ?(?=[%a-zµ])")


def texts_in(text: str, options: Sequence[str]) -> list[Mention]:
    """Return the places where a text contains the text of a choice, ignoring case and plural endings.

    If the choice's own letter in parentheses follows the text, it is part of the place. Texts shared by two choices,
    single characters and a few common words are left out.

    >>> texts_in("There is no such sign.", ["Yes", "No"])
    []
    """
    names = [_folded(_SPACE.sub(" ", option.translate(_UNSEEN)).strip(_TRIMMED)) for option in options[: len(LETTERS)]]
    spellings = [_spellings(name) for name in names]
    known = list(chain.from_iterable(spellings))
    letters = {
        form: letter
        for letter, forms in zip(LETTERS, spellings, strict=False)
        for name in forms
        for form in (name, f"{name} ({letter.lower()})", f"{name} (option {letter.lower()})")
        if len(name) > 1 and known.count(name) == 1 and name not in ("or", "and", "no")
    }
    places = occurrences(sorted(letters, key=len, reverse=True), _folded(text), _is_whole)
    return [Mention(letters[form], start, end, "text") for form, start, end in places]


def _is_whole(text: str, start: int, end: int) -> bool:
    """Return whether a choice's text is not part of a longer word; True if its first character is not ASCII."""
    return not text[start].isascii() or (bool(_EDGE.match(text, start)) and bool(_EDGE.match(text, end)))


_ALIKE_ENOUGH, _APART = 0.84, 0.12  # minimum similarity of a choice, and its minimum lead over the others; from 0 to 1


def _normalized(text: str, options: Sequence[str]) -> list[str]:
    """Return the text and each choice in lower case, with a space for each run of punctuation and white space."""
    return [_FORM.sub(" ", phrase).lower().strip() for phrase in (text, *options[: len(LETTERS)])]


def similar_text(text: str, options: Sequence[str]) -> str | None:
    """Return the letter of the choice that a text almost quotes, with a misspelling or different punctuation.

    Return None if the text resembles no choice or more than one, or has fewer than 6 characters.

    >>> similar_text("cyclopentolat", ["Cyclopentolate", "Timolol"]), similar_text("S. albus", ["S. album", "S. alba"])
    ('A', None)
    """
    words, *names = _normalized(text, options)
    if len(words) < 6 or not names:
        return None
    ratios = [SequenceMatcher(None, words, name, autojunk=False).ratio() for name in names]
    best, *others = sorted(ratios, reverse=True)
    is_alike = best >= _ALIKE_ENOUGH and best - max(others, default=0.0) >= _APART
    return LETTERS[ratios.index(best)] if is_alike else None


_INITIAL = later(r"\b(?!(?:an?|and|for|in|of|the|to|with)\b)\w")


def named_in_short(text: str, options: Sequence[str]) -> str | None:
    """Return the letter of the only choice that a text names in full, by a part or by its initials.

    >>> options = ["Magnetic resonance imaging", "Titanium alloy", "O negative"]
    >>> [named_in_short(text, options) for text in ("MRI", "Titanium", "O-negative", "alloys")]
    ['A', 'B', 'C', None]
    """
    words, *names = _normalized(text, options)
    is_abbreviation = len(words) > 1 and text.strip().isupper()
    named = [
        letter
        for letter, name in zip(LETTERS, names, strict=False)
        if words == name != ""
        or (len(words) >= _SHORTEST_PART and f" {words} " in f" {name} ")
        or (is_abbreviation and words == "".join(_INITIAL.findall(name)))
    ]
    return named[0] if len(named) == 1 else None


_SHORTEST_PART = 4  # characters
_BETWEEN = later(r"[).:\]*, –—-][^\w\n✓✔✅☑✗✘❌✖]{0,5}")  # a letter and its text


def mentions_of(text: str, options: Sequence[str]) -> list[Mention]:
    """Return all mentions of choices in order; a letter and a choice's text right after it are one mention."""
    texts = texts_in(text, options)
    merged: list[Mention] = []
    for mention in sorted([*texts, *outside(letters_in(text), texts)], key=lambda mention: mention.start):
        last = merged[-1] if merged else None
        between = text[last.end : mention.start] if last else ""
        if last and _are_one(last, mention, between):
            is_article = last.value == "A" != mention.value and between in (" ", ": ")
            merged[-1] = mention if is_article else Mention(last.value, last.start, mention.end)
        else:
            merged.append(mention)
    return merged


def _are_one(first: Mention, second: Mention, between: str) -> bool:
    """Return whether two adjacent mentions refer to one choice, such as "(B) the nerve"."""
    is_lone_letter = first.word_class == "cand" and first.end == first.start + 1
    is_same = first.word_class != "text" and first.value == second.value
    return second.word_class == "text" and (is_same or is_lone_letter) and _BETWEEN.fullmatch(between) is not None
