"""Which of the numbers, dates or ages in a text is the one that it states as its answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Literal

from medtasks_utils.extraction import nothing
from medtasks_utils.extraction.boxes import unwrap
from medtasks_utils.extraction.dates import written_dates
from medtasks_utils.extraction.durations import written_ages
from medtasks_utils.extraction.holders import held, without_instructions
from medtasks_utils.extraction.plain import own_parts, stated, tidied, unformatted, without_steps
from medtasks_utils.extraction.quantities import numbers, prepared
from medtasks_utils.extraction.weighing import NOTHING, Candidate, Reading, Row, choose, weighed
from medtasks_utils.extraction.words import Found, symbols_of

Kind = Literal["decimal", "integer", "date", "weeks_days"]

_A = "[about the fill open eq colon so calc]*"  # what may stand between a link and its value
_U = "(?:word|pct|close|op|the|line){0,3}"  # a unit
TABLE = (
    Row("answer", 70, f"(?:answer|final) ~6 [is colon eq arrow gives]+ {_A} @@"),
    Row("rounded", 55, f"round ~8 [is gives colon eq about arrow to comma]* {_A} @ (?!word? decimals)"),
    Row("therefore", 55, f"so ~14 [is eq gives colon]+ {_A} @@"),
    Row("result", 55, f"(?:result|gives) ~8 [is colon eq arrow gives]+ {_A} @@"),
    Row("equals", 55, f"[eq arrow] {_A} @"),
    Row("gives", 55, f"gives {_A} @@"),
    Row("counted", 55, "so ~3 @@ (?=~3 met)"),
    Row("counted", 46, "@@ (?=~3 met)"),
    Row("is", 44, f"is {_A} @@"),
    Row("colon", 40, f"colon {_A} @"),
    Row("result of", 38, "result [about the to]+ @"),
    Row("linked", 30, "[about to] @"),
    Row("alone", 45, f"(?:^|line) {_A} @ (?={_U} (?:stop|close)* (?:line|$))"),
    Row("mention", 5, "@"),
    Row("operand", -70, "@ (?=(?:word|close|the){0,3} op [^ line])"),
    Row("operand", -70, "op open* @"),
    Row("operand", -70, "@ (?=(?:word|close){0,2} dash (?:open|the)* cand)"),
    Row("range", -70, "cand (?:word|pct){0,2} (?:dash|about|to) @"),
    Row("range", -60, "cmp eq? @"),
    Row("range", -45, "range ~4 @@"),
    Row("risk", -45, "risk ~6 @@"),
    Row("risk", -35, "@@ (?=pct? ~3 risk)"),
    Row("list", -90, "(?:^|line) @ (?=stop|close)"),
    Row("step", -70, "step @"),
    Row("input", -30, "input ~3 [is eq colon about]* @"),
    Row("earlier", -40, "earlier ~4 @@"),
    Row("aside", -30, "cand ~3 open ~2 @"),
    Row("converted", -20, "cand word{1,3} eq @ (?=word)"),
    Row("age", -40, "@ (?=[word dash]{0,2} old)"),
    Row("not", -50, "not [the fill about]* @@"),
    Row("supposed", -30, "if ~8 @@"),
)
_FINDERS: dict[str, Callable[[str], Iterable[Found]]] = {
    "decimal": numbers,
    "integer": numbers,
    "date": written_dates,
    "weeks_days": written_ages,
}
_MAX_CONTENT = 1000  # characters; a longer text states no single value
_MOST = 250  # candidates


def read_value(
    text: str, kind: Kind, keys: Sequence[str] = ("answer", "result", "value", "final"), asked: str = ""
) -> Reading:
    """The value that a text states as its result; ``asked`` is the question, where it is at hand.

    >>> read_value("It is 9.76 mg/dL (normal: 8.5-10.2).", "decimal").value
    9.76
    """
    reading = NOTHING
    for part in own_parts(without_instructions(tidied(stated(text)))):
        reading = _read_part(part, kind, keys, asked)
        if reading.value is not None:
            break
    return reading


def _read_part(text: str, kind: Kind, keys: Sequence[str], asked: str) -> Reading:
    steps, rest = without_steps(text)
    holders, rest = held(rest, (*keys, "score", "total", "date"))
    inside = []
    for holder in holders:
        value = content_value(holder.content, kind, asked).value
        if value is not None:
            inside.append(Candidate(value, holder.start, holder.end, text, holder.cue, 100.0))
        elif holder.cue == "key" and re.search(r"[^\W\d_]{3}", holder.content):
            return NOTHING  # the answer's own key says that there is none
    if inside:
        return choose(inside)
    for own in (rest, steps):
        candidates = _candidates(own, kind)
        if candidates:
            return _rounded(choose(candidates))
    return NOTHING


def _rounded(reading: Reading) -> Reading:
    """The reading as the text rounds it after it is stated."""
    if not isinstance(reading.value, float):
        return reading
    best = max((one for one in reading.candidates if one.value == reading.value), key=lambda one: (one.weight, one.start))
    for one in reading.candidates:
        near = "\n" not in best.text[best.end : one.start] and one.start - best.end < 160
        if one.start > best.end and one.weight > 0 and (near or one.cue == "rounded") and _rounds(best.value, one.value):
            reading = replace(reading, value=one.value)
    return reading


def _rounds(value: float, to: float) -> bool:
    """Whether the second is the first with fewer decimals: rounded (8.96 and 9), or cut off (143.28 and 143.2)."""
    decimals = len(f"{to:.10g}".partition(".")[2])
    return value != to and abs(value - to) < (10.0**-decimals if decimals else 0.51)


def _candidates(text: str, kind: Kind, stated_outright: bool = True) -> list[Candidate]:
    is_number = kind in ("decimal", "integer")
    plain = unformatted(text)
    plain = prepared(plain, score=kind == "integer") if is_number else plain
    found = list(_FINDERS[kind](plain))
    found = found if len(found) <= _MOST else [*found[:50], *found[50 - _MOST :]]
    symbols = symbols_of(plain, found)
    candidates = weighed(TABLE, symbols)
    if stated_outright and nothing.is_unfinished(plain, symbols):
        return [one if one.cue == "answer" else replace(one, support=0.0) for one in candidates]
    return candidates


def content_value(content: str, kind: Kind, asked: str = "") -> Reading:
    """The value that the content of an answer tag, a box or a key gives; a lone number needs no cue there.

    >>> content_value("4 of 9", "integer").value, content_value("83.3 %", "decimal").value
    (4.0, 83.3)
    """
    if len(content) > _MAX_CONTENT:
        return NOTHING
    candidates = _candidates(unwrap(tidied(content)), kind, False)
    reading = choose(one for one in candidates if one.weight > 5)
    if reading.value is None:
        left = [one for one in candidates if not {name for name, _ in one.evidence} & {"operand", "range", "list"}]
        return Reading(left[-1].value, left[-1].cue, tuple(candidates)) if left else reading
    return reading
