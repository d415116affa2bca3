"""Which of the numbers, dates or ages in a text is the one that it states as its answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal

from medtasks_utils.extraction import cues
from medtasks_utils.extraction.boxes import unwrap
from medtasks_utils.extraction.dates import written_dates
from medtasks_utils.extraction.durations import written_ages
from medtasks_utils.extraction.holders import Holder, held
from medtasks_utils.extraction.plain import one_script, without_next_question
from medtasks_utils.extraction.quantities import BOLD, Found, Percentage, numbers, prepared
from medtasks_utils.extraction.tags import unclosed_tag
from medtasks_utils.extraction.weighing import (
    NOTHING,
    Candidate,
    Reading,
    Rule,
    bounded,
    choose,
    taken_back_until,
    weigh,
)

Kind = Literal["decimal", "integer", "date", "weeks_days"]

_RESULT, _TOTAL, _EQUALS, _ABOUT, _NORMAL, _RISK, _COMPARED, _GIVEN = map(
    cues.any_word,
    (cues.RESULT, cues.TOTAL, cues.EQUALS, cues.ABOUT, cues.NORMAL, cues.RISK, cues.COMPARED, cues.GIVEN),
)
_JOINED = rf"(?:{_EQUALS})\s?(?:{_ABOUT}){{0,8}}$"
_AFTER_RESULT = re.compile(rf"{_RESULT}(?:[^\n=≈:]{{0,60}}?){_JOINED}|{_RESULT}\s?(?:{_ABOUT}){{0,4}}$")
_AFTER_TOTAL = re.compile(rf"{_TOTAL}(?:[^\n=≈:]{{0,40}}?){_JOINED}|{_TOTAL}\s?(?:{_ABOUT}){{0,4}}$")
_AFTER_LINK = re.compile(_JOINED)
_LINE_START = re.compile(
    rf"(?:^|\n)[\s>#*\-•✅→|(\[<≈~=+{BOLD}]{{0,8}}(?i:about|approx(?:imately|\.)?|ca\.|circa|roughly)?\s?$"
)
_FINAL = re.compile(
    r"(?i:\b(?:final|therefore|thus|hence|conclusion|so)\b|\b(?:daher|somit|donc|por\s(?:lo\s)?tanto|portanto|quindi|итак)\b|"
    r"最终|因此|したがって|따라서|최종|अंतिम|النهائية)"
)
_ASIDE_HEADING = re.compile(
    r"^[\s>#*\-_⚠️\x01]{0,8}(?:clinical|interpretation|notes?\b|reference|important|context|explanation|reasoning|rationale|for\s(?:reference|comparison)"
    r"|score\sbands|risk|normal|category|stage|staging|next\sstep|recommendation|significance|a\sfew\snotes|caveats?)",
    re.IGNORECASE,
)
_RESULT_HEADING = re.compile(
    r"^[\s>#*\-_✅\x01]{0,8}(?:final|result|answer|total|conclusion|calculation)", re.IGNORECASE
)

_MENTIONS = ("mention", "bold")
_BEFORE = 90  # characters


def _before(candidate: Candidate) -> str:
    """The candidate's sentence up to it, without the marks of bold text."""
    stretch = candidate.text[max(0, candidate.start - _BEFORE) : candidate.start].replace(BOLD, "")
    return re.split(r"\n|(?<=[a-zа-я)%\d][.;!?])\s|[。；！？]", stretch)[-1]


def _clause(candidate: Candidate) -> str:
    """The same from the last comma, bracket or "while" on."""
    return re.split(r"[,;(（،]\s?|\b(?:while|whereas|but|here|this\spatient|so)\b", _before(candidate))[-1]


def _after(candidate: Candidate) -> str:
    return candidate.text[candidate.end : candidate.end + _BEFORE].replace(BOLD, "").split("\n", 1)[0]


# ---- evidence

