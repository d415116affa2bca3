"""Whether a value is of what was asked for: the quantity, the formula, the date, the unit.

What was asked for stands in the question, where that is at hand; else in the response, if it says so.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice

from medtasks_utils.extraction.cues import names
from medtasks_utils.extraction.quantities import Percentage
from medtasks_utils.extraction.surroundings import after, before
from medtasks_utils.extraction.weighing import Candidate

_LETTER = r"[A-Za-zÀ-ÿА-Яа-я]"


def _any_of(table: str) -> re.Pattern[str]:
    """A pattern with a group for each name."""
    return re.compile(rf"(?<!{_LETTER})(?:({')|('.join(table.split())}))(?!{_LETTER})", re.IGNORECASE)


_QUANTITIES = _any_of(f"{names.QUANTITIES} {names.SCORES}")
_FORMULAS, _DATES = _any_of(names.FORMULAS), _any_of(names.DATES)
_UNITS = re.compile(rf"\s?(?:({')|('.join(names.UNITS.split())}))")
_WHAT = re.compile(r"(?i)\bwhat(?:\sis|\sare|['’]s)\b")
_IN_UNITS = re.compile(r"(?i)\bin(?:\sterms\sof)?(?=\s)")
_ASKED = re.compile(
    r"(?i)\b(?:question|as\stold|(?:we|i)\suse|(?<!not\s)(?<!nobody\s)(?<!n't\s)(?:asked|requested|wanted)|requests?"
    r"|wants|stem|task|frage|gefragt|question"
    r"|demandée?|pregunta"
    r"|pide|pergunta|pede|domanda|chiest[oa]|вопрос\w*|спрашива\w*)\b|问题|题目|要求|題|求め|設問|질문|السؤال|प्रश्न"
)
_NEGATED = re.compile(r"(?i)\b(?:not|neither|nor|nicht|weder|pas|ni|nem|não|non|né|не|ни)\b")
_SENTENCE = re.compile(r"[.:。：]\s?(?=\n|$)|[。：]")
_FOUND = re.compile(r"[=≈]\s?(\d[\d.]*)")
_PERCENT = re.compile(r"(?i)\bpercent|%")
_OPERAND_AFTER = re.compile(r"\)?\s?(?:[×÷*/+^]|-\s)")
_RELATIVE = re.compile(r",\s(?:which|welche\w|qui|que|che)\s[^,;.]{1,70},")
_PART_START = re.compile(r"[,;。；，]|\bthen\b(?!\sbe)|\((?=[^()]*$)|→(?=.*[^\W\d_]{3})")
_NAMED_AFTER = re.compile(
    r"\s?(?:mc?g|µg|m[lL]/min|mEq/L|mmol/L|kg|ms(?:ec)?|points?)\s(?:of\s|on\s(?:the\s)?|oral\s|PO\s)?"
)


@lru_cache(maxsize=64)
def _of_question(question: str, patterns: re.Pattern[str]) -> int | None:
    """What a question names first after "what is", else first of all; nothing for no question."""
    what = _WHAT.search(question)
    found = (what and patterns.search(question, what.end())) or patterns.search(question)
    return found and found.lastindex


@lru_cache(maxsize=32)
def _of_text(text: str, patterns: re.Pattern[str]) -> int | None:
    """The one of several names that stands beside a word for the question."""
    for asked in islice(_ASKED.finditer(text), 20):
        start = max(text.rfind(end, 0, asked.start()) + 1 for end in ".;?\n。")
        nearby = [*patterns.finditer(text, max(start, asked.start() - 25), asked.start())][-1:]
        end = _SENTENCE.search(text, asked.end(), asked.end() + 60)
        following = [*patterns.finditer(text, asked.end(), end.start() if end else asked.end() + 60)][:1]
        nearby += [one for one in following if not _NEGATED.search(text, asked.end(), one.start())]
        if nearby:
            return nearby[0].lastindex
    return None


def _asked(candidate: Candidate, patterns: re.Pattern[str]) -> int | None:
    return _of_question(candidate.asked, patterns) or _of_text(candidate.text, patterns)


def _topic(candidate: Candidate, patterns: re.Pattern[str]) -> int | None:
    """What was asked for; of formulas and dates, without a word on it, what is named first."""
    asked = _asked(candidate, patterns)
    return asked if asked or patterns is _QUANTITIES else _of_question(candidate.text, patterns)


def _subject(candidate: Candidate, patterns: re.Pattern[str]) -> int | None:
    """What a value is said to be of: named right after it, else last before it or before its equals sign."""
    unit = _NAMED_AFTER.match(after(candidate))
    named = unit and patterns.match(after(candidate), unit.end())
    if named:
        return named.lastindex
    return _last_named(_PART_START.split(_RELATIVE.sub("", before(candidate)))[-1], patterns)


@lru_cache(maxsize=8)
def _last_named(left: str, patterns: re.Pattern[str]) -> int | None:
    found = [name for name in patterns.finditer(left) if not _is_operand(name, left)]
    found = [name for name in found if name.start() < left.find("=")] or found
    return found[-1].lastindex if found else None


def _is_operand(name: re.Match[str], text: str) -> bool:
    return bool(_OPERAND_AFTER.match(text, name.end()))


def of_what_was_asked(candidate: Candidate) -> bool:
    """As in "the anion gap is 15", where the anion gap was asked for, "12 %", where it was a percentage."""
    if isinstance(candidate.value, Percentage) and _PERCENT.search(candidate.asked):
        return True
    topics = ((patterns, _asked(candidate, patterns)) for patterns in (_QUANTITIES, _FORMULAS))
    return any(topic is not None and _subject(candidate, patterns) == topic for patterns, topic in topics)


def of_a_quantity(candidate: Candidate) -> bool:
    """As in "the corrected calcium is 9.28"."""
    return _subject(candidate, _QUANTITIES) is not None


def of_something_else(candidate: Candidate) -> bool:
    """As in "the delta gap is 3", where the anion gap was asked for, "Bazett gives 452", where it was Fridericia."""
    for patterns in (_QUANTITIES, _FORMULAS, _DATES):
        topic = _topic(candidate, patterns)
        if topic is not None and _subject(candidate, patterns) not in (None, topic):
            return True
    return False


def of_another_matter(candidate: Candidate) -> bool:
    """Of one quantity, where all the paragraphs before its own, and nothing of what they find, are of another."""
    start = candidate.text.rfind("\n\n", 0, candidate.start)
    if start < 0 or _asked(candidate, _QUANTITIES) is not None:
        return False
    head, own = candidate.text[:start][-800:], candidate.text[start : candidate.start][-300:]
    one, other = _all_named(head), _all_named(own)
    return len(one) == len(other) == 1 and one != other and not any(found in own for found in _FOUND.findall(head)[-1:])


@lru_cache(maxsize=8)
def _all_named(text: str) -> set[int | None]:
    return {found.lastindex for found in _QUANTITIES.finditer(text)}


@lru_cache(maxsize=64)
def _unit_asked(question: str) -> int | None:
    what = _WHAT.search(question)
    for found in _IN_UNITS.finditer(question, what.end() if what else 0):
        unit = _unit(question[found.end() : found.end() + 20])
        if unit:
            return unit
    return None


def _unit(text: str) -> int | None:
    found = _UNITS.match(text)
    return found and found.lastindex


def in_another_unit(candidate: Candidate) -> bool:
    """As in "2.44 mmol/L", where the question wants mg/dL."""
    asked, unit = _unit_asked(candidate.asked), _unit(after(candidate)[:20])
    if before(candidate).endswith('"') and after(candidate).startswith('"'):
        return False
    return None not in (asked, unit) and asked != unit
