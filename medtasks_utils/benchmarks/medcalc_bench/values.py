"""Read the number, date or age that a text states as its answer."""

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from medtasks_utils.extraction.boxes import unwrap
from medtasks_utils.extraction.containers import containers_of, corrected, first_reading, upheld
from medtasks_utils.extraction.nothing import loops
from medtasks_utils.extraction.patterns import later
from medtasks_utils.extraction.plain import BOLD, CALL_FORMS, is_bold, tidied, unformatted
from medtasks_utils.extraction.weighing import NOTHING, Candidate, Reading, choose, rows, weighed
from medtasks_utils.extraction.words import Mention, Symbols, symbols_of

from . import no_result
from .dates import written_dates
from .durations import written_ages
from .quantities import Percentage, calculation_value, fraction_value, numbers, prepared, signed

Kind = Literal["decimal", "integer", "date", "weeks_days"]

# The examples are read as decimals, unless their value is a date or an age.
VALUE_ROWS = rows(
    r"""
lead = [about the fill open eq colon so calc]*
unit = (word|close|op|the|line|result|day|week|about){0,3}
70 answer: (answer|final) {between} [is colon eq arrow gives]+ {lead} <any>
    102.86: It is 102.857.\n\n**Final answer:** 102.86 mL/min
between = (word|the|fill|about|calc|close|comma|result|to|open){0,6}?
66 headed: head+ [^ input stop line cand text]{0,3}? ((answer|final) ~4 colon?|result ~4 [colon is eq]) {lead} <any>
    2.39: 1455.8\n\n## Final result\n\n2.39
57 leads: ^ {lead} <cand text> (?={unit} (stop|line|open|comma|$))
    62: 62 kg, not = 64
57 leads: ^ {lead} <cand text> (?={unit} colon [^ line]* $)
    6: 6 points: failure (1), pressure (1), age (2), diabetes (1), and sex: 1
57 leads: ^ ~3 result [colon eq]+ {lead} <cand text> (?={unit} (stop|line|$))
    59.1: eGFR: 59.1\n\nFormula: eGFR = 142 × 1.6 × 1.012
76 calculated: result calc [^ stop line comma is]{1,12} is {lead} <cand text>
    59: The eGFR calculated with the 2021 creatinine equation is 59.
56 in a table: bar ~4 (result|final|due) {to the cell} (word comma)? [about the]* <cand text> (?=~3 bar)
    7: | Age | 2 |\n| Total | 7 |\n| Maximum | 9 |
to the cell = [^ stop line cand text bar]{0,8} bar (~3 bar)?
55 rounded: round ~8 [is gives colon eq about arrow to comma]* {lead} <cand text> (?!word? decimals)
    8: The score was 7 before. Rounded, 8. The maximum is 9.
55 therefore: so ~14 (open [^ line close]{1,8} close ~8)? [is eq gives colon]+ {lead} <any>
    14: So the infusion: 14. The bag is 20.
55 result: (result|gives) ~8 [is colon eq arrow gives]+ {lead} <any>
    62: The clearance is 62 mL/min. The half-life is 4.
55 equals: [eq arrow] {lead} <cand text>
    24.5: 24.489… ≈ 24.5 kg/m²
55 gives: [gives choose] [about the fill open eq colon so calc result]* <any>
    3: He scores 3 points out of a possible 9.
55 gives: gives [^ stop line comma cand text op eq]{1,6} about <any>
    4.6: With b = -1.209, this results in a GFR for the patient of 4.6.
46 verb last: <any> (?=word{0,3} is (stop|line|$))
    (22, 6): 그녀 22주 6일입니다.
46 counted: <any> (?=((about the*)? [cand weak])? {criteria} (open [^ line close]* close)? {criteria} met)
    2: 1. Age over 65: met. 2. Urea 9: not met. Therefore, two of the criteria are met.
criteria = [^ not comma colon stop line cand text open]{0,4}?
-60 in all: [cand weak] (about the*)? <any> (?=~12 met)
    3: Of these, 3 of the 4 criteria are met.
-60 in all: (^|stop|line) about the <any> (?=[word result]{1,4} comma [cand weak])
    2: Of the 8 criteria, 2 are met.
45 estimated: (but ~5|stop|comma) [about calc]+ the* <cand text>
    45: An exact value cannot be calculated, but it is approximately 45 mL/min.
44 is: is {lead} <any>
    -3.2: The base excess is negative 3.2 mEq/L.
40 colon: colon {lead} <cand text>
    2023-08-31: Date : 31 août 2023
48 result: result [the about open]* <any>
    6: HEART score 6
30 linked: [about to] <cand text>
    120.9: HDL 40, TG 100. Resulted in approximately 120.9.
45 alone: ^ {lead} <cand weak> (?={unit} stop* $)
    6: six
-70 operand: <cand text> (?=(word|close|the){0,3} (open [^ stop line close]{1,6} close)? op [^ line])
    4: So 2 (age ≥ 75) + 1 (female) + 1 (hypertension) = 4 points.
-70 operand: <cand text> (?=(word|close){0,2} dash (open|the)* [cand input])
    none: The normal range is 8.5–10.2 mg/dL.
-70 range: cand word{0,2} (dash|about|to) <cand text>
    none: <answer>1.5 to 2.0</answer>
-70 range: <cand> (?=word{0,2} to cand)
    none: <answer>1.5 to 2.0</answer>
-70 one of two: cand or <cand text>
    none: <answer>12 or 14</answer>
-70 one of two: <cand text> (?=or (cand|range))
    none: <answer>12 or 14</answer>
-45 range: (range|versus) [^ stop line cand text close]{0,4}? <any>
    141: The result is 141. It is a normal value: 4
-90 list: <cand text> (?=fill [cand weak])
    2: <answer>eGFR 8.1 then 2.00</answer>
-90 list: <cand text> (?=close [^ close open line]{1,12} cand close)
    none: Two are missing: 1) the age, 2) the urea.
-90 list: (^|line) <cand text> (?=(stop|close) (?!$|line))
    2: 1. Age over 65: met. 2. Urea 9: not met. Therefore, two of the criteria are met.
-30 input: input (?!close) [^ stop line cand result final gives so digits]{0,3}? [is eq colon about]* <cand text>
    none: The glucose is 90.
-30 listed: ({quantity} cand {unit} stop?)+ {quantity} <cand text>
    none: CrCl = (140 - age) × weight / (72 × creatinine)\nAge = 66\nSerum creatinine = 1.2
-30 listed: {quantity} <cand text> (?={unit} stop? {quantity} cand)
    none: CrCl = (140 - age) × weight / (72 × creatinine)\nAge = 66\nSerum creatinine = 1.2
quantity = line dash? word? input [eq colon]
44 it is: so {lead} <cand text> (?={unit} (stop|line|$))
    (8, 2): That is 8 weeks and 1 day. Wait, March has 31 days, so it is 8 weeks and 2 days.
52 given as: (because|input) word because {lead} <cand text>
    72: The diastolic pressure is given explicitly as 72 mg/dL.
56 right: <cand text> (?=word{0,2} close? is [the fill]* right)
    64: Two pressures are given. The supine value (64 mmHg) is appropriate.
52 remains: result is (fill|word|the|about){0,5} (earlier|input) (input|word|the){0,3} [comma about]* <cand text>
    56.8: The patient is underweight, so the adjusted weight remains the actual weight of 56.8 kg.
-40 earlier: (?<!is the )(?<!is )earlier ~4 <any>
    none: The previous dose is 130.
-40 item: (^|line) (name? cand|dash)? [colon stop close]? {terms} arrow <cand text> (?=option|result)
    none: Step 1: Age 65 → 1 point\nStep 2: Urea 9 → 1 point\nStep 3: no confusion → 0 points
terms = [^ line result cand op]{0,8}? (cand [^ line result cand op]{0,6}?)?
-40 input: (eq cand {next input})+ eq <cand text>
    none: LDL = TC - HDL - (TG/5). TC = 200, HDL = 50, TG = 150.
-40 input: eq <cand text> (?={next input} eq)
    none: LDL = TC - HDL - (TG/5). TC = 200, TG = 150.
next input = (word|op){0,3} comma or? [word input]{1,3}
-60 aged: <any> (?=[word dash]{0,3} old)
    none: The patient is 63 years old.
-45 supposed: (?<![result answer due the])if (?!is) [^ stop line comma cand text]{0,8}? <any>
    none: The rate of some hospitals is 5.
-45 supposed: due if (?!is) ~8 <any>
    2023-10-22: A DPP é 22 de outubro de 2023. A concepção teria sido em 29 de janeiro de 2023.
-45 supposed: if is [the about]* <any> (?=word{0,4} if)
    none: The score would be 5 if the troponin were high.
-45 supposed: if [^ stop line]* if is <any>
    none: If the weight were 70 kg, the index would be 22.
    """
)
ROWS_OF_KIND = {
    "weeks_days": rows(
        r"""
44 in full: digits week [open eq arrow comma or so is about]+ <cand>
    (27, 4): It lasted 27.57 weeks (27 weeks, 4 days).
        """
    ),
    "date": rows(
        r"""
56 result: due [^ stop line cand input earlier]{0,8}? [is colon eq arrow gives about the fill open so]* <any>
    2023-11-02: EDD 2 Nov 2023
        """
    ),
    "integer": rows(
        r"""
46 counted: meet [the about]* <any>
    2: The patient meets two of the four criteria.
55 gives: gives ~3 <any> (?=result (?!because))
    3: This gives the patient 3 points.
-60 part: <cand> (?=because ~6 cand because)
    3: He scores 1 for pressure and 2 for age, so 3.
56 in all: <any> (?=result? word result (stop|line|comma|$))
    3: He gets 1 point for his age and 2 points for the stroke, 3 points in total.
82 in brackets: (^|stop|line) ~8 open result? <any> result? close (stop|line)* $
    11: This is Child-Pugh class C (11 points).
46 points: so ~4 <any> (?=result (?!because))
    5: She therefore has 5 points, i.e. the risk is 7%.
-40 item: (^|line|colon) dash? {first item} colon <cand text> (?={points} line dash? {item} colon cand {points})
    none: - Heart failure: 1 point\n- Diabetes: 2 points
-40 item: (colon cand {points} line dash? {item})+ colon <cand text> (?={points} (line|$))
    none: - Heart failure: 1 point\n- Diabetes: 2 points
item = [^ line result answer final gives so fill]{1,8}?
points = (option|result) stop?
first item = [^ line answer final gives so]{0,7}? [^ line result option answer final gives so close]
-45 risk: risk [^ stop line cand text eq op]{0,6}? <any>
    none: The mortality is 12.
        """
    ),
}
_KEYS = ("answer", "result", "value", "final", "score", "total", "date")
_IN_QUOTES = later(r"(?<!\w)'(-?\d[^'\n]{0,30})'(?!\w)")  # as in ('4 weeks', '3 days'), unlike 5'11
_STATED = 44.0  # minimum weight of a value that is stated
_LEAST = 20.0  # candidates with a lower weight are discarded
_STATEMENTS = ("rounded", "bold", "answer", "headed", "leads", "therefore", "result")
# Code and calls of tools, whose numbers are inputs; their output follows them.
_CODE = later(
    r"```(?:(?!(?:json|text|txt|output|plain|markdown|md|latex|math)\b)[a-z+]{1,12}\s"
    r"|(?=[^`]{0,4000}?\b(?:print\(|import\s|def\s|return\s)))[^`]*(?:```|\Z)"
    rf"|{CALL_FORMS}",
    re.IGNORECASE,
)
_UNFENCED = later(  # lines of code, up to the last that prints
    r"^(?:[ \t]*(?:[a-z_]\w*\s?[-+*/]?=[^=]|def |import |from |if |elif |else:|for |return |#).*\n+){1,60}"
    r"[ \t]*print\(.*$",
    re.MULTILINE | re.IGNORECASE,
)
_NO_CRITERION = later(r"\bnone of (?:the|these)(?= (?:\S+ ){0,4}criteria\b)", re.IGNORECASE)
_LEADING_MINUS = later(r"\A\s*[-–−]\s{1,2}(?=\.?\d)")
_STATED_BEFORE_CODE = ("box", "tag", "key", "answer", "headed")
_QUANTITIES = (  # those from which others are calculated
    "(?:ideal|target)(?: body)? weight|ibw",
    "adjusted (?:body )?weight|abw",
    "weight",
    "height",
    "bmi|body mass (?:mass )?index",
    "bsa|body surface area",
    "map|mean arterial pressure",
    "anion gap",
    "delta gap",
    "r-?r interval",
    "has-bled",
    "cha[2₂]ds[2₂].?vasc",
)
_UNITS = (  # as written in prepared texts
    "ml (?:per )?min(?:ute)?",
    "ml (?:per )?h(?:our)?",
    "ml (?:per )?day",
    "ml",
    "l(?:it(?:er|re)s?)?",
    "mg (?:per )?dl",
    "mmol (?:per )?l",
    "ms(?:ec)?|milliseconds?",
    "s(?:ec(?:onds?)?)?",
    "kg|kilograms?",
    "lbs?|pounds?",
    "mm ?hg",
    "kpa",
    "cm|centimet(?:er|re)s?",
)
_CONVERTED = 20  # maximum characters from a value to its conversion to a different unit
_UNIT = later(rf"[\s{BOLD}]{{0,3}}(?<![a-z])(?:{'|'.join(f'({unit})' for unit in _UNITS)})(?![a-z])", re.IGNORECASE)
_IN_UNIT = later(r"\bin (?:terms of )?(mm Hg|[^\s,;?()]+)")
_NAMED_BEFORE = later(
    rf"\b(?:{'|'.join(f'({quantity})' for quantity in _QUANTITIES)})\b"
    r"(?: ?\([a-z]{2,5}\))?[^.;:=≈()\n\d]{0,24}[=≈:]?\s*$",
    re.IGNORECASE,
)
_SAYS_SOMETHING = later(r"[^\W\d_]{3}|[<>≥≤]|\d[-–‑]\d|\bor\b|\A(?=\D*\Z)\s*\S")  # words, a bound, a range, or a sign
_BOUND = later(r"\s*(?:[<>≥≤]|(?:greater|more|less) than\b)", re.IGNORECASE)
_MAX_CONTENT = 1000  # maximum characters of a text that states a single value