_UNIT = r"\s?(?:[A-Za-zµ°%²³/\-]{1,12}(?:\s?/\s?[A-Za-z.\d²]{1,8})?)?"
_RANGE_BEFORE = re.compile(rf"\d{_UNIT}\s?(?:-|(?i:to|bis|à|a|al?|до|إلى|से|至|through|e|y|et|und|and))\s?$")
_RANGE_AFTER = re.compile(rf"{_UNIT}\s?(?:-|(?i:to|bis|à|a|до|إلى|से|至))\s?-?\d")
_BETWEEN = re.compile(r"(?i:between|from|ranges?|entre|zwischen|tra|между|either|von|de)\s{1,2}[^\d\n]{0,12}$")
_BETWEEN_AFTER = re.compile(rf"{_UNIT}\s(?i:and|or|to|und|et|y|e|и)\s-?\d")
_OPERATOR_AFTER = re.compile(
    r"\s?[A-Za-z%/²³]{0,12}\s?\)?\s?(?:[×÷^*√]|[+](?!\s?/)|-\s?\(|-\s?\d|/\s?[\d(√a-zA-Z][^=\n]{0,60}=|/\s?\()"
)
_OPERATOR_BEFORE = re.compile(r"(?:[×÷^*√/]\s?[(\[]{0,2}|[\d)]\s?[+\-]\s?[(\[]{0,2}|[×÷+*/-]\s?[(\[]|√\()$")
_CONTINUED = re.compile(r"[^\n,;.]{0,24}?\s?[=≈→]\s?[A-Za-z\s]{0,12}-?[\d.√(]")
_COMPARED_BEFORE = re.compile(rf"(?:[<>≤≥≧≦]\s?|{_COMPARED}\s?(?:{_ABOUT}){{0,3}})$")
_THRESHOLD_AFTER = re.compile(
    r"[^\n,;.()=]{0,24}?\b(?:or|and)\s(?:more|higher|above|greater|less|below|lower|over|older)\b"
    r"|\s?(?:points?\s)?(?:is\s|being\s)?the\s(?:max|min|upper|lower|thresh|cut|norm)|[^\n]{0,3}(?:이상|以上|及以上|以下)|\s?\+(?=\s|$)",
    re.IGNORECASE,
)
_NORMAL_BEFORE = re.compile(_NORMAL)
_RISK_BEFORE = re.compile(_RISK)
_RISK_AFTER = re.compile(rf"[^\n,;.()]{{0,24}}?{_RISK}")
_A_YEAR_AFTER = re.compile(
    r"\s?(?:points?\s)?(?:/|per|a|pro|par|al|por|all['’]|в)\s?(?:year|yr|annum|100|jahr|an|año|ano|anno|год)\b",
    re.IGNORECASE,
)
_NAMED_BEFORE = re.compile(
    r"(?i:\b(?:class|stage|grade|step|type|category|phase|level|group|version|factor|item|criterion|criteria|option|age[ds]?|day|table|figure|part|ckd|bmi\sclass|vitamin|page|row|ref))\s?[:#]?\s?[A-Z]?$"
)
_TIME_AFTER = re.compile(
    r"[\s-]{0,2}(?:hours?|hrs?|days?|weeks?|months?|years?|minutes?|mins?|patients|steps|labs|year-old|yo)\b",
    re.IGNORECASE,
)
_OF_BEFORE = re.compile(
    r"\d\s?(?:points?\s)?[(\[]?(?:/|out\sof(?:\sa)?(?:\s(?:possible|maximum|total))?(?:\sof)?|of(?:\sa)?(?:\smaximum|\stotal|\spossible)?(?:\sof)?|von|sur|su|de|из|من|में\sसे)\s?(?:maximal\s|max\.?\s)?$",
    re.IGNORECASE,
)
_OUT_OF_AFTER = re.compile(r"(?:\spoints?)?\s?(?:/\s?\d|out\sof|of\s(?:a\s)?(?:\d|max|poss|total))", re.IGNORECASE)
_RESTATED = re.compile(
    r"\d[^\d\n]{0,30}?(?i:\bi\.?e\.?,?|\bequivalent\sto|\bor\b|\bin\sother\swords|\bwhich\sis|\bcorrespond\w{0,4}\sto|\bequal\sto|\bsoit\b|\bd\.\s?h\.)[^\d\n]{0,20}$"
)
_POINTS_AFTER = re.compile(r"\s?(?:points?|pts?\b|punkte?|puntos|pontos|punti|балл|点|分|점|نقا|अंक)", re.IGNORECASE)
_TENTATIVE = cues.compiled(cues.TENTATIVE)


