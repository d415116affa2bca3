"""Verdicts in other languages than English: a word for one in a sentence, the negations of its clause counted."""

from __future__ import annotations

import re
from typing import NamedTuple

from medtasks_utils.extraction import cues

FACTUAL, HALLUCINATED, UNSURE = "0", "1", "2"


class Stated(NamedTuple):
    """A verdict, where its word stands in the sentence, and the weight of the statement."""

    value: str
    start: int
    end: int
    support: float


class _Language(NamedTuple):
    verdict: re.Pattern[str]
    judged: re.Pattern[str]
    no: re.Pattern[str]
    no_after: re.Pattern[str]
    mistaken: re.Pattern[str]
    if_: re.Pattern[str]
    own: re.Pattern[str]


_WORDS_FOR = {
    "unsure": cues.UNSURE,
    "wrong": cues.WRONG,
    "hallucinated": cues.HALLUCINATED,
    "factual": cues.FACTUAL,
    "right": cues.RIGHT,
    "digit": dict.fromkeys(
        cues.JUDGED,
        rf"(?:(?<=[:是はは은는])\s?|(?<=ではなく)|(?<=ではなく,)|(?<=아니라)\s?|(?<=判为)|{cues.LABEL}\s)[012](?![\d.,]\d)"
        r"|(?:(?<=lautet\s)|(?<=\sest\s)|(?<=\ses\s)|(?<=\s[èé]\s))[012](?![.,]\d)(?=\s?(?:[.,;!]|$|(?:et|und|y|e)\sn))",
    ),
}


def _language(name: str) -> _Language:
    mistaken = rf"(?:{cues.WRONG.get(name, '(?!)')}|{cues.MISTAKE.get(name, '(?!)')}){cues.TO_SAY.get(name, '(?!)')}"
    groups = (
        rf"(?P<{kind}>(?<![a-zà-ÿа-я])(?!{mistaken})(?:{table[name]})(?![a-zà-ÿа-я]))"
        if name in table
        else rf"(?P<{kind}>(?!))"
        for kind, table in _WORDS_FOR.items()
    )
    return _Language(
        re.compile("|".join(groups)),
        *map(
            re.compile,
            (
                *(table.get(name, "(?!)") for table in (cues.JUDGED, cues.NO, cues.NO_AFTER)),
                mistaken,
                cues.IF.get(name, "(?!)"),
                cues.COMMON.get(name, "(?!)"),
            ),
        ),
    )


_LANGUAGES = {name: _language(name) for name in cues.JUDGED}
_KANA = re.compile("[ぁ-ヿ]")
_CLAUSE = re.compile(
    r"[,;:،؛，]\s?|\sو(?!اقع|اضح|همي)|\sبل\s|बल्कि|\b(?:und|aber|sondern|mais|et|pero|sino|mas|ma|но|а)\b"
)
_CONCEDED = re.compile(cues.either(cues.CONCEDED))
_OPEN = re.compile(
    r"(?:oder|ou|oppure|или)\s|还是|或|是否|かどうか|または|인지|또는|या\s|أم\s|أو\s|请判断|teils|en\spartie"
)


def stated(sentence: str, *, english: bool) -> Stated | None:
    """The verdict of a sentence in the language whose noun for the answer it has, else in the first that it may be.

    Args:
        sentence: in lower case.
        english: whether it has an English word for a verdict, so that it needs a further word of its language.
    """
    languages = [language for name, language in _LANGUAGES.items() if name != "zh" or not _KANA.search(sentence)]
    found = [one for language in languages if (one := _in_language(language, sentence, english))]
    return max(found, key=lambda one: one.support, default=None)


def _in_language(language: _Language, sentence: str, english: bool) -> Stated | None:
    about = language.judged.search(sentence) is not None
    matches = [
        match
        for match in language.verdict.finditer(sentence)
        if not match["digit"] or match["digit"][0].isalpha() or about
    ]
    if not matches:
        return None
    supposed = _OPEN.search(sentence) or language.if_.search(sentence, 0, matches[0].start())
    if supposed and not matches[0]["unsure"]:
        return None
    found = None
    for match in matches:
        kind = str(match.lastgroup)
        clause = _CLAUSE.split(sentence[: match.start()])[-1]
        if _CONCEDED.search(clause) or (kind == "unsure" and language.no.search(clause)):
            continue
        negations = bool(language.no.search(clause)) + bool(language.no_after.match(sentence, match.end()))
        mistaken = language.mistaken.search(sentence, max(map(sentence[: match.start()].rfind, ":;：；")) + 1)
        denied = (negations + bool(mistaken and mistaken.start() < match.start())) % 2 == 1
        foreign = kind == "digit" or not english or language.own.search(sentence)
        if kind == "digit" and denied:
            continue
        if not about and (kind in ("right", "wrong") or not foreign):
            continue
        value = _value(kind, match[0].strip(), denied)
        support = (60 if about else 45) - (6 if kind in ("right", "wrong") else 0)
        if kind == "unsure":
            return Stated(UNSURE, match.start(), match.end(), 60)
        if found is None or support >= found.support:
            found = Stated(value, match.start(), match.end(), support)
    return found


def _value(kind: str, word: str, denied: bool) -> str:
    if kind == "digit":
        return word[-1]
    return FACTUAL if (kind in ("factual", "right")) != denied else HALLUCINATED
