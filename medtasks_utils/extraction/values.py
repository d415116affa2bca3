"""Which of the numbers, dates or ages in a text is the one that it states as its answer."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from medtasks_utils.extraction import cues
from medtasks_utils.extraction.boxes import unwrap, without_operands
from medtasks_utils.extraction.dates import in_one_order, written_dates
from medtasks_utils.extraction.durations import written_ages
from medtasks_utils.extraction.evidence import RULES, Kind, in_bold
from medtasks_utils.extraction.holders import Holder, held
from medtasks_utils.extraction.plain import one_script, own_parts
from medtasks_utils.extraction.quantities import BOLD, numbers, prepared
from medtasks_utils.extraction.surroundings import before
from medtasks_utils.extraction.tags import unclosed_tag
from medtasks_utils.extraction.weighing import (
    NOTHING,
    Candidate,
    Found,
    Reading,
    bounded,
    choose,
    taken_back_until,
    weigh,
)

_RESULT, _TOTAL, _SUMMED, _EQUALS, _LINKED, _ABOUT, _THAT_IS = map(
    cues.any_word, (cues.RESULT, cues.TOTAL, cues.SUMMED, cues.EQUALS, cues.LINKED, cues.ABOUT, cues.THAT_IS)
)
_JOINED = rf"{_EQUALS}(?:,\s[^\W\d]{{2,14}}(?:\s[^\W\d]{{1,14}}){{0,2}},)?\s?(?:{_ABOUT}|{_LINKED}\s){{0,8}}$"
_NEAR = rf"[^\n=≈:,;\d]{{0,30}}?{_LINKED}\s?(?:{_ABOUT}){{0,8}}$"
_AFTER_RESULT = re.compile(
    rf"{_RESULT}(?:(?:\([^()\n]{{0,30}}\)|(?!(?<![A-Za-zÀ-ʯ\d_.-])\d)[^\n=≈:]){{0,60}}?{_JOINED}|{_NEAR}"
    rf"|\s?(?:{_ABOUT}){{0,4}}$|\s?:\s?[^\W\d][^\n=≈:;,.\d]{{0,40}}[=≈]\s?(?:{_ABOUT}){{0,4}}$)"
)
_ANSWER = re.compile(cues.any_word(cues.PLAIN_ANSWER))
_AFTER_ANSWER = re.compile(rf"{_ANSWER.pattern}(?:\s(?:{_EQUALS}))?[\s:：]{{0,3}}(?:{_ABOUT}){{0,4}}$")
_AFTER_TOTAL = re.compile(rf"{_TOTAL}(?:[^\n=≈:,;]{{0,40}}?{_JOINED}|{_NEAR}|,?\s?(?:{_ABOUT}){{0,4}}$)")
_AFTER_LINK = re.compile(rf"(?:{_EQUALS}|{_THAT_IS},?)\s?(?:{_ABOUT}|{_LINKED}\s){{0,8}}$")
_AFTER_PREPOSITION = re.compile(rf"{_LINKED}\s?(?:{_ABOUT}){{0,8}}$")
_NOT_BUT = re.compile(
    rf"{cues.either(cues.NOT_BEFORE)}[^\n]{{0,60}}[,\s]\s?{cues.any_word(cues.BUT)}\s?(?:{_ABOUT}){{0,4}}$"
)
_VERB_FIRST = re.compile(r"(?i:\b(?:beträgt|liegt|ergibt|lautet)\s(?:die|der|das)\s[^\d\n.,;:]{3,40}\s(?:bei\s)?)$")
_COUNTED_AFTER = re.compile(
    r"\s(?:\w{1,12}\s){0,2}(?:are|is|were)\s(?:met|violated|positive|present|fulfilled|satisfied|scored|awarded)\b",
    re.IGNORECASE,
)
_SUMMED_BEFORE = re.compile(rf"(?:{_SUMMED},?(?:\s?{_EQUALS})?\s?(?:{_ABOUT}){{0,4}})$")
_SUM = re.compile(r"\d\s?\+\s?\d{1,3}\)?\s?=\s?$")
_SUMMED_AFTER = re.compile(rf"\s?[A-Za-z/%µ²]{{0,12}}\s{_SUMMED}(?!\s(?:chol|bili|body|prot))")
_UNDER_A_LINE = re.compile(r"\n[ \t]*[-—–―─=_]{2,}[ \t]*\n[^\n\d]{0,40}$")
_SENTENCE_BEFORE = re.compile(r"[.!?;。]\s?$")
_END_AFTER = re.compile(r"\s?[A-Za-z/%²]{0,10}[.!。]?\s{0,4}")
_IS_THE = re.compile(
    rf"\s{{0,2}}[A-Za-z/%²]{{0,8}}(?:\s[A-Z][a-z]|24\sh)?[{BOLD}]?,?\s{{1,2}}(?i:is|est|ist|es|é|è)\s(?i:the|my|la|le"
    rf"|l['’]|die|das|der|el|o|a|il)\s?(?:(?i:final|correct|estimated|expected|patient's|[^\W\d]{{3,12}})\s)?"
    rf"(?:{_RESULT}|{cues.any_word(cues.QUANTITY)}|{_TOTAL})"
)
_SAID_AFTER = re.compile(
    r"\s?[A-Za-z/%µ²ऀ-ॿ]{0,12}\s?(?:と(?:算出|計算|推定|なり|求め)|となる|(?:으로|로)\s?(?:계산|산출|추정)|(?:आता|होता"
    r"|बनता|निकलता)\sहै|\sहै)"
)
_ALONG_AFTER = re.compile(
    r"(?i)\s(?:pregnant|along|(?:of\s)?gestation|schwanger|weit|enceinte|de\s(?:grossesse|gesta[cç][aãió]+n?|embarazo"
    r"|gravidez)|d['’]aménorrhée|incinta|di\sgravidanza|беременности)\b"
)
_STEPS = re.compile(
    r"[\"'][A-Za-z_ ]{2,40}[\"']\s?:\s?\[\s?(?:\{[^{}]{0,400}\}\s?,\s?){1,40}\{[^{}]{0,400}\}\s?\]"
    r"|[\"'](?:\w+_)?(?:inputs?|param\w*|given|variables|compon\w+|criteria|refer\w+|normal\w*|patient\w*|steps|labs"
    r"|items|factors"
    r"|findings|breakdown|scores|points|values|data|details)(?:_\w+)?[\"']\s?:\s?\{(?:[^{}]|\{[^{}]{0,200}\}){0,800}\}"
)
_NAMED_TAG = re.compile(
    r"<(?!(?:final_?)?(?:answer|final|choice|result|verdict)>)([A-Za-z_]{0,20}(?:answer|result|value|final|score"
    r"|total|valor|wert|valeur|risult|result)[A-Za-z_]{0,20})(?:\s[^<>]{0,60})?>([^<>]{1,200})</\1>",
    re.IGNORECASE,
)
_CALCULATED = re.compile(r"[\d)\s]\s?[×÷*/+^-]\s?[\d(√][^=]*[=≈]\s?$")
_ROUNDED = re.compile(
    rf"(?i)\b(?:round(?:s|ed|ing)?|gerundet|arrondie?|redonde\w+|arredond\w+|arrotond\w+"
    rf"|округл\w+)(?:\s[^\W_]+){{0,6}}(?:[,:]|\s→)?\s"
    rf"(?:that['’]s\s|(?:is|gives|ergibt|donne|es|da|é|dà)\s)?(?:{_ABOUT}){{0,3}}$"
)
_LIMIT_KEY = re.compile(r"max|min(?!ut)|thresh|cut|limit|normal|refer|range|possible|previous|prior")
_WEEKS = ("weeks", "wochen", "semaines", "semanas", "settimane")
_REMAINING = re.compile(r"(?i)(?:remain|until|left|rest|bis_|verbleib|falta|al_termin|to_)\w*[\"']\s?:\s?\{\s{0,8}$")
_ROW = re.compile(rf"(?:^|\n)\|[^\n|]*[^\s|:-][^\n|]*\|[\s{BOLD}]{{0,4}}$")
_TOTAL_ROW = re.compile(
    rf"(?:^|\n)\|[\s{BOLD}]{{0,4}}(?:{_TOTAL}|{_RESULT})(?:\s(?:{_TOTAL}|points))?[\s:{BOLD}]{{0,4}}\|(?:[^\n"
    rf"|]{{0,30}}\|){{0,4}}[\s{BOLD}=]{{0,4}}$"
)
_NAMED_ROW = re.compile(
    rf"(?:^|\n)\|[^\n]{{0,60}}?(?:{cues.any_word(cues.QUANTITY)}|{_RESULT})[^\n"
    rf"|]{{0,40}}\|[\s{BOLD}]{{0,4}}(?:[^\W\d]{{3,12}},\s)?$"
)
_NAMED_BEFORE = re.compile(rf"{cues.any_word(cues.QUANTITY)}(?:['’]s)?[,?]?\s?(?P<link>(?:{_ABOUT}){{0,4}})$")
_NAMED_AFTER = re.compile(
    rf"\s(?:(?:points?\s)?(?:on|for|in)\s(?:the\s)?|mg\s(?:of\s)?(?:oral\s)?){cues.any_word(cues.QUANTITY)}"
)
_LINE_START = re.compile(
    rf"(?:^|\n)[\s>#*\-•✅→|(\[<≈~=+{BOLD}]{{0,8}}(?i:about|approx(?:imately|\.)?|ca\.|circa|roughly|exactly"
    rf"|genau)?\s?$"
)
_UNDER_A_LABEL = re.compile(
    rf"(?:^|\n|[.;。；]\s)[\s>#*\-✅→({BOLD}]{{0,8}}(?:[^\W\d]{{1,12}}(?:'s)?\s){{0,2}}"
    rf"(?:(?P<result>{_RESULT})|{cues.any_word(cues.QUANTITY)}"
    rf"|{_TOTAL})(?:\s[^\W\d]+){{0,2}}(?:\s\([^()\n]{{0,20}}\))?[\s:{BOLD}]{{0,4}}\n[\s>{BOLD}(\[≈~=]{{0,8}}(?:[^\W\d]{{3,12}},\s)?$"
)
_ASIDE_HEADING = re.compile(
    r"^[ >#*\-_⚠️\x01]{0,8}(?:clinical|interpretation|notes?\b|reference|important|context|explanation|reasoning"
    r"|rationale|for\s(?:reference|comparison)|score\sbands|risk(?!\s?=)|normal|category|stage|staging|next\sstep"
    r"|recommendation|significance|a\sfew\snotes|caveats?|(?:\w+\s){0,2}plan\b|dosing|monitoring|management|milestones"
    r"|treatment|follow-up|timeline)(?!.*(?::|[^\W\d]\s[-–=])\s?\+?\d[\d.]*(?:\s\w{1,4}(?:/\w{1,3})?)?\s*$)",
    re.IGNORECASE | re.MULTILINE,
)
_REMARK = re.compile(r"\W{0,8}(?i:note)\b[^\n]{40}")
_RESULT_HEADING = re.compile(
    r"^[ >#*\-_✅\x01]{0,8}(?:final|result|answer|total|conclusion|calculation)", re.IGNORECASE | re.MULTILINE
)
_MENTIONS = ("mention", "bold")
_OUTRIGHT = ("answer", "stated", "total")

_FINDERS: dict[Kind, Callable[[str], Iterable[Found]]] = {
    "decimal": numbers,
    "integer": numbers,
    "date": written_dates,
    "weeks_days": written_ages,
}


def read_value(
    text: str, kind: Kind, keys: Sequence[str] = ("answer", "result", "value", "final"), asked: str = ""
) -> Reading:
    """The value that a text without an answer tag states as its result; ``asked`` is the question, where it is at hand.

    >>> read_value("It is 9.76 mg/dL (normal: 8.5-10.2).", "decimal").value
    9.76
    """
    reading = NOTHING
    for part in own_parts(without_operands(text)):
        reading = _read_part(part, kind, keys, asked)
        if reading.value is not None:
            break
    return reading


def _read_part(text: str, kind: Kind, keys: Sequence[str], asked: str) -> Reading:
    stripped = _STEPS.sub("", text)
    text = stripped if re.search(r"\d", stripped) else text
    text = _NAMED_TAG.sub(r'"\1": "\2"', in_one_order(text) if kind == "date" else text)
    holders, rest = held(text, (*keys, "score", "total", "date", "edd", "due", "concept", "count", *_WEEKS))
    opened = unclosed_tag(rest)
    if opened:
        holders.append(Holder(opened, len(rest) - len(opened), len(rest), "tag", 95))
    inside = [found for holder in holders if (found := _inside(holder, text, kind, keys, asked))]
    return choose([*_lone(list(_candidates(rest, kind, asked)), kind), *inside], _MENTIONS)


def _lone(candidates: list[Candidate], kind: Kind) -> list[Candidate]:
    """The candidates with the evidence of all on each; a mere mention counts where it is the only number there is."""
    operands = {one.value for one in candidates if isinstance(one.value, float) and _is_operand(one)}
    candidates = _noted(candidates, "an_operand", -6.0, lambda one: one.value in operands)
    open_ones = [one for one in candidates if ("one_of_two", -100) in one.evidence]
    undecided = {one.value for one in open_ones} if any(one.cue == "answer" for one in open_ones) else set()
    candidates = _noted(candidates, "one_of_two", -100, lambda one: one.value in undecided)
    stated = Counter(str(one.value) for one in candidates if one.weight > 0 and ("worked_on", -30) not in one.evidence)
    if kind == "decimal":
        outright = [one for one in candidates if one.cue in _OUTRIGHT and not _CALCULATED.search(before(one))]
        candidates = _noted(candidates, "rounded_elsewhere", -10.0, lambda one: _is_rounded(one, outright))
    if kind != "integer":
        candidates = _noted(candidates, "repeated", 3.0, lambda one: one.weight > 0 and stated[str(one.value)] > 1)
    counted = {str(one.value) for one in candidates if isinstance(one.value, float) or one.weight > 0}
    return candidates if len(counted) == 1 else _noted(candidates, "one_of_many", -20, lambda one: one.cue == "mention")


def _noted(
    candidates: list[Candidate], rule: str, weight: float, holds: Callable[[Candidate], bool]
) -> list[Candidate]:
    return [replace(one, evidence=(*one.evidence, (rule, weight))) if holds(one) else one for one in candidates]


def _is_rounded(candidate: Candidate, outright: list[Candidate]) -> bool:
    """Whether a calculation ends in it that is stated rounded elsewhere."""
    rounded = (one for one in outright if _rounds(candidate.value, one.value) and one.weight >= candidate.weight - 8)
    return any(rounded) and _CALCULATED.search(before(candidate)) is not None


def _rounds(value: float, to: float) -> bool:
    """Whether the second is the first with fewer decimals: rounded (8.96 and 9), or cut off (143.28 and 143.2)."""
    decimals = len(f"{to:.10g}".partition(".")[2])
    return value != to and abs(value - to) < (10.0**-decimals if decimals else 0.5)


def _is_operand(candidate: Candidate) -> bool:
    """Whether a result is worked out of it, and not checked with it."""
    found = {rule for rule, _ in candidate.evidence}
    return "in_a_formula" in found and not found & {"a_check", "in_a_range"}


def _inside(holder: Holder, text: str, kind: Kind, keys: Sequence[str], asked: str) -> Candidate | None:
    content = text[holder.start : holder.start + 200] if holder.key in _WEEKS else holder.content
    value = content_value(content, kind, asked).value
    if (
        value is None
        or _LIMIT_KEY.search(holder.key)
        or _REMAINING.search(text[max(0, holder.start - 60) : holder.start])
    ):
        return None
    less = 0 if not holder.key or any(key in holder.key for key in keys) else 10
    withdrawn = (("taken_back", -40.0),) if taken_back_until(text) >= holder.end else ()
    return Candidate(value, holder.start, holder.end, text, holder.cue, holder.support - less, withdrawn)


_MAX_CONTENT = 1000  # characters; a longer text states no single value


def content_value(content: str, kind: Kind, asked: str = "") -> Reading:
    """The value that the content of an answer tag, a box or a key gives; a lone number needs no cue there.

    >>> content_value("4 of 9", "integer").value, content_value("83.3 %", "decimal").value
    (4.0, 83.3)
    """
    if len(content) > _MAX_CONTENT:
        return NOTHING
    text = one_script(content)
    candidates = tuple(_candidates(text if kind == "weeks_days" else unwrap(text), kind, asked))
    reading = choose(candidates, _MENTIONS)
    if reading.value is not None:
        return reading
    stated = [one for one in candidates if not _excluded(one)]
    return Reading(stated[-1].value, stated[-1].cue, candidates) if stated else Reading(None, "none", candidates)


def holds_no_result(content: str, kind: Kind) -> bool:
    """Whether an answer tag or box is empty, or holds a sum that is not worked out.

    >>> holds_no_result("...", "decimal"), holds_no_result("liver 2 + renal 1", "integer")
    (True, True)
    """
    if not re.search(r"\w", content):
        return True
    if kind not in ("decimal", "integer") or not re.search(r"[+×*]", content):
        return False
    candidates = list(_candidates(content[:_MAX_CONTENT], kind, ""))
    return bool(candidates) and all(any(rule == "in_a_formula" for rule, _ in one.evidence) for one in candidates)


def _excluded(candidate: Candidate) -> bool:
    """Whether a lone number is no value even with nothing else beside it: an operand, an end of a range."""
    is_word = not re.search(r"\d", candidate.text[candidate.start : candidate.end])
    against = ("in_a_formula", "in_a_range", "list_number", "an_example", *(("a_time",) if is_word else ()))
    return any(rule in against for rule, _ in candidate.evidence)


def _candidates(text: str, kind: Kind, asked: str) -> Iterator[Candidate]:
    is_number = kind in ("decimal", "integer")
    text = prepared(text, score=kind == "integer") if is_number else text.replace("**", BOLD)
    text = in_one_order(text) if kind == "date" else text
    asides, results = ([one.start() for one in each.finditer(text)] for each in (_ASIDE_HEADING, _RESULT_HEADING))
    for found in bounded(_FINDERS[kind](text)):
        cue, support = _cue(text, found, kind)
        if found.is_word and cue in ("mention", "linked", "row"):
            continue
        aside = _last(asides, found.start)
        is_remark = aside > _last(results, found.start) and cue not in ("answer", "total")
        is_remark = is_remark and not (_REMARK.match(text, aside) and text.find("\n\n", aside + 2, found.start) >= 0)
        evidence = [("in_an_aside", -30.0)] if is_remark else []
        if kind == "integer" and "%" in text[found.start : found.end]:
            evidence.append(("a_percentage", -60.0))
        yield weigh(
            Candidate(found.value, found.start, found.end, text, cue, support, tuple(evidence), asked), RULES[kind]
        )


def _last(starts: list[int], before: int) -> int:
    at = bisect_left(starts, before)
    return starts[at - 1] if at else -1


def _cue(text: str, found: Found, kind: Kind) -> tuple[str, float]:
    """The cue that stands before a value, and its weight."""
    candidate = Candidate(found.value, found.start, found.end, text, "", 0)
    left = before(candidate)
    if not text[: found.start].strip(f" \n{BOLD}([<'\"≈~=") and not re.search(r"\w", text[found.end : found.end + 200]):
        return "alone", 85
    above = text[max(0, found.start - 100) : found.start]
    label = _UNDER_A_LABEL.search(above) if "\n" in above[-30:] else None
    if _AFTER_ANSWER.search(left) or (label and _ANSWER.search(label["result"] or "")):
        return "answer", 66
    if _AFTER_RESULT.search(left) or (label and label["result"]):
        return "answer", 60
    if label:
        return "stated", 54
    if kind == "integer" and (_AFTER_TOTAL.search(left) or _SUM.search(left)):
        return "total", 56
    if (
        _SUMMED_AFTER.match(text, found.end)
        or _SUMMED_BEFORE.search(left)
        or _UNDER_A_LINE.search(text[max(0, found.start - 80) : found.start])
    ):
        return "total", 56
    if any(pattern.search(left) for pattern in (_AFTER_LINK, _NOT_BUT, _VERB_FIRST, _ROUNDED)):
        return "stated", 50
    name = _NAMED_BEFORE.search(left)
    if name or _NAMED_AFTER.match(text, found.end):
        return (
            ("stated", 50 if name["link"].strip() else 46)
            if name
            else ("linked", 46 if _LINE_START.search(text[max(0, found.start - 40) : found.start]) else 40)
        )
    if _COUNTED_AFTER.match(text, found.end) and kind == "integer":
        return "stated", 50
    if kind == "weeks_days" and _ALONG_AFTER.match(text, found.end):
        return "stated", 50
    if not left.strip() and _SENTENCE_BEFORE.search(text[: found.start][-8:]) and _END_AFTER.fullmatch(text, found.end):
        return "total", 52
    if _IS_THE.match(text, found.end):
        return "stated", 56
    if _SAID_AFTER.match(text, found.end) or re.match(r"\s?(?:mg\s)?MME\b", text[found.end : found.end + 8]):
        return "stated", 48
    if _AFTER_PREPOSITION.search(left):
        return "linked", 42
    if _TOTAL_ROW.search(text[max(0, found.start - 120) : found.start]):
        return "total", 56
    if _NAMED_ROW.search(text[max(0, found.start - 120) : found.start]):
        return "row", 51
    if _ROW.search(text[max(0, found.start - 80) : found.start]):
        return "row", 36
    if _LINE_START.search(text[max(0, found.start - 40) : found.start]):
        return "line", 42
    if re.match(r"[\sA-Za-z/%µ²点점]{0,14}(?:입니다|です)", text[found.end : found.end + 24]):
        return "linked", 38
    return ("bold", 22) if in_bold(candidate) else ("mention", 10)