def list_number(candidate: Candidate) -> bool:
    """ "3. Divide by …", "Step 3:", "Day 3", "stage 3"."""
    line = candidate.text[max(0, candidate.start - 12) : candidate.start].rsplit("\n", 1)[-1]
    counted = not line.strip(f" \t>#*-{BOLD}") and re.match(r"[.)]\s", _after(candidate)) is not None
    return counted or bool(_NAMED_BEFORE.search(_before(candidate)))


def in_a_range(candidate: Candidate) -> bool:
    """ "8.5–10.2", "between 20 and 30", "0 to 9"."""
    before, after = _before(candidate), _after(candidate)
    if re.search(r"[=≈]\s?-?\d[^=≈]*$", before) and re.match(r"\s?$", after) and "-" in before[-3:]:
        return False
    words = _BETWEEN.search(before) and _BETWEEN_AFTER.match(after)
    second = _RANGE_BEFORE.search(before)
    if second and re.search(r"(?i)\b(?:a|al|à|e|y|et|und|and)\s?$", second[0]):
        second = _BETWEEN.search(before[: second.start()]) or _NORMAL_BEFORE.search(_clause(candidate))
    return bool(words or second or _RANGE_AFTER.match(after))


def in_a_formula(candidate: Candidate) -> bool:
    """ "72 × 1.24", "(140 − 66) / …"."""
    before, after = _before(candidate), _after(candidate)
    opened = before.endswith("(") and re.match(r"\s?[+-]\s", after)
    return bool(opened or _OPERATOR_AFTER.match(after) or _OPERATOR_BEFORE.search(before))


def worked_on(candidate: Candidate) -> bool:
    """ "24.489 ≈ 24.5": the first of the two."""
    return bool(_CONTINUED.match(_after(candidate)))


def compared_with(candidate: Candidate) -> bool:
    """ "> 2.67", "above 30", "65 or more"."""
    return bool(_COMPARED_BEFORE.search(_before(candidate)) or _THRESHOLD_AFTER.match(_after(candidate)))


def called_normal(candidate: Candidate) -> bool:
    """ "normal: 8.5", "the upper limit of normal is 10.2", "満点は9"."""
    return bool(_NORMAL_BEFORE.search(_clause(candidate)))


def a_risk(candidate: Candidate) -> bool:
    """ "mortality of 9.3 %", "4.8 % per year"."""
    after = _after(candidate)
    share = isinstance(candidate.value, Percentage) and _RISK_AFTER.match(after)
    return bool(_RISK_BEFORE.search(_clause(candidate)) or share or _A_YEAR_AFTER.match(after))


def a_time(candidate: Candidate) -> bool:
    """ "in 6 months", "within 48 hours", "249 patients"."""
    return bool(_TIME_AFTER.match(_after(candidate)))


def a_year(candidate: Candidate) -> bool:
    """ "CKD-EPI 2021", "published in 1976"."""
    digits = candidate.text[candidate.start : candidate.end].strip()
    return bool(re.fullmatch(r"(?:19|20)\d\d", digits)) and not re.match(
        r"\s?(?:m[lL]|kcal|mg|g\b|L\b)", _after(candidate)
    )


def a_date_or_clock(candidate: Candidate) -> bool:
    """ "09/23/2014", "10:30"."""
    return bool(re.match(r"[/:-]\d{1,2}(?:[/:-]\d|\b(?!\.))", _after(candidate))) and not re.match(
        r"/\d{1,2}(?![/\d])", _after(candidate)
    )


def a_maximum(candidate: Candidate) -> bool:
    """The second number of "4 out of 9", "4/9"."""
    return bool(_OF_BEFORE.search(_before(candidate)))


def out_of(candidate: Candidate) -> bool:
    """The first number of "4 out of 9"."""
    return bool(_OUT_OF_AFTER.match(_after(candidate)))


def in_parentheses(candidate: Candidate) -> bool:
    """ "9.76 mg/dL (2.44 mmol/L)": the second of the two."""
    before = _before(candidate)
    opened = max(before.rfind("("), before.rfind("["))
    if opened < 0 or max(before.rfind(")"), before.rfind("]")) > opened:
        return False
    return bool(re.search(r"[A-Za-z\d]", before[:opened])) and not re.fullmatch(
        r"\s?[)\]]\s{0,2}(?:points?)?[.\s]*", _after(candidate)[:12]
    )


