"""What speaks for and against a value being the one that a text states as its answer: a small rule for each."""

from __future__ import annotations

import re
from typing import Literal

from medtasks_utils.extraction import asked, cues
from medtasks_utils.extraction.numerals import spelled_numbers
from medtasks_utils.extraction.quantities import BOLD
from medtasks_utils.extraction.subjects import (
    a_check,
    a_given_quantity,
    a_risk,
    an_example,
    called_normal,
    denied,
    earlier,
    in_a_side_clause,
    one_of_two,
    only_supposed,
    unfinished,
)
from medtasks_utils.extraction.surroundings import after, before
from medtasks_utils.extraction.weighing import Candidate, Rule, taken_back_until

Kind = Literal["decimal", "integer", "date", "weeks_days"]

_ABOUT, _COMPARED, _GIVEN, _TOTAL, _RESULT, _LINKED = map(
    cues.any_word, (cues.ABOUT, cues.COMPARED, cues.GIVEN, cues.TOTAL, cues.RESULT, cues.LINKED)
)

# ---- evidence

_UNIT = r"\s?(?:[A-Za-zµ°%²³/\-]{1,12}(?:\s?/\s?[A-Za-z.\d²]{1,8})?)?"
_RANGE_BEFORE = re.compile(
    rf"(?<![A-Za-z\d.,])\d{{1,15}}(?:[.,]\d{{1,15}})?{_UNIT}(?:\s?(?:-|至|到|から|에서)|\s(?i:to|bis|à|al?|до|إلى|से"
    rf"|through|e|y|et|und|and))\s?$"
)
_RANGE_AFTER = re.compile(rf"{_UNIT}(?:\s?(?:-|至|到|から|에서)|\s(?i:to|bis|à|al?|до|إلى|से))\s?-?\d")
_BETWEEN = re.compile(r"(?i:between|from|ranges?|entre|zwischen|tra|между|either|von|de)\s{1,2}[^\d\n]{0,12}$")
_BETWEEN_AFTER = re.compile(rf"{_UNIT}\s(?i:and|or|to|und|et|y|e|и)\s-?\d")
_CHANGED = re.compile(r"(?i)\b(?:ris|increas|go|correct|adjust|fall|decreas|drop|chang)\w*\s(?:up\s|down\s)?from\b")
_OPERATOR_AFTER = re.compile(
    r"\s?[A-Za-z%/²³]{0,12}(?:\s\([^()\n]{1,20}\)(?=\s[+×÷*]))?\s?\)?\s?(?:[×÷^*√]|/\s?\d[\d.]{0,8}\s?[²³^×÷+*]"
    r"|[+](?!\s?/)|-\s?\(|-\s?\d|/\s?[\d(√][^=\n]{0,60}=|/\s?[\d.]+\s?[≈→]|/\d{1,2}/\d|,\s?\d{1,3},\s\d"
    r"|/\s?[a-zA-Z][^=(\n.;,]{0,60}=|/\s?\(|x\s[a-z]{2}|[-+/]\s{0,2}$)"
)
_OPERATOR_BEFORE = re.compile(
    r"(?:[×÷^*√/]\s?[(\[]{0,2}|[\d)]\s?[+\-]\s?[(\[]{0,2}|[×÷+*/-]\s?[(\[]|√\(|\d\s?\+\s[^\W\d][^\n=≈+:;.,→]{0,24}\s"
    r"|(?<![\d.,/])1\s?(?:[kmcµu]?g|lb|in|inch|ft|c?m|mg/d[lL]|m?mol/L|mEq/L)\s?=\s?)$"
)
_CONTINUED = re.compile(
    r"[^\n,;.()]{0,24}?\s?(?:[=≈]\s?(?:\(|[A-Za-z\s]{0,12}-?[\d.√])|→\s?[≈~]?\s?-?[\d.√(]"
    r"|(?:of\s[^\n,;.()\d]{0,24})?\b(?:corresponds?|equivalent|equates?|converts?)\sto\s[A-Za-z\s]{0,20}\d)"
)
_PER = r"(?P<unit>(?<![A-Za-z])[A-Za-zµ]{1,8}/[A-Za-z]{1,4})"
_IN_UNIT = re.compile(rf"\s?{_PER}")
_CONVERTED_FROM = re.compile(rf"{_PER}[^\w\n]{{0,3}}\s?[≈=]\s?$")
_CONVERTED = re.compile(rf"\s?{_PER}[^\w\n]{{0,3}}\s?[≈=]\s?-?[\d.]{{1,12}}\s?(?!(?P=unit))[A-Za-zµ]{{1,8}}/[A-Za-z]")
_COMPARED_BEFORE = re.compile(rf"(?:[<>≤≥≧≦]\s?|{_COMPARED}\s?(?:{_ABOUT}){{0,3}})$")
_THRESHOLD_AFTER = re.compile(
    r"[^\n,;.()=]{0,24}?\b(?:or|and)\s(?:more|higher|above|greater|less|below|lower|over|older)\b"
    rf"|{_UNIT}\s(?:zu\s(?:viel|wenig|hoch)|too\s(?:much|many|little)|de\s(?:trop|más)|a\smais|di\stroppo|less|more"
    rf"|lower|higher|fewer|weniger|mehr|niedriger|höher|de\smoins|de\splus|menos|más|mais|in\s(?:meno|più)"
    r"|меньше|больше)\b(?!\s(?:or|detail|precisely|exactly|likely))|\s(?:away|to\sgo|left|ago|short|remaining|overdue"
    r"|as\sa\s(?:lower|upper)\s(?:bound|limit)|of\s(?:the\s|his\s|her\s)?(?:ideal|ibw|normal|predicted|actual"
    r"|expected|usual|target|dose|full|dosage|recommended|standard)|d(?:e|er|ella|a)\s(?:la\s)?(?:dosis|dose)|дозы)\b"
    r"|\s?(?:points?\s)?(?:is\s|being\s)?the\s(?:max|min|upper|lower|thresh|cut|norm)|\s?[A-Za-z/%²]{0,8}\s?(?:이상"
    r"|이하|まで|까지|미만|초과|以上|及以上|以下|未満|を超|से\s(?:अधिक|कम|ऊपर|नीचे))|\s?\+(?=\s|$)",
    re.IGNORECASE,
)
_NAMED_BEFORE = re.compile(
    r"(?i:\b(?:class|stage|grade|step|type|category|phase|level|group|version|factor|item|criterion|criteria"
    r"|option|age[ds]?|day|table|figure|part|ckd|bmi\sclass|vitamin|page|row|ref|(?:call|dial|ring)(?:ing)?|notruf"
    r"|wähl\w{1,3}\s(?:\w+\s){0,2}die|appelez\sle|llam[ea]\sal|ligue\spara\so|chiam[ai]\sil))\s?[:#]?\s?[A-Z]?$|(?:拨打"
    r"|电话)\s?$"
)
_TIME_AFTER = re.compile(
    r"['′]\s?\d|[\s-]{0,2}(?:hours?|hrs?|h|days?|weeks?|months?|years?|minutes?|mins?|d[eé]cimal\w*|casas\sdec"
    r"|significant|patients|steps|labs|year-old|yo|point(?<=-point)(?!\s(?:score|total|result|sum))|(?:c?m|in(?:ches)?"
    r"|f(?:ee|oo)?t|kg|lbs?|pounds)\s(?:tall|heavy|groß|schwer))\b",
    re.IGNORECASE,
)
_OF_BEFORE = re.compile(
    r"^\W*(?:out\s)?of\s(?:the\s|these\s|all\s)?$|\bout\sof\s(?:a\s)?(?:maximum\s|total\s|possible\s)*(?:of\s)?$"
    r"|\b(?:one|two|three|four|five|six)\sof\sthe\s$|\d\s?(?:points?\s)?[(\[]?(?:/|out\sof(?:\sa)?(?:\s(?:possible"
    r"|maximum|total))?(?:\sof)?"
    r"|of(?:\sa)?(?:\smaximum|\stotal|\spossible)?(?:\sof)?|von|sur|su|de|из|من|में\sसे)\s?(?:maximal\s|max\.?\s)?$",
    re.IGNORECASE,
)
_OF_AFTER_WORD = re.compile(r"(?i)([^\W\d_]+)\s(?:out\sof|of(?:\sthe)?|von|sur|su|de|из|من|में\sसे)\s$")
_OUT_OF_AFTER = re.compile(r"(?:\spoints?)?\s?(?:/\s?\d|out\sof|of\s(?:a\s)?(?:\d|max|poss|total))", re.IGNORECASE)
_RESTATED = re.compile(
    r"\d(?:(?!\sof\s\w{5})[^\d\n]){0,30}?(?i:\bi\.?e\.?,?|\bequivalent\sto|\bor\b|\bin\sother\swords|\bwhich\sis"
    r"|\bcorrespond\w{0,4}\sto|\bequal\sto|\bsoit\b|\bd\.\s?h\.)[^\d\n]{0,20}$"
    r"|(?i:\bin\s(?:other|si|conventional|metric|imperial|us)\sunits?\b|\bin\s(?:anderen|si-)\s?einheiten\b|\bunités\b"
    r"|\b(?:otras|outras)\sunidades\b|\baltre\sunità\b|в\sдругих\sединицах)[^.;\d\n]{0,30}$"
)
_PER_ANOTHER = re.compile(
    r"(?i)^\W*(?:in|over|per)\s24\s?h(?:ours?)?\b|^\W*(?:per|an|pro|par|por|all['’]|в|each|every)\s?(?:hour|minute"
    r"|day|dose|kg|stunde|minute|tag|heure|jour|hora|día|dia|ora|час|сутки)\b|每小时|毎時|時間あたり|시간당"
)
_UNIT_AFTER = re.compile(r"\s?(?:m[lL]|[mµuk]?g|[mµu]mol|mm\s?Hg|mEq|bpm|c?m|°|kcal|[A-Za-z]{1,4}/[A-Za-z]{1,4})\b")
_POINTS_AFTER = re.compile(r"\s?(?:points?|pts?\b|punkte?|puntos|pontos|punti|балл|点|分|점|نقا|अंक)", re.IGNORECASE)
_IN_GENERAL = re.compile(
    rf"(?i)(?:^|[.,:;(]\s?|(?:with|for|at|from|avec|pour|mit|bei|für|con|com|para|per|при)\s)(?:(?:an?|any|every|each"
    rf"|eine?[mnr]?|une?|um|uma|una)\s"
    rf"(?:\w+\s)?(?:{_TOTAL}|{_RESULT})|scores?|values?)\s(?:{_LINKED}|above|below|only)\s$"
)
_SHARE_BEFORE = re.compile(
    r"(?i)(?:\bof\s(?:these|those|this|that|which|them)(?:,|\s(?:total|sum|amount|are|is)\b|(?=\s(?:\w+\s)?(?:$|\d)))"
    r"|\b(?:davon|hiervon|dont|parmi\slesquels|de\s(?:los|las)\scuales|de\sellos|dos\squais|deles|di\scui|из\sних)\b"
    r"|其中|そのうち|이\s?중)(?:[^.;\n\d]{0,24}?|.*\b(?:and|und|et|y|e|и)\b[^.;\n\d]{0,24})$"
)
_CONCLUDING = re.compile(rf"\W{{0,4}}{cues.either(cues.THEREFORE)}")
_VALUED = r"\+?\d{1,4}(?:\.\d{1,4})?"
_ITEM = re.compile(
    rf"[^\w\n]{{0,12}}(?:\d\d?[.)]\s)?[^\W\d][^\n=→|×÷]{{1,160}}[{BOLD}]?\s?(?:[:=]"
    rf"|\s-)[\s{BOLD}]{{0,3}}{_VALUED}[^\d\n]{{0,24}}"
)
_DOSED_AFTER = re.compile(
    r"(?i)\s?(?:m?c?g|µg|units?|i\.?u\.?)?\s(?:\w{2,12}\s)?(?:every\s\d|once|twice|(?:three|four)\stimes|b\.?i\.?d"
    r"|t\.?i\.?d|q\.?\d|i\.?v\b|alle\s\d|(?:zwei|drei|ein)mal\stäglich|(?:\w+\s)?fois\spar\sjour|toutes\sles\s\d"
    r"|(?:\w+\s)?ve(?:ces|zes)\sa[lo]\sd[ií]a|(?:cada|ogni)\s\d|(?:\w+\s)?volte\sal\sgiorno"
    r"|(?:\w+\s)?раза?\sв\s(?:день|сутки)|каждые\s\d|每\d|每[日天]|1日\d|하루)"
)
_LED = re.compile(r"[^\w\n]{0,6}\d[^\n]{8,160}")
_EXPLAINED_AFTER = re.compile(
    r"(?i)\s?[A-Za-z/%²]{0,14}(?:\s\([^()\n]{0,40}\))?[.\x01\s]{0,3}(?::[ \x01]*\n+\s*(?:[-•|*]|\d[.)])\s?"
    r"|\n[\s*_#\x01]{0,6}(?:here['’]s\show|how\s(?:it|i|this|that)|breakdown|calculations?\b|derivation|explanation"
    r"|inputs?\b|workings?\b|steps\b|details\b|this\s(?:comes|follows|is\s(?:from|based)))"
    r"|\n\n[^\n]{0,40}\bhow\s(?:it|i)\b)"
)
_CONTRIBUTES = re.compile(
    r"(?i)(?<![^\W\d_])(?!(?:this|that|which|it|these|those|they|all|both|he|she|i|we|patiente?n?|paciente|paziente|sum"
    r"|total|score|adding|scale|together|calculation|das|dies|ce(?:la)?|ça|qui|questo|ciò|esto|isso|isto"
    r"|это)\b)[^\W_]+\)?\s(?:gives?|adds?|contributes?|earns?|counts?(?:\sfor)?|(?:is|are)\sworth|gibt|gib[t]?|bringt"
    r"|zählt|vale(?:nt|n|m)?|vaut|compte(?:nt)?|apporte|suma|aporta|soma|conta|даёт|дает)\s$"
)
_PARTS_AFTER = re.compile(
    r"(?i)\s?(?:\w{4,16}\s)?(?:items|parts|components|variables|parameters|elements|questions|domains|categories"
    r"|factors)\b(?!\s(?:are|is|were|met|positive|present))"
)


