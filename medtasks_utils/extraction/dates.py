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

    Where the form does not give the order, the month is first (see :func:`in_one_order`).
    """
    for match in _WRITTEN.finditer(_SPACE.sub(lambda match: " " * len(match[0]), text)):
        date = _of(match)
        if date:
            yield Found(date, match.start(), match.end())


def in_one_order(text: str) -> str:
    """The text with year first in dates of which day and month may be taken for one another.

    With points the day is first, else the month, as in the data set; unless that is no date, of this one or of
    another, or not one that the text spells out.

    >>> in_one_order("5.4.2021"), in_one_order("5/4/2021"), in_one_order("5/4/2021 (5 April 2021)")
    ('2021-4-5', '5/4/2021', '2021-4-5 (5 April 2021)')
    """
    matches = list(_WRITTEN.finditer(_SPACE.sub(lambda match: " " * len(match[0]), text)))
    spelled = {_of(match) for match in matches if not match["y2"]}
    open_ones = [match for match in matches if match["y2"]]
    firsts, seconds = ([int(match[name]) for match in open_ones] for name in ("m2", "d2"))
    for match in reversed(open_ones):
        year, first, second = f"20{match['y2']}"[-4:], match["m2"], match["d2"]
        month_first, day_first = _date(year, first, second), _date(year, second, first)
        if (month_first in spelled) is not (day_first in spelled):
            swapped = day_first in spelled
        elif max(firsts) > 12 or max(seconds) > 12:
            swapped = max(firsts) > 12 >= max(seconds)
        else:
            swapped = "." in match[0]
        if swapped and day_first:
            text = f"{text[: match.start()]}{year}-{second}-{first}{text[match.end() :]}"
    return text


def _of(match: re.Match[str]) -> datetime.date | None:
    form = next(form for form in "12345" if match[f"y{form}"])
    year, month, day = match[f"y{form}"], match[f"m{form}"], match[f"d{form}"]
    return _date(year, month, day) or (_date(year, day, month) if form == "2" else None)


def _date(year: str, month: str, day: str) -> datetime.date | None:
    try:
        return datetime.date(int(year) + (2000 if len(year) == 2 else 0), _month(month), int(day))
    except ValueError:
        return None


def _month(text: str) -> int:
    if text.isdecimal():
        return int(text)
    return next((number for number, name in _MONTH_NUMBERS if name.match(text.lower())), 0)