def restated(candidate: Candidate) -> bool:
    """ "46.12 mL/min, equivalent to 0.77 mL/s", "24.49, i.e. about 24.5": the second of the two."""
    return bool(_RESTATED.search(_before(candidate)))


def in_bold(candidate: Candidate) -> bool:
    """ "**46.1 mL/min**"."""
    line = candidate.text[max(0, candidate.start - 200) : candidate.start].rsplit("\n", 1)[-1]
    return line.count(BOLD) % 2 == 1


def concluded(candidate: Candidate) -> bool:
    """ "Therefore, …", "Final answer: …"."""
    return bool(_FINAL.search(_before(candidate)))


def points(candidate: Candidate) -> bool:
    """ "4 points"."""
    return bool(_POINTS_AFTER.match(_after(candidate)))


def supposed(candidate: Candidate) -> bool:
    """ "If the weight were 70, …"."""
    return bool(_TENTATIVE.search(_clause(candidate)))


def taken_back(candidate: Candidate) -> bool:
    """ "It is 12. Wait, …"."""
    return taken_back_until(candidate.text) >= candidate.end


def given(candidate: Candidate) -> bool:
    """ "… after the last menstrual period of 28 July 2020", "from 1/1/2021"."""
    return bool(_GIVEN_BEFORE.search(_before(candidate)))


_GIVEN_BEFORE = re.compile(rf"{_GIVEN}(?:\s?[:=]\s?)?[^\n.,):=→]{{0,30}}$")


def only_weeks(candidate: Candidate) -> bool:
    """An age in weeks alone or in days alone."""
    return candidate.cue != "alone" and not re.search(r"\d\D+\d", candidate.text[candidate.start : candidate.end])


_EVERY: tuple[tuple[Rule, float], ...] = (
    (in_parentheses, -25),
    (restated, -25),
    (in_bold, 8),
    (concluded, 6),
    (supposed, -40),
    (taken_back, -25),
    (in_a_range, -100),
)
_OF_NUMBERS: tuple[tuple[Rule, float], ...] = (
    *_EVERY,
    (list_number, -100),
    (in_a_formula, -100),
    (worked_on, -30),
    (compared_with, -70),
    (called_normal, -70),
    (a_time, -40),
    (a_year, -60),
    (a_date_or_clock, -100),
    (a_maximum, -100),
    (out_of, 4),
)
_OF_DECIMALS: tuple[tuple[Rule, float], ...] = (*_OF_NUMBERS, (a_risk, -60))
_OF_SCORES: tuple[tuple[Rule, float], ...] = (*_OF_NUMBERS, (a_risk, -60), (points, 5))
_RULES: dict[Kind, tuple[tuple[Rule, float], ...]] = {
    "decimal": _OF_DECIMALS,
    "integer": _OF_SCORES,
    "date": (*_EVERY, (given, -40)),
    "weeks_days": (*_EVERY, (given, -20), (called_normal, -40), (only_weeks, -6)),
}


# ---- candidates

_FINDERS: dict[Kind, Callable[[str], Iterable[Found]]] = {
    "decimal": numbers,
    "integer": numbers,
    "date": written_dates,
    "weeks_days": written_ages,
}


def read_value(text: str, kind: Kind, keys: Sequence[str] = ("answer", "result", "value", "final")) -> Reading:
    """The value that a text without an answer tag states as its result.

    >>> read_value("It is 9.76 mg/dL (normal: 8.5-10.2).", "decimal").value
    9.76
    """
    reading = NOTHING
    for part in without_next_question(one_script(text)):
        reading = _read_part(part, kind, keys)
        if reading.value is not None:
            break
    return reading


def _read_part(text: str, kind: Kind, keys: Sequence[str]) -> Reading:
    holders, rest = held(text, (*keys, "score", "total", "date", "weeks"))
    opened = unclosed_tag(rest)
    if opened:
        holders.append(Holder(opened, len(rest) - len(opened), len(rest), "tag", 94))
    inside = [found for holder in holders if (found := _inside(holder, text, kind, keys))]
    return choose([*_lone(list(_candidates(rest, kind))), *inside], _MENTIONS)