def list_number(candidate: Candidate) -> bool:
    """As in "3. Divide by …", "Step 3:", "Day 3", "stage 3"."""
    line = candidate.text[max(0, candidate.start - 12) : candidate.start].rsplit("\n", 1)[-1]
    is_first = not line.strip(f" \t>#*-{BOLD}")
    counted = re.match(r"[.)]\s" if is_first else r"[.)]\s[a-z]{2}", after(candidate))
    return bool((counted and candidate.text[candidate.start].isdigit()) or _NAMED_BEFORE.search(before(candidate)))


def in_general(candidate: Candidate) -> bool:
    """As in "A score of 0 = discharge", "Scores of 4 carry a risk of …", "Un score de 2 correspond à …"."""
    return bool(_IN_GENERAL.search(before(candidate)))


def one_of_alike(candidate: Candidate) -> bool:
    """As in "- Stroke: 1" above "- Bleeding: 0"."""
    if candidate.cue in ("answer", "total", "alone") or asked.of_a_quantity(candidate):
        return False
    text = candidate.text
    start, end = text.rfind("\n", 0, candidate.start) + 1, text.find("\n", candidate.end)
    line = text[start : end if end >= 0 else len(text)][:240]
    shapes = (_ITEM,) if isinstance(candidate.value, float) else (_LED,) if candidate.cue == "line" else ()
    shape = next((pattern for pattern in shapes if pattern.fullmatch(line)), None)
    if shape is None or candidate.start - start > 200:
        return False
    above = text[max(0, start - 240) : max(0, start - 1)].rstrip().rsplit("\n", 1)[-1]
    below = text[end : end + 240].lstrip().split("\n", 1)[0] if end >= 0 else ""
    return any(shape.fullmatch(line) is not None for line in (above, below))