def read_value(text: str, kind: Kind, question: str = "") -> Reading:
    """Read the value that a text states as its result. A weight or BMI is not a result unless the question asks for it.

    Decimals and integers are read as floats, dates as ``datetime.date``, and ages (``weeks_days``) as pairs (weeks,
    days).

    >>> read_value("It is 9.76 mg/dL (normal: 8.5-10.2).", "decimal").value
    9.76
    """
    if "print(" in text:
        text = _UNFENCED.sub("```python\n```", text)
    code = [match.end() for match in _CODE.finditer(text)]
    after = first_reading(text[code[-1] :] if code else text, lambda part: _read_part(part, kind, question))
    if not code or after.value is not None:
        return after
    before = first_reading(_CODE.sub(" ", text), lambda part: _read_part(part, kind, question))
    return before if before.cue in _STATED_BEFORE_CODE else after


def _read_part(text: str, kind: Kind, question: str) -> Reading:
    """Read a part of a response: its boxes, tags and keys or, if none of them has content, its text.

    If a container has words but no value, as a placeholder does, or a bound such as ">60", there is no answer, unless a
    container with a value follows.
    """
    inside: list[Candidate] = []
    is_denied = False
    for container in containers_of(text, _KEYS):
        is_bound = _BOUND.match(container.content)
        value = None if is_bound else content_value(container.content, kind, question).value
        candidate = container.candidate(value, text)
        if candidate:
            inside.append(candidate)
        elif _SAYS_SOMETHING.search(container.content):
            inside, is_denied = [], True  # its content is a placeholder, or says that there is no answer
    inside, rest = upheld(inside, text)
    if inside:
        return corrected(inside, text, lambda part: _read_part(part, kind, question))
    return NOTHING if is_denied else _rounded(choose(_of_a_text(rest, kind, question)))