def _lone(candidates: list[Candidate]) -> list[Candidate]:
    """The candidates without mere mentions, unless there is a single one and nothing else."""
    mentioned = [one for one in candidates if one.cue == "mention" and one.weight > 0]
    return candidates if len(mentioned) == len(candidates) == 1 else [one for one in candidates if one not in mentioned]


def _inside(holder: Holder, text: str, kind: Kind, keys: Sequence[str]) -> Candidate | None:
    content = text[holder.start : holder.start + 200] if holder.key == "weeks" else holder.content
    value = content_value(content, kind).value
    if value is None:
        return None
    less = 0 if not holder.key or any(key in holder.key for key in keys) else 10
    return Candidate(value, holder.start, holder.end, text, holder.cue, holder.support - less)


_MAX_CONTENT = 1000  # characters; a longer text states no single value


def content_value(content: str, kind: Kind) -> Reading:
    """The value that the content of an answer tag, a box or a key gives; a lone number needs no cue there.

    >>> content_value("4 of 9", "integer").value, content_value("83.3 %", "decimal").value, content_value("", "date").value
    (4.0, 83.3, None)
    """
    if len(content) > _MAX_CONTENT:
        return NOTHING
    text = one_script(content)
    candidates = tuple(_candidates(text if kind == "weeks_days" else unwrap(text), kind))
    reading = choose(candidates, _MENTIONS)
    if reading.value is not None:
        return reading
    stated = [one for one in candidates if not _excluded(one)]
    return Reading(stated[-1].value, stated[-1].cue, candidates) if stated else Reading(None, "none", candidates)


def _excluded(candidate: Candidate) -> bool:
    """Whether a lone number is no value even with nothing else beside it: an operand, an end of a range, a date."""
    return any(
        rule in ("in_a_formula", "in_a_range", "a_date_or_clock", "list_number") for rule, _ in candidate.evidence
    )


def _candidates(text: str, kind: Kind) -> Iterator[Candidate]:
    if kind in ("decimal", "integer"):
        text = prepared(text, score=kind == "integer")
    else:
        text = text.replace("**", BOLD)
    aside = _asides(text)
    for found in bounded(_FINDERS[kind](text)):
        cue, support = _cue(text, found, kind)
        if found.is_word and cue == "mention":
            continue
        candidate = Candidate(found.value, found.start, found.end, text, cue, support)
        if any(start <= found.start < end for start, end in aside):
            candidate = Candidate(*_fields(candidate), evidence=(("in_an_aside", -30),))
        if kind == "integer" and "%" in text[found.start : found.end]:
            candidate = Candidate(*_fields(candidate), evidence=(*candidate.evidence, ("a_percentage", -60)))
        yield weigh(candidate, _RULES[kind])


def _fields(candidate: Candidate) -> tuple[Any, int, int, str, str, float]:
    return candidate.value, candidate.start, candidate.end, candidate.text, candidate.cue, candidate.support


def _cue(text: str, found: Found, kind: Kind) -> tuple[str, float]:
    """The cue that stands before a value, and its weight."""
    candidate = Candidate(found.value, found.start, found.end, text, "", 0)
    before = _before(candidate)
    if not text[: found.start].strip(f" \n{BOLD}([<'\"≈~=") and not re.search(r"\w", text[found.end : found.end + 200]):
        return "alone", 85
    if _AFTER_RESULT.search(before):
        return "answer", 60
    if kind == "integer" and _AFTER_TOTAL.search(before):
        return "total", 56
    if re.search(r"(?i:\btotal\b)", before) and _AFTER_LINK.search(before):
        return "total", 56
    if _AFTER_LINK.search(before):
        return "stated", 50
    if _LINE_START.search(text[max(0, found.start - 40) : found.start]):
        return "line", 42
    return ("bold", 22) if in_bold(candidate) else ("mention", 10)


def _asides(text: str) -> list[tuple[int, int]]:
    """Where remarks on a result stand: what follows a heading such as "Interpretation", up to one such as "Result"."""
    found: list[tuple[int, int]] = []
    position, opened = 0, None
    for line in text.split("\n"):
        head = line[:60]
        if _ASIDE_HEADING.match(head):
            opened = position if opened is None else opened
        elif opened is not None and _RESULT_HEADING.match(head):
            found.append((opened, position))
            opened = None
        position += len(line) + 1
    return [*found, (opened, len(text))] if opened is not None else found
