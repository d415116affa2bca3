"""Read the number, date or age that a text states as its answer."""

import math
from collections.abc import Callable, Iterable
from typing import Literal

from medtasks_utils.extraction.boxes import unwrap
from medtasks_utils.extraction.containers import containers_of, first_reading
from medtasks_utils.extraction.patterns import later
from medtasks_utils.extraction.plain import BOLD, tidied, unformatted
from medtasks_utils.extraction.weighing import NOTHING, Candidate, Reading, choose, rows, weighed
from medtasks_utils.extraction.words import Mention, Symbols, symbols_of

from . import no_result
from .dates import written_dates
from .durations import written_ages
from .quantities import Percentage, fraction_value, numbers, prepared

Kind = Literal["decimal", "integer", "date", "weeks_days"]

VALUE_ROWS = rows(
    """
A = [about the fill open eq colon so calc]*
G = (?:word|the|fill|about|calc|close|comma|result|to|open){0,6}?
U = (?:word|pct|close|op|the|line|result|day|week){0,3}
Q = [^ line result cand op]
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
-70 operand: @ (?=(?:word|close|the){0,3} (?:open [^ stop line close]{1,6} close)? op [^ line])
-70 operand: @ (?=(?:word|close){0,2} dash (?:open|the)* [cand input])
-70 range: cand (?:word|pct){0,2} (?:dash|about|to) @
-70 range: <cand> (?=(?:word|pct){0,2} to cand)
-45 range: (?:range|versus) ~4 @@
-90 list: @ (?=fill [cand weak])
-90 list: (?:^|line) @ (?=stop|close)
-30 input: input (?!close) [^ stop line cand result final gives]{0,3}? [is eq colon about]* @
44 it is: so {A} @ (?={U} (?:stop|line|$))
52 given as: (?:because|input) word because {A} @
56 right: @ (?=(?:word|pct){0,2} close? is [the fill]* right)
52 remains: result is (?:fill|word|the|about){0,5} (?:earlier|input) (?:input|word|the){0,3} [comma about]* @
-40 earlier: (?<!is the )(?<!is )earlier ~4 @@
-40 item: (?:^|line) (?:name? cand|dash)? [colon stop close]? {Q}{0,8}? (?:cand {Q}{0,6}?)? arrow @ (?=option|result)
-40 input: (?:eq cand (?:word|pct|op){0,3} comma or? [word input]{1,3})+ eq @
-40 input: eq @ (?=(?:word|pct|op){0,3} comma or? [word input]{1,3} eq)
-60 aged: @@ (?=[word dash]{0,3} old)
-45 supposed: if ~8 @@
    """
)
ROWS_OF_KIND = {
    "date": rows(
        "56 result: due [^ stop line cand input earlier]{0,8}? [is colon eq arrow gives about the fill open so]* @@"
    ),
    "integer": rows("-45 risk: risk [^ stop line cand text eq op]{0,6}? @@"),
}
_FINDERS: dict[str, Callable[[str], Iterable[Mention]]] = {
    "decimal": numbers,
    "integer": numbers,
    "date": written_dates,
    "weeks_days": written_ages,
}
_KEYS = ("answer", "result", "value", "final", "score", "total", "date")
_STATED = 44.0  # minimum weight of a value that is stated
_LEAST = 20.0  # candidates with a lower weight are discarded
_STATEMENTS = ("rounded", "bold", "answer", "headed", "leads", "therefore", "result")
_SAYS_SOMETHING = later(r"[^\W\d_]{3}|\d[-–‑]\d")  # in a key without a value: words or a range
_MAX_CONTENT = 1000  # maximum characters of a text that states a single value


def read_value(text: str, kind: Kind) -> Reading:
    """Read the value that a text states as its result.

    Args:
        text: the final text of a response.
        kind: the kind of value: decimals and integers are read as floats, dates as ``datetime.date``, and ages
            (``weeks_days``) as pairs (weeks, days).

    >>> read_value("It is 9.76 mg/dL (normal: 8.5-10.2).", "decimal").value
    9.76
    """
    return first_reading(text, lambda part: _read_part(part, kind))


