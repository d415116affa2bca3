"""Read calendar dates, by the rule of MedCalc-Bench's authors and in common notations."""

import datetime
import re
from collections.abc import Iterator

from medtasks_utils.extraction.patterns import later
from medtasks_utils.extraction.words import Mention, any_of, numbers_by_word

_SIGNS = str.maketrans(dict.fromkeys("{}~$`_", " "))
_STRICT = later(r"(0?[1-9]|1[0-2])/(0?[1-9]|[12][0-9]|3[01])/(\d{4})")


def strict_date(text: str) -> datetime.date | None:
    """Return the date ``M/D/YYYY`` at the start of a text, with or without leading zeros; None if it is not valid."""
    match = _STRICT.match(text)
    return _date(match[3], match[1], match[2]) if match else None


# A written date; its groups y1, m1 and d1 to y5, m5 and d5 are year, month and day.
_FORMS = (
    r"(?<!\d)(?P<y1>\d{4})\s?[-/.]\s?(?P<m1>\d{1,2})\s?[-/.]\s?(?P<d1>\d{1,2})(?!\d)"
    r"|(?<![\d/.])(?P<m2>\d{1,2})\s?[-/.]\s?(?P<d2>\d{1,2})\s?[-/.]\s?(?P<y2>\d{4}|\d{2})(?![\d/])"
    r"|(?<![^\W\d_])(?P<m3>%(month)s)(?![^\W\d_])\.?\s{0,3}(?P<d3>\d{1,2})(?:st|nd|rd|th)?\b,?\s{0,3}(?P<y3>\d{4})(?!\d)"
    r"|(?<!\d)(?P<d4>\d{1,2})(?:st|nd|rd|th|er|º|\.)?[\s-]{0,3}(?:of\s|de\s)?(?P<m4>%(month)s)(?![^\W\d_])\.?,?[\s-]{0,3}"
    r"(?:de\s|del\s)?(?P<y4>\d{4})(?!\d)"
    r"|(?<!\d)(?P<y5>\d{4})\s?[年년]\s?(?P<m5>\d{1,2})\s?[月월]\s?(?P<d5>\d{1,2})\s?[日일号]"
)
_MONTHS = [f"month{number}" for number in range(1, 13)]
_WRITTEN = later(lambda: _FORMS % {"month": any_of(*_MONTHS)}, re.IGNORECASE)


def written_dates(text: str) -> Iterator[Mention]:
    """Yield the dates in a text, such as ``5/4/2021``, ``2021-05-04``, ``May 4th, 2021`` and ``4 mai 2021``.

    A year of two digits, as in ``5/4/21``, means 2000 to 2099. Where the notation is ambiguous, the month comes first,
    as in the data set. The day comes first in dates with dots (``4.5.2021``), and if another date in the text is valid
    only in this order.

    >>> [str(date.value) for date in written_dates("5.4.2021 and 5/4/2021")]
    ['2021-04-05', '2021-05-04']
    """
    matches = list(_WRITTEN.finditer(text.translate(_SIGNS)))
    day_first = any(int(match["m2"] or 0) > 12 for match in matches)
    for match in matches:
        form = str(match.lastgroup)[-1]
        date = _date(match[f"y{form}"], match[f"m{form}"], match[f"d{form}"])
        if match["y2"] and (day_first or "." in match[0]):
            date = _date(match["y2"], match["d2"], match["m2"]) or date
        if date:
            yield Mention(date, match.start(), match.end())


def _date(year: str, month: str, day: str) -> datetime.date | None:
    """Return a date, or None if it is not valid; the month is a name or number, and a year ``YY`` means ``20YY``."""
    try:
        number = int(month) if month.isdecimal() else numbers_by_word("month").get(month.lower(), 0)
        return datetime.date(int(year) + (2000 if len(year) == 2 else 0), number, int(day))
    except ValueError:
        return None
