"""Calendar dates: as MedCalc-Bench's authors read them, and as people write them."""

from __future__ import annotations

import datetime
import re

_STRICT = re.compile(r"(0?[1-9]|1[0-2])/(0?[1-9]|[12][0-9]|3[01])/(\d{4})")

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)"
)
_WRITTEN = re.compile(
    r"(?<!\d)(?P<y1>\d{4})\s?[-/.]\s?(?P<m1>\d{1,2})\s?[-/.]\s?(?P<d1>\d{1,2})(?!\d)"
    r"|(?<![\d/.])(?P<m2>\d{1,2})\s?[-/.]\s?(?P<d2>\d{1,2})\s?[-/.]\s?(?P<y2>\d{4}|\d{2})(?![\d/])"
    rf"|(?<![a-z])(?P<m3>{_MONTH})\b\.?\s{{0,3}}(?P<d3>\d{{1,2}})(?:st|nd|rd|th)?\b,?\s{{0,3}}(?P<y3>\d{{4}})(?!\d)"
    rf"|(?<!\d)(?P<d4>\d{{1,2}})(?:st|nd|rd|th)?[\s-]{{0,3}}(?:of\s)?(?P<m4>{_MONTH})\b\.?,?[\s-]{{0,3}}(?P<y4>\d{{4}})(?!\d)",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\([^()]{0,300}\)")
_MARKUP = re.compile(r"[*_`${}~]|\\(?:boxed|text|mathrm|textbf|[,;:! ])")


def strict_date(text: str) -> datetime.date | None:
    """The date ``M/D/YYYY`` at the start of a text, with or without leading zeros; None for none, or 30 February."""
    match = _STRICT.match(text)
    return _date(match[3], match[1], match[2]) if match else None


def written_date(text: str) -> datetime.date | None:
    """The last date in a text: ``5/4/2021``, ISO ``2021-05-04``, ``May 4th, 2021``, ``4 May 2021``, ``5/4/21`` (20YY).

    Where the order is not given by the form, it is month before day, as in the data set, unless that is no date.
    Remarks in parentheses count only where there is no other date.
    """
    text = " ".join(_MARKUP.sub(" ", text).split())
    return _last_date(_ASIDE.sub(" ", text)) or _last_date(text)


def _last_date(text: str) -> datetime.date | None:
    found = None
    for match in _WRITTEN.finditer(text):
        for form in "1234":
            if match[f"y{form}"]:
                year, month, day = match[f"y{form}"], match[f"m{form}"], match[f"d{form}"]
                found = _date(year, month, day) or (_date(year, day, month) if form == "2" else None) or found
    return found


def _date(year: str, month: str, day: str) -> datetime.date | None:
    try:
        number = int(month) if month.isdecimal() else _MONTHS.index(month[:3].lower()) + 1
        return datetime.date(int(year) + (2000 if len(year) == 2 else 0), number, int(day))
    except ValueError:
        return None