def _rounded(reading: Reading) -> Reading:
    """Replace the value of a reading with its rounded form, if the text also states the rounded form."""
    if not isinstance(reading.value, float):
        return reading
    value = reading.value
    for candidate in reading.candidates:
        is_stated = candidate.weight >= _STATED and candidate.cue in _STATEMENTS
        if is_stated and _rounds(reading.value, candidate.value):
            value = candidate.value
    return reading._replace(value=value)


def _rounds(value: float, to: float) -> bool:
    """Return whether ``to`` is ``value`` rounded to fewer decimals; 9 is a rounded 8.96."""
    scale = 10.0 ** len(f"{to:.10g}".partition(".")[2])
    return value != to == math.floor(value * scale + 0.5) / scale


def _candidates(text: str, kind: Kind, question: str) -> tuple[Symbols, list[Candidate]]:
    """Return a text as symbols, and its weighted candidates, in the unit that the question asks for."""
    plain = _IN_QUOTES.sub(r"\1", unformatted(signed(text), keep=BOLD))
    if kind in ("decimal", "integer"):
        plain = prepared(plain, score=kind == "integer")
        mentions = numbers(plain)
        if kind == "integer":
            mentions += [Mention(0.0, *none.span(), "weak") for none in _NO_CRITERION.finditer(plain)]
    else:
        find = written_dates if kind == "date" else written_ages
        mentions = [*find(plain.replace(BOLD, " "))]
    symbols = symbols_of(plain, mentions)
    candidates = weighed((*VALUE_ROWS, *ROWS_OF_KIND.get(kind, ())), symbols)
    for first, second in pairwise(candidates):
        is_share = kind == "decimal" and isinstance(second.value, Percentage)
        if is_share and math.isclose(100 * first.value, second.value, rel_tol=0.01):
            first.value = second.value  # "0.114 (11.4%)"
        if isinstance(first.value, float) and (first.value == second.value or _rounds(first.value, second.value)):
            first.evidence.pop("one of two", None)
    for candidate in candidates:
        if kind == "integer" and isinstance(candidate.value, Percentage):
            candidate.evidence["a share"] = -60
        if is_bold(plain, candidate.start, candidate.end) and not candidate.evidence:
            if candidate.support < _STATED:
                candidate.cue, candidate.support = "bold", _STATED
            candidate.evidence["in bold"] = 4
    _prefer_unit(_unit_asked_for(question), candidates, symbols.text)
    return symbols, candidates


