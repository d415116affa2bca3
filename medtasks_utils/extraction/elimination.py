"""What a text says of all the options together: which are ruled out, which is ranked or rated first, which is odd."""

from __future__ import annotations

import re
from collections.abc import Iterator

from medtasks_utils.extraction import cues
from medtasks_utils.extraction.listings import CALLED, LINE, MAX_LINE
from medtasks_utils.extraction.options import LETTERS
from medtasks_utils.extraction.weighing import Candidate, bounded

_RIGHT, _WRONG = (cues.any_word(table) for table in (cues.RIGHT, cues.WRONG))
_RIGHT_MARK = re.compile(
    r"\b(?i:correct|right|best|true|yes|fits|match(?:es|ing)|trifft\szu|accepted|selected|(?:most"
    rf"|highly)\slikely)(?:\s(?:answer|option|choice|one))?(?=\W*(?:$|[.,;:!()—–]))|[{cues.TICKS}]|{_RIGHT}"
    rf"|[○◯](?=\W*$)|{cues.any_word(cues.YES)}(?=\W*$)"
)
_WRONG_MARK = re.compile(
    r"(?i:\b(?:incorrect|wrong|false|no|not|nicht|unlikely|less\slikely|rejected|excluded|out|never)\b|n['’]t\b)"
    rf"|[{cues.CROSSES}]|×(?=\W*$)|{_WRONG}|{cues.either(cues.WRONG_AFTER)}|{cues.any_word(cues.NO)}(?=\W*$)"
)
_LETTER = r"(?<![A-Za-z0-9])[A-D](?![A-Za-z0-9])"
_RANKING = re.compile(
    rf"(?:(?<=worst:\s)|(?<=least\slikely:\s)){_LETTER}(?:,\s{_LETTER}){{2,3}}|{_LETTER}(?:\s?→\s?{_LETTER}"
    rf"|[^\n.<>;]{{0,40}}?(?:>+|≫|,?\s(?i:then|dann|puis|luego|depois|poi|затем))\s?{_LETTER}){{2,3}}"
)
_COMPARED = re.compile(
    rf"(?P<better>{_LETTER})[)\]]?\s(?:\w+ly\s)?(?i:beats|outranks|trumps|outweighs|surpasses|(?:wins\s)?over|(?:is"
    r"|fits|scores|ranks)\s(?:\w+\s)?(?:better|higher|likelier|stronger"
    rf"|more\s\w+)\sthan)\s(?P<worse>{_LETTER}(?:(?:,\s?|\s?(?:and|or)\s){{1,2}}{_LETTER}){{0,2}})"
)
_UNMENTIONED = re.compile(
    rf"(?:^|(?<=[.;:]\s)){cues.either(cues.REMAINS)}(?![^\W_])|\b(?i:what['’]s\sleft|the\sremaining\s(?:one|option"
    r"|choice))\b|\b(?i:one|option|it|that)\b[^.\n]{0,30}?(?:not|n['’]t)\s(?:\w+\s){0,2}(?:mention|consider|list"
    r"|discuss|name)",
    re.MULTILINE,
)
_RATING = re.compile(
    rf"(?P<letter>{_LETTER})[)\]\"':=|\s(–-]{{1,6}}(?:(?i:the|remaining|about|around|only|roughly"
    r"|score:?)\s){0,2}~?(?P<share>\d{1,3}(?:[.,]\d{1,4})?)\s?(?:%|(?i:/|of|out\sof|von|sur|de"
    r"|su)\s?(?P<most>\d{1,3}))?"
)
_SCORED = re.compile(r"(?i)\b(?:scor(?:es?|ed|ing)|points)\b")
_FIRST_WORDS = re.compile(r"[\s*_.):-]{1,8}(?i:(?:in)?correct|right|wrong|true|false|yes|no)(?=[;.,:!—–])")
_LAST_WORDS = re.compile(
    r"(?<=[.;!?] )(?:(?i:so,?\s(?:\w+\s)?(?:yes|no)|(?:not\s)?this(?:\sone)?"
    rf"|this\sis\s(?:not\s)?the\s(?:\w+\s)?(?:answer|one|option|choice))|{cues.either(cues.WRONG_AFTER)}"
    r"|(?i:not\s)?(?i:correct|right|true|fits|match(?:es|ing)|yes))\W*$"
)
_BUT_NOT_IT = re.compile(
    rf"(?:\s?\([^()\n]{{0,80}}\))?[)\].'’]?(?:\s\w{{1,12}}ly)?[^\n.;:。A-D]{{0,40}}?(?<![^\W_])(?:{cues.either(cues.UNLIKE_IT)})"
)