def concluded(candidate: Candidate) -> bool:
    """As in "Hence the Bazett QTc: 473.1 ms"."""
    return bool(_CONCLUDING.match(before(candidate)) and asked.of_a_quantity(candidate))


def a_dose(candidate: Candidate) -> bool:
    """As in "15 mg every 12 hours", "5 mg zweimal täglich"."""
    return bool(_DOSED_AFTER.match(after(candidate))) and not asked.of_a_quantity(candidate)


def a_share(candidate: Candidate) -> bool:
    """As in "142.5 MME. Of these, 60 MME stem from oxycodone and another 60 MME from tapentadol"."""
    return bool(_SHARE_BEFORE.search(before(candidate)))


def in_a_range(candidate: Candidate) -> bool:
    """As in "8.5–10.2", "between 20 and 30", "0 to 9"."""
    left, right = before(candidate), after(candidate)
    if re.search(r"[=≈]\s?-?\d[^=≈]*$", left) and re.match(r"\s?$", right) and "-" in left[-3:]:
        return False
    if _CHANGED.search(left):
        return right[:12].find(" to ") >= 0
    words = _BETWEEN.search(left) and _BETWEEN_AFTER.match(right)
    second = _RANGE_BEFORE.search(left)
    if second and re.search(r"(?i)\b(?:a|al|à|e|y|et|und|and)\s?$", second[0]):
        second = _BETWEEN.search(left[: second.start()])
    return bool(words or second or _RANGE_AFTER.match(right))