def _of_a_text(text: str, kind: Kind, question: str) -> list[Candidate]:
    """Return the candidates of a text that contains reasoning.

    Their weights also depend on asides in the text, and on whether the text has a result at all.
    """
    symbols, candidates = _candidates(text, kind, question)
    asides = no_result.asides(symbols)
    least = _STATED + 1 if no_result.cannot(symbols) else 0.0
    asked = question[question.lower().find("what") :].partition("?")[0]
    for candidate in candidates:
        named = _NAMED_BEFORE.search(symbols.text[max(0, candidate.start - 60) : candidate.start]) if asked else None
        if named and not re.search(_QUANTITIES[(named.lastindex or 1) - 1], asked, re.IGNORECASE):
            candidate.evidence["another quantity"] = -40
        if any(start <= candidate.start < end for start, end in asides):
            candidate.evidence["in an aside"] = -35
        if candidate.support < least or candidate.weight < _LEAST:
            candidate.discard("hardly stated")
    last = max((candidate.start for candidate in candidates if candidate.weight >= 30), default=-1)
    is_unfinished = no_result.is_unfinished(symbols)
    finished = ("answer",) if loops(symbols.text) else ("answer", "leads")
    if is_unfinished or no_result.lacks(symbols, after=last):
        for candidate in candidates:
            if not is_unfinished or candidate.cue not in finished:
                candidate.discard("the text gives no result")
    return candidates