def _read_part(text: str, kind: Kind) -> Reading:
    """Read a part of a response: its boxes, tags and keys or, if these hold no value, its text."""
    inside: list[Candidate] = []
    denied_by_key = False
    for container in containers_of(text, _KEYS):
        candidate = container.candidate(content_value(container.content, kind).value, text)
        if candidate:
            inside.append(candidate)
        elif container.cue == "key" and _SAYS_SOMETHING.search(container.content):
            inside, denied_by_key = [], True  # the answer's key says that there is no answer
    if inside:
        return choose(inside)
    return NOTHING if denied_by_key else _rounded(choose(_of_a_text(text, kind)))


def _rounded(reading: Reading) -> Reading:
    """Replace the value of a reading with its rounded form, if the text states that too."""
    if not isinstance(reading.value, float):
        return reading
    value = reading.value
    for candidate in reading.candidates:
        is_stated = candidate.weight >= _STATED and candidate.cue in _STATEMENTS
        if is_stated and _rounds(reading.value, candidate.value):
            value = candidate.value
    return reading._replace(value=value)


def _rounds(value: float, to: float) -> bool:
    """Return whether ``to`` is ``value`` rounded to fewer decimals, as 9 is of 8.96."""
    scale = 10.0 ** len(f"{to:.10g}".partition(".")[2])
    return value != to == math.floor(value * scale + 0.5) / scale


def _candidates(text: str, kind: Kind) -> tuple[Symbols, list[Candidate]]:
    """Return a text as symbols, and its candidates with their weights."""
    plain = unformatted(text, BOLD)
    if kind in ("decimal", "integer"):
        plain = prepared(plain, score=kind == "integer")
    symbols = symbols_of(plain, list(_FINDERS[kind](plain)))
    candidates = weighed((*VALUE_ROWS, *ROWS_OF_KIND.get(kind, ())), symbols)
    for candidate in candidates:
        if kind == "integer" and isinstance(candidate.value, Percentage):
            candidate.evidence["a share"] = -60
        _weigh_bold(candidate)
    return symbols, candidates


def _weigh_bold(candidate: Candidate) -> None:
    """Raise the support of a candidate in bold to that of a stated value, unless there is evidence against it."""
    text, start, end = candidate.text, candidate.start, candidate.end
    is_between = text.rfind(BOLD, max(0, start - 50), start) >= 0 and text.find(BOLD, end, end + 50) >= 0
    if is_between and text.count(BOLD, 0, start) % 2 and not candidate.evidence:
        if candidate.support < _STATED:
            candidate.cue, candidate.support = "bold", _STATED
        candidate.evidence["in bold"] = 4


def _of_a_text(text: str, kind: Kind) -> list[Candidate]:
    """Return the candidates of a text that contains reasoning.

    Their weights also depend on asides in the text, and on whether it has a result at all.
    """
    symbols, candidates = _candidates(text, kind)
    asides = no_result.asides(symbols)
    least = _STATED + 1 if no_result.cannot(symbols) else 0.0
    for candidate in candidates:
        if any(start <= candidate.start < end for start, end in asides):
            candidate.evidence["in an aside"] = -35
        if candidate.support < least or candidate.weight < _LEAST:
            candidate.discard("hardly stated")
    last = max((candidate.start for candidate in candidates if candidate.weight >= 30), default=-1)
    is_unfinished = no_result.is_unfinished(symbols)
    if is_unfinished or no_result.lacks(symbols, after=last):
        for candidate in candidates:
            if not is_unfinished or candidate.cue != "answer":
                candidate.discard("the text gives no result")
    return candidates


def content_value(content: str, kind: Kind) -> Reading:
    """Read the content of an answer tag, a box or a key, in which a number needs no cue.

    >>> content_value("4 of 9", "integer").value, content_value("83.3 %", "decimal").value
    (4.0, 83.3)
    """
    if len(content) > _MAX_CONTENT:
        return NOTHING
    text = tidied(content) if kind == "weeks_days" else unwrap(tidied(content))
    fraction = fraction_value(text) if kind == "decimal" else None
    if fraction is not None:
        return Reading(fraction, "fraction")
    symbols, candidates = _candidates(text, kind)
    reading = choose(candidates)
    if reading.value is not None or not candidates or (no_result.cannot(symbols) and not text[0].isdigit()):
        return reading
    beside = {"operand", "range", "list", "a share"}
    left = [candidate for candidate in candidates if len(candidates) == 1 or not candidate.evidence.keys() & beside]
    if not left:
        return reading
    # A score is a whole number; other numbers are inputs.
    first = min(left, key=lambda candidate: kind == "integer" and candidate.value % 1 > 0)
    return Reading(first.value, first.cue, tuple(candidates))