def in_a_formula(candidate: Candidate) -> bool:
    """As in "72 × 1.24", "(140 − 66) / …", or a date; in "3600 / 1300", since no score is above its maximum."""
    left, right = before(candidate), after(candidate)
    opened = left.endswith("(") and re.match(r"\s?[+-]\s", right)
    divisor = re.match(r"\s?/\s?(\d{1,15}(?:\.\d{1,15})?)", right)
    is_quotient = divisor is not None and isinstance(candidate.value, float) and candidate.value > float(divisor[1])
    return bool(opened or is_quotient or _OPERATOR_AFTER.match(right) or _OPERATOR_BEFORE.search(left))


def worked_on(candidate: Candidate) -> bool:
    """As in "24.489 ≈ 24.5": the first of the two; but not "the score is 2 → 6.6 %"."""
    right = after(candidate)
    translated = (candidate.cue == "total" and right.lstrip().startswith("→")) or _CONVERTED.match(right)
    return not translated and bool(_CONTINUED.match(right))


def compared_with(candidate: Candidate) -> bool:
    """As in "> 2.67", "above 30", "65 or more"."""
    return bool(_COMPARED_BEFORE.search(before(candidate)) or _THRESHOLD_AFTER.match(after(candidate)))


def a_time(candidate: Candidate) -> bool:
    """As in "in 6 months", "within 48 hours", "249 patients", "is made of 5 items"."""
    is_clock = re.search(r"(?<!\d)\d\d?:$", before(candidate)) and candidate.end - candidate.start == 2
    return bool(is_clock or _TIME_AFTER.match(after(candidate)) or _PARTS_AFTER.match(after(candidate)))