def _prefer_unit(asked: int | None, candidates: Sequence[Candidate], text: str) -> None:
    """Lower the weight of values in a different unit than the question asks for, if other values have that unit.

    A value directly before its conversion to the requested unit, as in "0.41 s (410 ms)", is replaced by the converted
    value instead.

    Args:
        asked: the requested unit, as :func:`_unit` returns it; if it is None, nothing is changed.
        candidates: the candidates, in order.
        text: the text that contains the candidates.
    """
    units = [_unit(_UNIT.match(text, candidate.end)) for candidate in candidates]
    if asked is None or asked not in units:
        return
    for at, (candidate, unit) in enumerate(zip(candidates, units, strict=True)):
        is_converted = units[at + 1 : at + 2] == [asked] and candidates[at + 1].start - candidate.end < _CONVERTED
        if unit not in (None, asked) and is_converted:
            candidate.value = candidates[at + 1].value
        elif unit not in (None, asked):
            candidate.evidence["another unit"] = -60


def _unit_asked_for(question: str) -> int | None:
    """Return the number of the unit in :data:`_UNITS` that a question asks for; None for a different unit, or none."""
    asked = (_UNIT.fullmatch(prepared(unit.rstrip("."))) for unit in _IN_UNIT.findall(question))
    return next(filter(None, map(_unit, asked)), None)