def marked(listing: str) -> Iterator[Candidate]:
    """The lines of a list of the options that are called right, or the only one of four that is called otherwise.

    As in "C: True", "C. … ✅", and "A – true, B – true, C – false, D – true" (where the exception is asked for).
    """
    wrong = wrong_lines(listing)
    right = [one[:2] for one in _items(listing) if _RIGHT_MARK.search(one[2]) and not _WRONG_MARK.search(one[2])]
    if len({letter for letter, _ in right}) == 3 and len(wrong) == 1:
        right = [*wrong.items()]
    yield from (Candidate(letter, at, at + 1, listing, "mark", 40) for letter, at in right)


def ranked(text: str) -> Iterator[Candidate]:
    """The first of a ranking of the options: "B > A > C > D", "C, then A, then B", "C beats A, and A beats B and D"."""
    pairs = bounded(_COMPARED.finditer(text))
    best = {pair["better"]: pair for pair in pairs if not any(pair["better"] in other["worse"] for other in pairs)}
    if len(best) == 1:
        yield from (Candidate(one, at.start(), at.end(), text, "ranking", 40) for one, at in best.items())
    for match in bounded(_RANKING.finditer(text)):
        if len(set(re.findall(_LETTER, match[0]))) > 2:
            yield Candidate(match[0][0], match.start(), match.start() + 1, text, "ranking", 40)


def rated(text: str) -> Iterator[Candidate]:
    """The option with the largest share or score of at least three: "A 10 %, B 75 %, C 15 %", "A: 1/5, B: 4/5, …"."""
    shares = {match["letter"]: match for match in bounded(_RATING.finditer(text))}
    values = {letter: float(match["share"].replace(",", ".")) for letter, match in shares.items()}
    total, scales = sum(values.values()), {match["most"] for match in shares.values()}
    if (
        len(values) < 3
        or len(scales) > 1
        or not (scales != {None} or _SCORED.search(text) or 0.9 <= total <= 1.1 or 90 <= total <= 110)
    ):
        return
    best = max(values, key=lambda letter: values[letter])
    if list(values.values()).count(values[best]) == 1:
        yield Candidate(best, shares[best].start(), shares[best].end(), text, "rating", 38)


def called_unlike(after: str) -> bool:
    """Whether what follows an option tells that it is not the case: "would cause ptosis", "lacks atypical cover"."""
    return _BUT_NOT_IT.match(after) is not None


def remaining(denied: dict[str, int], affirmed: set[str], text: str) -> Iterator[Candidate]:
    """The fourth option where the other three are denied, each with its place, and nothing speaks for one of them."""
    left = [letter for letter in LETTERS if letter not in denied]
    if len(left) == 1 and not affirmed - set(left):
        yield Candidate(left[0], max(denied.values()), max(denied.values()) + 1, text, "remaining", 24)


def unmentioned(text: str, lines: str) -> Iterator[Candidate]:
    """The fourth option where a text speaks of three, and then of the one that remains or was not mentioned."""
    for match in bounded(_UNMENTIONED.finditer(text))[-1:]:
        left = set(LETTERS).difference(re.findall(_LETTER, f"{text[: match.start()]}\n{lines}"))
        if len(left) == 1:
            yield Candidate(left.pop(), match.start(), match.end(), text, "remaining", 24)


def wrong_lines(listing: str) -> dict[str, int]:
    """The letters whose lines in a list of the options call them wrong, each with its place."""
    return {letter: place for letter, place, rest in _items(listing) if _WRONG_MARK.search(rest)}


def _items(listing: str) -> Iterator[tuple[str, int, str]]:
    """The letter of each line of a list, its place, and what stands beside it."""
    position = 0
    for line in listing.split("\n"):
        if match := LINE.match(line[:MAX_LINE]):
            rest = line[: match.start("letter")] + line[match.end("letter") :]
            after = line[match.end("letter") :]
            said = re.match(CALLED, after) or _FIRST_WORDS.match(after) or _LAST_WORDS.search(rest)
            yield match["letter"].upper(), position + match.start("letter"), said[0] if said else rest
        position += len(line) + 1