def a_year(candidate: Candidate) -> bool:
    """As in "CKD-EPI 2021", "published in 1976"."""
    digits = candidate.text[candidate.start : candidate.end].strip()
    return bool(re.fullmatch(r"(?:19|20)\d\d", digits)) and not re.match(
        r"\s?(?:m[lL]|kcal|mg|g\b|L\b)", after(candidate)
    )


def a_maximum(candidate: Candidate) -> bool:
    """The second number of "4 out of 9", "4/9", "four of nine"."""
    word = _OF_AFTER_WORD.search(before(candidate))
    return bool(_OF_BEFORE.search(before(candidate)) or (word and any(spelled_numbers(word[1]))))


def out_of(candidate: Candidate) -> bool:
    """The first number of "4 out of 9"."""
    return bool(_OUT_OF_AFTER.match(after(candidate)))


def in_parentheses(candidate: Candidate) -> bool:
    """As in "9.76 mg/dL (2.44 mmol/L)": the second of the two."""
    left = before(candidate)
    opened = _open_bracket(left)
    if opened is None:
        return False
    if (
        not left[:opened].strip()
        and re.search(r"\w.*[=:]|[^\W\d]{2}\s", left)
        and re.search(r"\)\W{0,3}$", after(candidate))
    ):
        return True
    alone = not left[opened + 1 :].strip(" ≈~=") and re.match(r"\s?(?:points?|pts?)?\s?[)\]]", after(candidate))
    if re.search(r"[→=:]\s?$", left[:opened]):
        return False
    return bool(re.search(r"\w", left[:opened])) and not (alone and not re.search(r"(?<!\w)\d", left[:opened]))


def _open_bracket(left: str) -> int | None:
    """Where the last bracket opens that is not closed."""
    closed = 0
    for position in range(len(left) - 1, -1, -1):
        closed += (left[position] in ")]") - (left[position] in "([")
        if closed < 0:
            return position
    return None


def restated(candidate: Candidate) -> bool:
    """As in "46.12 mL/min, equivalent to 0.77 mL/s", "24.49, i.e. about 24.5": the second of the two."""
    left = before(candidate)
    converted, unit = _CONVERTED_FROM.search(left), _IN_UNIT.match(after(candidate))
    in_another = converted and unit and converted["unit"] != unit["unit"]
    return bool(in_another or _RESTATED.search(left) or _PER_ANOTHER.search(left))


