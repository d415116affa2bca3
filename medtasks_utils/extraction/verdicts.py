"""Whether a text says that an answer is factual (0), hallucinated (1), or that it cannot be decided (2)."""

import re
from collections.abc import Iterator
from itertools import pairwise

from .boxes import unwrap
from .containers import Container, containers_of, first_reading
from .patterns import later
from .plain import unformatted
from .weighing import Candidate, Reading, choose, rows, weighed
from .words import Found, Symbols, pattern, symbols_of

# Candidates here: "cand" is a digit, "text" a name of a class, "weak" a word that says as much of an answer or a part.
VERDICT_ROWS = rows(
    """
L = [the fill option open about]*
P = [cand text] [open is word colon eq the if answer dash]{0,4}
S = close* [comma or stop]{1,2} [the or]*
70 answer: answer ~6 [is colon eq arrow dash]+ [the fill option open so about right answer not]* @@
68 labelled: (?:answer|option|final|result) [is colon open dash option fill about answer]+ @
64 leads: ^ {L} @@ (?=stop|comma|line|open|close|because|colon|dash|$)
R = (?:return|result|calc|gives)
E = (?=close* (?:stop|line|comma|because|dash|colon|open|text|$))
74 returned: {R} [^ stop line cand text weak not if]{0,7}? [is colon eq about to]* {L} <cand> {E}
73 digit of the answer: answer ~6 [is colon eq arrow dash]+ [the fill option open so about right answer]* <cand>
72 leads: ^ {L} <cand> (?=line)
71 paired: text close* [open dash colon comma]+ option* <cand> (?=close|stop|line|$)
60 therefore: so ~10 [is colon]* {L} @
75 ends: line {L} <cand> (?=close* stop* line* $)
58 ends: (?:stop|line|colon|arrow|so|dash) {L} @ (?=close* stop* line* $)
58 choose: choose {L} [is colon]* {L} @
40 class: <text>
14 digit: <cand>
12 word: <weak>
-90 scale: (?={P} [cand text] {S} {P} [cand text]) @@
-90 scale: {P} @@ (?={S} {P} [cand text])
-90 scale: {P} [cand text] {S} @@ (?=[open is word colon eq the if answer dash]{0,4} [cand text])
-90 scale: {P} [cand text] {S} {P} @@
-90 scale: (?:{P} [cand text] {S}){2} @@ (?=[open is word colon eq the if answer dash]{0,4} [cand text])
-90 scale: (?:{P} [cand text] {S}){2} {P} @@
-78 supposed: if ~8 @@
-30 of a part: (?:part|other) ~6 @@
-60 kind: (?:kind|name colon) [^ stop line]{0,20} @@
-75 one of two: @ close* (?=[comma or]+ {L} [cand text])
-75 one of two: (?:[cand text] close* [comma or]+ {L})+ @
    """
)
_OPEN = ("class", "said of it", "digit", "word")
_DENIED = (
    "(?:not|none|versus|lack) [^ stop line comma colon but cand text weak]{0,5}"
    " (?:cand|weak(?: or [^ stop line comma but cand text]{0,2} text)?)"
    "|(?:not|none|versus|lack) [^ stop line comma but or colon cand text]{0,8}"
    " text(?: [comma or]+ [^ stop line comma but cand text]{0,2} text)*"
    "|(?:wrong|slip|weak) (?:to|call)+ [^ stop line comma cand text]{0,5} text"
    "|call [^ stop line comma cand text]{0,5} text (?=[the answer]* if is)"
    "|(?:wrong|slip) [^ stop line comma cand text]{0,2} call [^ stop line comma cand text]{0,5} text"
)
_DENIED_AFTER = (  # "to call it … would be wrong", "fabrication: none"
    "text [^ stop line comma]{0,4} if is [the fill]* weak"
    "|[cand text weak] (?:close|the|is|word|option|about|answer){0,3} (?:colon|dash|bar|eq){0,2} (?:not|none|cross)"
    "|[cand text weak] [^ stop line comma but cand text]{0,5} (?:not|none|cross|rather) (?:stop|line|comma|$)"
    "|[cand text weak] (?:close|the|is|word)? rather"
)
_VALUES = {
    "factual": "0",
    "right": "0",
    "backed": "0",
    "hallu": "1",
    "wrong": "1",
    "refuted": "1",
    "flaw": "1",
    "unsure": "2",
}
_STRONG = ("factual", "hallu", "unsure")
_DIGIT = later(
    r"(?<![\w.,/%$-])[012](?![\w%/°]|[.,]\d|\s?(?:%|mg|kg|years?|patients|of\s|out\s|weeks|days|points)|\s?[-–/]\s?\d|\)?\s?[+×=<>])"
)
_JUDGED = later(  # a field that is true or false; the judgement is of whether it is hallucinated
    r"^\W{0,4}(?:your |is[ _]?)?(judge?ment|hallucinat\w{1,6}|factual)\W{1,6}(yes|no|true|false)\b(?=\W*$)", re.M | re.I
)
_NUMBERED = later(r"^\W{0,4}([12])[.)]\s+(?=[^\W\d])", re.MULTILINE)  # the number of an item of a list
_QUOTED = later(r"'([012])'")
_ASKED = later(r"[^.!?\n]{0,60}\?")
_KEYS = ("answer", "verdict", "label", "judg", "halluc", "factual", "class", "result", "decision")
_SHORT = 240  # characters of a text in which a digit or a word that is merely named is the verdict
_FLIPPED = {"0": "1", "1": "0", "2": "2"}