def _unit(match: re.Match[str] | None) -> int | None:
    """Return the number of the unit in :data:`_UNITS` that a match of :data:`_UNIT` names; None without a match."""
    return match.lastindex if match else None


def content_value(content: str, kind: Kind, question: str = "") -> Reading:
    """Read the content of an answer tag, a box or a key, where a number is an answer without a cue.

    No value is read from a content of more than 1,000 characters.

    >>> content_value("4 of 9", "integer").value, content_value("83.3 %", "decimal").value
    (4.0, 83.3)
    """
    if len(content) > _MAX_CONTENT:
        return NOTHING
    content = _LEADING_MINUS.sub("-", content)
    text = tidied(content) if kind == "weeks_days" else unwrap(tidied(content))
    calculated = fraction_value(text) if kind == "decimal" else None
    if calculated is None and kind in ("decimal", "integer"):
        calculated = calculation_value(text)
    if calculated is not None:
        return Reading(calculated, "calculation")
    symbols, candidates = _candidates(text, kind, question)
    reading = choose(candidates)
    if reading.value is not None or not candidates or (no_result.cannot(symbols) and not text[0].isdigit()):
        return reading
    beside = {"operand", "range", "list", "a share", "one of two"}
    left = [candidate for candidate in candidates if len(candidates) == 1 or not candidate.evidence.keys() & beside]
    if not left:
        return reading
    # A score is a whole number; other numbers are inputs.
    first = min(left, key=lambda candidate: kind == "integer" and candidate.value % 1 > 0)
    return Reading(first.value, first.cue, tuple(candidates))