def in_bold(candidate: Candidate) -> bool:
    """As in "**46.1 mL/min**"."""
    line = candidate.text[max(0, candidate.start - 200) : candidate.start].rsplit("\n", 1)[-1]
    return line.count(BOLD) % 2 == 1


def explained_after(candidate: Candidate) -> bool:
    """As in "It adds up to ten:" before the list of the points, "The answer is 46." before "Here's how …"."""
    return bool(_EXPLAINED_AFTER.match(candidate.text, candidate.end))


def a_measurement(candidate: Candidate) -> bool:
    """As in "urea 9 mmol/L", which is no score."""
    return bool(_UNIT_AFTER.match(after(candidate)))


def an_item(candidate: Candidate) -> bool:
    """As in "age 66: +2", "the pulse gives 1 point", which is a part of the score."""
    if candidate.text[candidate.start] == "+":
        return not re.search(r"[=:]\s?$", re.sub(r".*\btotal\b", "", before(candidate)))
    left = before(candidate)
    return bool(
        (_POINTS_AFTER.match(after(candidate)) and _CONTRIBUTES.search(left) and not asked.of_a_quantity(candidate))
        or re.search(r"(?<!\w)[A-Z]\s?=\s?$", left)
    )


def taken_back(candidate: Candidate) -> bool:
    """As in "It is 12. Wait, …"."""
    return taken_back_until(candidate.text) >= candidate.end


def given(candidate: Candidate) -> bool:
    """As in "… after the last menstrual period of 28 July 2020", "from 1/1/2021"."""
    return bool(_GIVEN_BEFORE.search(_BY_PERIOD.sub("", before(candidate))))


_BY_PERIOD = re.compile(
    r"(?i)\s(?:by|per|according\sto|nach|selon|según|secondo)\s(?:the\s|der\s|la\s|les\s)?(?:lmp"
    r"|last\smenstrual\speriod|dates)\b"
)
_GIVEN_BEFORE = re.compile(rf"{_GIVEN}(?:\s?[:=]\s?)?(?:(?!gives|is\b|yields|->)[^\n.,):=→]){{0,30}}$")


_EVERY: tuple[tuple[Rule, float], ...] = (
    (in_parentheses, -45),
    (an_example, -100),
    (one_of_two, -100),
    (only_supposed, -50),
    (denied, -100),
    (earlier, -70),
    (a_check, -50),
    (unfinished, -100),
    (in_bold, 8),
    (in_a_side_clause, -20),
    (taken_back, -25),
    (in_a_range, -100),
)
_OF_NUMBERS: tuple[tuple[Rule, float], ...] = (
    *_EVERY,
    (restated, -25),
    (a_given_quantity, -60),
    (asked.of_what_was_asked, 8),
    (asked.of_something_else, -40),
    (asked.in_another_unit, -40),
    (list_number, -100),
    (in_a_formula, -100),
    (worked_on, -30),
    (explained_after, 10),
    (compared_with, -70),
    (called_normal, -70),
    (a_time, -70),
    (a_dose, -40),
    (a_year, -60),
    (a_maximum, -100),
    (out_of, 4),
)
_OF_DECIMALS: tuple[tuple[Rule, float], ...] = (
    *_OF_NUMBERS,
    (a_share, -60),
    (asked.of_another_matter, -8),
    (a_risk, -60),
    (one_of_alike, -20),
    (concluded, 8),
)
_OF_SCORES: tuple[tuple[Rule, float], ...] = (
    *_OF_NUMBERS,
    (a_risk, -60),
    (a_measurement, -60),
    (an_item, -60),
    (one_of_alike, -60),
    (in_general, -40),
)
RULES: dict[Kind, tuple[tuple[Rule, float], ...]] = {
    "decimal": _OF_DECIMALS,
    "integer": _OF_SCORES,
    "date": (*_EVERY, (one_of_alike, -45), (given, -60), (compared_with, -60), (asked.of_something_else, -20)),
    "weeks_days": (
        *_EVERY,
        (one_of_alike, -45),
        (given, -20),
        (called_normal, -40),
        (compared_with, -60),
    ),
}
