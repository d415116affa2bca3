"""Calendar dates: as MedCalc-Bench's authors read them, and as people write them."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator

from medtasks_utils.extraction import cues
from medtasks_utils.extraction.weighing import Found

_STRICT = re.compile(r"(0?[1-9]|1[0-2])/(0?[1-9]|[12][0-9]|3[01])/(\d{4})")

_MONTH_NUMBERS = [
    (number, re.compile(rf"(?:{name})$"))
    for names in cues.MONTHS.values()
    for number, name in enumerate(names.split(), start=1)
]
_MONTH = "|".join(name for names in cues.MONTHS.values() for name in names.split())
_ERA = r"(?:令和|平成)(?:\d{1,2}|元)年"
_LETTER = r"[^\W\d_]"
_WRITTEN = re.compile(
    r"(?<!\d)(?P<y1>\d{4})\s?[-/.]\s?(?P<m1>\d{1,2})\s?[-/.]\s?(?P<d1>\d{1,2})(?!\d)"
    r"|(?<![\d/.])(?P<m2>\d{1,2})\s?[-/.]\s?(?P<d2>\d{1,2})\s?[-/.]\s?(?P<y2>\d{4}|\d{2})(?![\d/])"
    rf"|(?<!{_LETTER})(?P<m3>{_MONTH})(?!{_LETTER})\.?\s{{0,3}}(?P<d3>\d{{1,2}})(?:st|nd|rd"
    rf"|th)?\b,?\s{{0,3}}(?P<y3>\d{{4}})(?!\d)|(?<!\d)(?P<d4>\d{{1,2}})(?:st|nd|rd|th|er|º|\.)?[\s-]{{0,3}}(?:of\s"
    rf"|de\s)?(?P<m4>{_MONTH})(?!{_LETTER})\.?,?[\s-]{{0,3}}"
    r"(?:de\s|del\s)?(?P<y4>\d{4})(?!\d)"
    rf"|(?<!\d)(?:{_ERA}(?P<era>\()?)?(?P<y5>\d{{4}})\s?[年년](?(era)\))(?:\({_ERA}\))?\s?(?P<m5>\d{{1,2}})\s?[月월]\s?(?P<d5>\d{{1,2}})\s?[日일号]",
    re.IGNORECASE,
)
_SPACE = re.compile(r"[_`${}~]|\\(?:boxed|text|mathrm|textbf|[,;:! ])")


def strict_date(text: str) -> datetime.date | None:
    """The date ``M/D/YYYY`` at the start of a text, with or without leading zeros; None for none, or 30 February."""
    match = _STRICT.match(text)
    return _date(match[3], match[1], match[2]) if match else None


def written_dates(text: str) -> Iterator[Found]:
    """The dates in a text: ``5/4/2021``, ISO ``2021-05-04``, ``May 4th, 2021``, ``4 mai 2021``, ``5/4/21`` (20YY).

    Where the order is not given by the form, it is month before day, as in the data set, unless that is no date, of
    this one or of another of the text (``24.05.2021``, but ``05.04.2021`` alone is in May).
    """
    text = _SPACE.sub(lambda match: " " * len(match[0]), text)
    matches = list(_WRITTEN.finditer(text))
    firsts, seconds = ([int(match[name]) for match in matches if match["y2"]] for name in ("m2", "d2"))
    day_first = max(firsts, default=0) > 12 >= max(seconds, default=0)
    for match in matches:
        for form in "12345":
            if match[f"y{form}"]:
                year, month, day = match[f"y{form}"], match[f"m{form}"], match[f"d{form}"]
                if form == "2" and day_first:
                    month, day = day, month
                date = _date(year, month, day) or (_date(year, day, month) if form == "2" else None)
                if date:
                    yield Found(date, match.start(), match.end())


def _date(year: str, month: str, day: str) -> datetime.date | None:
    try:
        return datetime.date(int(year) + (2000 if len(year) == 2 else 0), _month(month), int(day))
    except ValueError:
        return None


def _month(text: str) -> int:
    if text.isdecimal():
        return int(text)
    return next((number for number, name in _MONTH_NUMBERS if name.match(text.lower())), 0)
