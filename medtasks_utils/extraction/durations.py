"""Gestational ages in weeks and days: as MedCalc-Bench's authors read them, and as people write them."""

from __future__ import annotations

import re

from medtasks_utils.extraction.numbers import python_literal

WeeksDays = tuple[int, int]

# Two numbers with optional quotes, comma and unit words between them. Backtracking splits one number in two where
# there is no second ("29 weeks" reads as 2 and 9): the published numbers were made with that.
_STRICT = re.compile(r"""(\d+)\s{0,50}(?:weeks?)?["']?,?\s{0,50}["']?(\d+)""")
_BRACKETS = str.maketrans({"[": "(", "]": ")", "'": None, '"': None})

_PAIR = re.compile(
    r"(?<![\d.])(\d{1,3})[\s-]{0,2}(?:completed\s)?(?:weeks?|wks?|w)\b[\s,;&+'\"]{0,6}(?:and\s{1,3}|plus\s{1,3})?['\"]?"
    r"(\d{1,3})[\s-]{0,2}(?:days?|d)\b"
    r"|(?<![\d.])(\d{1,3})w(\d{1,2})d?\b"
    r"|(?<![\d.])(\d{1,3})\s{0,2}\+\s?(\d)(?![\d.])"
    r"|(?<![\d.])(\d{1,3})\s(?:weeks?\s)?(?:and\s)?(\d)/7(?!\d)"
    r"|[(\[]\s?['\"]?(\d{1,3})['\"]?\s?,\s?['\"]?(\d{1,2})['\"]?\s?[)\]]",
    re.IGNORECASE,
)
_WEEKS = re.compile(r"(?<![\d.])(\d{1,3})[\s-]{0,2}(?:completed\s)?(?:weeks?|wks?)\b", re.IGNORECASE)
_DAYS = re.compile(r"(?<![\d.])(\d{1,4})\s{0,2}days?\b", re.IGNORECASE)
_MARKUP = re.compile(r"[*_`${}^~]|\\(?:boxed|text|mathrm|textbf|[,;:! ])")


def strict_weeks_days(text: str) -> WeeksDays | None:
    """(weeks, days) as the authors' scorer reads them; ``text`` has no runs of white space."""
    match = _STRICT.search(text) and _STRICT.search(text.translate(_BRACKETS))
    if not match:
        return None
    weeks, days = python_literal(match[1]), python_literal(match[2])
    return (int(weeks), int(days)) if weeks is not None and days is not None else None


def written_weeks_days(text: str) -> WeeksDays | None:
    """The last (weeks, days) in a text, else whole weeks, else days.

    Read are "4 weeks and 3 days", "4w3d", "4+3", "4 3/7", "(4, 3)" and their kin.
    """
    text = " ".join(_MARKUP.sub(" ", text).split())
    pairs = [tuple(int(group) for group in match.groups() if group is not None) for match in _PAIR.finditer(text)]
    if pairs:
        weeks, days = pairs[-1]
        return weeks, days
    if weeks_only := _WEEKS.findall(text):
        return int(weeks_only[-1]), 0
    if days_only := _DAYS.findall(text):
        return divmod(int(days_only[-1]), 7)
    return None