def read_verdict(text: str) -> Reading:
    """The verdict that a text states: "0", "1" or "2", or none.

    >>> read_verdict("The answer is not factual.").value, read_verdict("Either factual or hallucinated?").value
    ('1', None)
    """
    return first_reading(text, _read_part)


def _read_part(text: str) -> Reading:
    inside = [one for each in containers_of(text, _KEYS) if (one := each.candidate(_inside(each), text))]
    candidates = _candidates(unformatted(text))
    if inside:
        return choose(inside)._replace(candidates=(*inside, *candidates))
    if len(text) > _SHORT:
        for one in candidates:
            if one.cue in ("digit", "word"):
                one.discard("only named, in a long text")
    reading = choose(candidates, _OPEN)
    left = {*_FLIPPED} - {_FLIPPED[one.value] for one in candidates if one.evidence.get("denied", 0) < -2}
    if reading.value is None and len(left) == 1:
        return Reading(left.pop(), "left over", reading.candidates, 0.9)
    return reading


def _inside(container: Container) -> str | None:
    token = unwrap(container.content).strip("\"'. ")
    if container.key and token.lower() in ("true", "false", "yes", "no"):
        says = "1" if "hall" in container.key else "0"
        return says if token.lower() in ("true", "yes") else _FLIPPED[says]
    value: str | None = choose(_candidates(unformatted(container.content))).value
    return value


def _candidates(text: str) -> list[Candidate]:
    text = _QUOTED.sub(r"\1", text)
    bare = symbols_of(text, ())
    numbered = {match.start(1) for match in _NUMBERED.finditer(text)}
    digits = (
        Found(match[0], match.start(), match.end()) for match in _DIGIT.finditer(text) if match.start() not in numbered
    )
    fields = [_field(match) for match in _JUDGED.finditer(text)]
    classes = [
        one for one in (*_classes(bare), *digits) if not any(each.start <= one.start < each.end for each in fields)
    ]
    symbols = symbols_of(text, sorted([*classes, *fields], key=lambda one: one.start))
    denied = {
        at
        for match in pattern(_DENIED).finditer(symbols.symbols)
        for at in symbols.found
        if match.start() < at < match.end()
    }
    denied |= {match.start() for match in pattern(_DENIED_AFTER).finditer(symbols.symbols)}
    candidates = weighed(VERDICT_ROWS, symbols)
    for first, second in pairwise(candidates):
        if first.value == second.value:  # "fabrication or misattribution" leaves nothing open
            first.evidence.pop("one of two", None), second.evidence.pop("one of two", None)
    for at, one in zip(symbols.found, candidates, strict=True):
        if at in denied:
            one.evidence["denied"] = -60 if one.value == "2" or one.cue == "digit" else -2
            one.evidence.pop("of a part", None)
            one.value = _FLIPPED[one.value]
        if asked := _ASKED.match(text, one.end):
            _answer(one, symbols_of(text[asked.end() : asked.end() + 60], ()).symbols)
    return candidates


def _field(match: re.Match[str]) -> Found:
    """Return what a field such as "Hallucinated: no" says."""
    value = "1" if match[2].lower() in ("yes", "true") else "0"
    return Found(_FLIPPED[value] if match[1].lower() == "factual" else value, match.start(1), match.end())


def _answer(one: Candidate, reply: str) -> None:
    """Change a candidate that a question names as the words after the question answer it."""
    answered = pattern("(?:word|colon|line|answer|dash|the|if|is|about|so){0,5} (?:yes|(not))").match(reply)
    if answered is None:
        one.evidence["asked"] = -60
        return
    one.cue, one.support = "asked", 60.0
    one.evidence.clear()
    if answered[1]:
        one.support = 0.0 if one.value == "2" else 60.0
        one.value = _FLIPPED[one.value]


def _classes(symbols: Symbols) -> Iterator[Found]:
    places = [*symbols.places, len(symbols.text)]
    for notion, value in _VALUES.items():
        for match in pattern(notion).finditer(symbols.symbols):
            start, end = places[match.start()], places[match.end()]
            length = len(symbols.text[start:end].rstrip())
            yield Found(value, start, start + length, "text" if notion in _STRONG else "weak")
