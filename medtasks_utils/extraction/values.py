"""Which of the numbers, dates or ages in a text is the one that it states as its answer."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from . import nothing
from .boxes import unwrap
from .containers import containers_of, first_reading
from .dates import written_dates
from .durations import written_ages
from .plain import BOLD, tidied, unformatted
from .quantities import Percentage, fraction_value, numbers, prepared
from .weighing import NOTHING, Candidate, Reading, choose, rows, weighed
from .words import Found, Symbols, symbols_of

Kind = Literal["decimal", "integer", "date", "weeks_days"]

VALUE_ROWS = rows(
    """
A = [about the fill open eq colon so calc]*
G = (?:word|the|fill|about|calc|close|comma|result|to|open){0,6}?
U = (?:word|pct|close|op|the|line|result|day|week){0,3}
C = [^ stop line cand text bar]{0,8} bar (?:~3 bar)?
70 answer: (?:answer|final) {G} [is colon eq arrow gives]+ {A} @@
66 headed: head+ [^ input stop line cand text]{0,3}? (?:(?:answer|final) ~4 colon?|result ~4 [colon is eq]) {A} @@
57 leads: ^ {A} @ (?={U} (?:stop|line|open|comma|$))
56 in a table: bar ~4 (?:result|final|due) {C} (?:word comma)? [about the]* @ (?=~3 bar)
55 rounded: round ~8 [is gives colon eq about arrow to comma]* {A} @ (?!word? decimals)
55 therefore: so ~14 (?:open [^ line close]{1,8} close ~8)? [is eq gives colon]+ {A} @@
55 result: (?:result|gives) ~8 [is colon eq arrow gives]+ {A} @@
55 equals: [eq arrow] {A} @
55 gives: gives [about the fill open eq colon so calc result]* @@
46 verb last: @@ (?=(?:word|pct){0,3} is (?:stop|line|$))
46 counted: @@ (?=(?:about the [cand weak])? [^ not comma colon stop line cand text]{0,5}? met)
45 estimated: (?:but ~5|stop|comma) [about calc]+ the* @
44 is: is {A} @@
40 colon: colon {A} @
48 result: result [the about open]* @@
30 linked: [about to] @
45 alone: ^ {A} # (?={U} stop* $)
45 alone: (?:^|line) {A} @ (?={U} (?:stop|close)* (?:line|$))
-70 operand: @ (?=(?:word|close|the){0,3} (?:open [^ stop line close]{1,6} close)? op [^ line])
-70 operand: @ (?=(?:word|close){0,2} dash (?:open|the)* cand)
-70 range: cand (?:word|pct){0,2} (?:dash|about|to) @
-70 range: <cand> (?=(?:word|pct){0,2} to cand)
-45 range: (?:range|versus) ~4 @@
-90 list: @ (?=fill [cand weak])
-90 list: (?:^|line) @ (?=stop|close)
-90 list: [colon comma] @ (?=close)
-30 input: input (?!close) [^ stop line cand result final gives]{0,3}? [is eq colon about]* @
44 it is: so {A} @ (?={U} (?:stop|line|$))
52 given as: (?:because|input) word because {A} @
56 right: @ (?=(?:word|pct){0,2} close? is [the fill]* right)
52 remains: result is (?:fill|word|the|about){0,5} (?:earlier|input) (?:input|word|the){0,3} [comma about]* @
-40 earlier: (?<!is the )(?<!is )earlier ~4 @@
-60 aged: @@ (?=[word dash]{0,3} old)
50 corrected: not [^ stop line]{0,12} but [the about is]* @@
-45 supposed: if ~8 @@
    """
)
ROWS_OF_KIND = {  # what a birth is to a date, and to an age
    "date": rows(
        "56 result: due [^ stop line cand input earlier]{0,8}? [is colon eq arrow gives about the fill open so]* @@"
    ),
    "integer": rows("-45 risk: risk [^ stop line cand text eq op]{0,6}? @@"),
}
_FINDERS: dict[str, Callable[[str], Iterable[Found]]] = {
    "decimal": numbers,
    "integer": numbers,
    "date": written_dates,
    "weeks_days": written_ages,
}
_STATED = 44.0  # the weight of a statement
_LEAST = 20.0  # what weighs less is hardly stated
_STATEMENTS = ("rounded", "bold", "answer", "headed", "leads", "therefore", "result")
_MAX_CONTENT = 1000  # characters; a longer text states no single value
_MOST = 250  # candidates


def read_value(text: str, kind: Kind, keys: Sequence[str] = ("answer", "result", "value", "final")) -> Reading:
    """The value that a text states as its result.

    >>> read_value("It is 9.76 mg/dL (normal: 8.5-10.2).", "decimal").value
    9.76
    """
    return first_reading(text, lambda part: _read_part(part, kind, keys))


def _read_part(text: str, kind: Kind, keys: Sequence[str]) -> Reading:
    inside: list[Candidate] = []
    none_in_key = False
    for container in containers_of(text, (*keys, "score", "total", "date")):
        one = container.candidate(content_value(container.content, kind).value, text)
        if one:
            inside.append(one)
        elif container.cue == "key" and re.search(r"[^\W\d_]{3}|\d[-–‑]\d", container.content):
            inside, none_in_key = [], True  # the answer's own key says that there is none
    if inside:
        return choose(inside)
    if none_in_key:
        return NOTHING
    return _rounded(choose(_of_a_text(text, kind)))


def _rounded(reading: Reading) -> Reading:
    """The reading as the text rounds it after it is stated."""
    if not isinstance(reading.value, float):
        return reading
    best = max(
        (one for one in reading.candidates if one.value == reading.value), key=lambda one: (one.weight, one.start)
    )
    for one in reading.candidates:
        near = (
            not re.search(r"[\n(]", best.text[best.end : one.start])
            and 0 < one.start - best.end < 80
            and one.weight > 5
        )
        said = one.weight >= _STATED and one.cue in (_STATEMENTS if best.cue == "equals" else _STATEMENTS[:1])
        if (near or said) and _rounds(best.value, one.value):
            reading = reading._replace(value=one.value)
    return reading


def _rounds(value: float, to: float) -> bool:
    """Whether the second is the first with fewer decimals: 8.96 and 9."""
    scale = 10.0 ** len(f"{to:.10g}".partition(".")[2])
    return value != to == math.floor(value * scale + 0.5) / scale


def _candidates(text: str, kind: Kind) -> tuple[Symbols, list[Candidate]]:
    plain = unformatted(text, BOLD)
    if kind in ("decimal", "integer"):
        plain = prepared(plain, score=kind == "integer")
    found = list(_FINDERS[kind](plain))
    found = found if len(found) <= _MOST else [*found[:50], *found[50 - _MOST :]]
    symbols = symbols_of(plain, found)
    return symbols, weighed((*VALUE_ROWS, *ROWS_OF_KIND.get(kind, ())), symbols)


def _of_a_text(text: str, kind: Kind) -> list[Candidate]:
    """The candidates of a text that reasons, with what the text as a whole says of each."""
    symbols, candidates = _candidates(text, kind)
    asides = nothing.asides(symbols)
    for one in candidates:
        if any(start <= one.start < end for start, end in asides):
            one.evidence["in an aside"] = -35
    counted = {
        one.value
        for found, one in zip(symbols.found.values(), candidates, strict=True)
        if found.notion != "weak" and not one.evidence
    }
    least = _STATED + 1 if nothing.cannot(symbols) else 15.0 if len(counted) > 1 else 0.0
    for one in candidates:
        if one.support < least:
            one.support = 0.0
        _look_at(one, kind)
        if one.weight < _LEAST:
            one.discard("hardly stated")
    last = max((one.start for one in candidates if one.weight >= 30), default=-1)
    unfinished = nothing.is_unfinished(symbols)
    if unfinished or nothing.lacks(symbols, after=last):
        for one in candidates:
            one.support *= unfinished and one.cue == "answer"
    return candidates


def _look_at(one: Candidate, kind: Kind) -> None:
    """What the form of a candidate says: in bold, and a share where points are asked for."""
    if kind == "integer" and isinstance(one.value, Percentage):
        one.evidence["a share"] = -60
    around = one.text.rfind(BOLD, max(0, one.start - 50), one.start), one.text.find(BOLD, one.end, one.end + 50)
    if min(around) >= 0 and one.text.count(BOLD, 0, one.start) % 2 and not one.evidence:
        if one.support < _STATED:
            one.cue, one.support = "bold", _STATED
        one.evidence["in bold"] = 4


def content_value(content: str, kind: Kind) -> Reading:
    """The value that the content of an answer tag, a box or a key gives; a lone number needs no cue there.

    >>> content_value("4 of 9", "integer").value, content_value("83.3 %", "decimal").value
    (4.0, 83.3)
    """
    if len(content) > _MAX_CONTENT:
        return NOTHING
    text = tidied(content) if kind == "weeks_days" else unwrap(tidied(content))
    if kind == "decimal" and (fraction := fraction_value(text)) is not None:
        return Reading(fraction, "fraction")
    symbols, candidates = _candidates(text, kind)
    for one in candidates:
        _look_at(one, kind)
    reading = choose(one for one in candidates if one.weight > 5)
    if reading.value is None and candidates and (text[0].isdigit() or not nothing.cannot(symbols)):
        beside = {"operand", "range", "list"}
        left = [one for one in candidates if len(candidates) == 1 or not one.evidence.keys() & beside]
        if left:  # a score is whole: what is not is an input beside it
            first = min(left, key=lambda one: kind == "integer" and one.value % 1 > 0)
            return Reading(first.value, first.cue, tuple(candidates))
    return reading
