"""Gestational ages in days, as MedCalc-Bench's corrected rows ask for them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from medtasks_utils.extraction import numbers
from medtasks_utils.extraction.values import Kind
from medtasks_utils.extraction.weighing import Reading

_WEEKS_AND_DAYS = re.compile(
    r"""(\d{1,4})\s?weeks?["']?\s?(?:,|and\b|&)?\s?["']?(\d{1,4})\s?(?:days?\b|["')\]]|$)"""
    r"""|[(\[]\s?["']?(\d{1,4})["']?\s?,\s?["']?(\d{1,4})["']?\s?[)\]]""",
    re.IGNORECASE,
)
_WHOLE_WEEKS = re.compile(r"(?<![\d.])(\d{1,4})\s?weeks?\b", re.IGNORECASE)


def strict_days(text: str) -> float | None:
    """Days, out of weeks and days in the forms of the first release, whole weeks, or the last number.

    >>> strict_days("31"), strict_days("(4 weeks, 3 days)"), strict_days("29 weeks"), strict_days("about a month")
    (31.0, 31, 203, None)
    """
    if pair := _WEEKS_AND_DAYS.search(text):
        weeks, days = (int(number) for number in pair.groups() if number is not None)
        return 7 * weeks + days
    if whole := _WHOLE_WEEKS.search(text):
        return 7 * int(whole[1])
    value = numbers.strict_decimal(text)
    return float(value) if isinstance(value, int | float) else None


def reading_in_days(read: Callable[[Kind], Reading]) -> Reading:
    """Days as people write them: weeks and days, else a number.

    Args:
        read: what a text says, read as weeks and days or as a number.
    """
    age = read("weeks_days")
    return read("decimal") if age.value is None else replace(age, value=7 * age.value[0] + age.value[1])
