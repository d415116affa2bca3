"""The kinds of answer that MedCalc-Bench asks for: how each is written in the data, read, and found right.

Which kind an answer is of depends on the calculator alone; the column ``Output Type`` is wrong for some.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from typing import Any, ClassVar, NamedTuple

from medtasks_utils.benchmarks.tables import Row
from medtasks_utils.errors import DataError
from medtasks_utils.extraction import numbers
from medtasks_utils.extraction.dates import strict_date
from medtasks_utils.extraction.durations import strict_weeks_days
from medtasks_utils.extraction.quantities import Percentage
from medtasks_utils.extraction.weighing import Reading

NOT_AVAILABLE = "N/A"
"""The right answer where the note lacks what is needed, in the rows that have such a label."""

PHYSICIANS = "physicians"
"""Whose labels are not the benchmark's own: of examples under ``labels``, and in the details of samples."""

_WEEKS_AND_DAYS = re.compile(
    r"""(\d{1,4})\s?weeks?["']?\s?(?:,|and\b|&)?\s?["']?(\d{1,4})\s?(?:days?\b|["')\]]|$)"""
    r"""|[(\[]\s?["']?(\d{1,4})["']?\s?,\s?["']?(\d{1,4})["']?\s?[)\]]""",
    re.IGNORECASE,
)
_WHOLE_WEEKS = re.compile(r"(?<![\d.])(\d{1,4})\s?weeks?\b", re.IGNORECASE)


class Truth(NamedTuple):
    """A right answer: in the form that is asked for, and the limits of a number."""

    shown: str
    lower: float | None = None
    upper: float | None = None


class Kind(ABC):
    """A kind of answer; ``name`` is what examples call it under ``judgement``."""

    name: ClassVar[str]

    @abstractmethod
    def truth(self, cells: Mapping[str, str], place: str) -> Truth:
        """The right answer of a row, given its cells.

        Raises:
            DataError: where it cannot be read; ``place`` names the row.
        """

    @abstractmethod
    def strict(self, content: str) -> Any:
        """The value that the authors' scorer reads in the content of a tag or box; None where it reads none."""

    def flexible(self, read: Callable[[Any], Reading]) -> Reading:
        """What a text says, given the reader of values by kind."""
        return read(self.name)

    @abstractmethod
    def is_right(self, value: Any, example: Row) -> bool:
        """Whether a value equals the truth, or lies within its limits."""

    def shown(self, value: Any) -> str | None:
        """A value as samples show it; None as it is."""
        return None


class Date(Kind):
    """A calendar date."""

    name = "date"

    def truth(self, cells: Mapping[str, str], place: str) -> Truth:
        """``M/D/YYYY``."""
        found = strict_date(cells["Ground Truth Answer"])
        if found is None:
            raise _unreadable(cells, place, "a date M/D/YYYY")
        return Truth(self.shown(found))

    def strict(self, content: str) -> date | None:
        """``M/D/YYYY`` at the start."""
        return strict_date(_plain(content))

    def is_right(self, value: Any, example: Row) -> bool:
        """The same date."""
        return bool(value == strict_date(example["ground_truth"]))

    def shown(self, value: date) -> str:
        """``M/D/YYYY``."""
        return f"{value.month}/{value.day}/{value.year}"


class WeeksDays(Kind):
    """A gestational age in weeks and days."""

    name = "weeks_days"

    def truth(self, cells: Mapping[str, str], place: str) -> Truth:
        """``(4 weeks, 3 days)``."""
        age = strict_weeks_days(cells["Ground Truth Answer"])
        if age is None:
            raise _unreadable(cells, place, "weeks and days")
        return Truth(self.shown(age))

    def strict(self, content: str) -> tuple[int, int] | None:
        """In any of the authors' forms."""
        return strict_weeks_days(_plain(content))

    def is_right(self, value: Any, example: Row) -> bool:
        """The same weeks and the same days."""
        return bool(value == strict_weeks_days(example["ground_truth"]))

    def shown(self, value: tuple[int, int]) -> str:
        """``(4 weeks, 3 days)``."""
        return f"({value[0]} weeks, {value[1]} days)"


class Days(Kind):
    """A gestational age in days, as the corrected rows ask for it; weeks and days that make as many are right too."""

    name = "days"

    def truth(self, cells: Mapping[str, str], place: str) -> Truth:
        """A whole number."""
        days = number(cells["Ground Truth Answer"], "Ground Truth Answer", place)
        if not days.is_integer():
            raise _unreadable(cells, place, "a number of days")
        return Truth(f"{days:.0f}")

    def strict(self, content: str) -> float | None:
        """Weeks and days in the forms of the first release, whole weeks, or the last number.

        >>> [Days().strict(text) for text in ("31", "(4 weeks, 3 days)", "29 weeks", "about a month")]
        [31.0, 31, 203, None]
        """
        text = _plain(content)
        if pair := _WEEKS_AND_DAYS.search(text):
            weeks, days = (int(found) for found in pair.groups() if found is not None)
            return 7 * weeks + days
        if whole := _WHOLE_WEEKS.search(text):
            return 7 * int(whole[1])
        value = numbers.strict_decimal(text)
        return float(value) if isinstance(value, int | float) else None

    def flexible(self, read: Callable[[Any], Reading]) -> Reading:
        """Weeks and days, else a number."""
        age = read(WeeksDays.name)
        return read(Decimal.name) if age.value is None else replace(age, value=7 * age.value[0] + age.value[1])

    def is_right(self, value: Any, example: Row) -> bool:
        """As many days."""
        return bool(value == float(example["ground_truth"]))


class Decimal(Kind):
    """A number within limits."""

    name = "decimal"

    def truth(self, cells: Mapping[str, str], place: str) -> Truth:
        """With its limits in order: the data gives them the wrong way round for some negative truths."""
        number(cells["Ground Truth Answer"], "Ground Truth Answer", place)
        lower, upper = sorted(number(cells[f"{side} Limit"], f"{side} Limit", place) for side in ("Lower", "Upper"))
        return Truth(cells["Ground Truth Answer"], lower, upper)

    def strict(self, content: str) -> Any:
        """By the authors' rules for decimals."""
        return numbers.strict_decimal(_plain(content))

    def is_right(self, value: Any, example: Row) -> bool:
        """Within the limits; 83.3 % may be the number that it shows, 83.3, or the fraction that it means, 0.833."""
        readings = (value, value / 100) if isinstance(value, Percentage) else (value,)
        return any(example["lower_limit"] <= reading <= example["upper_limit"] for reading in readings)


class Integer(Decimal):
    """A score."""

    name = "integer"

    def strict(self, content: str) -> Any:
        """By the authors' rules for integers."""
        return numbers.strict_integer(_plain(content))

    def is_right(self, value: Any, example: Row) -> bool:
        """Rounded as Python does, the truth."""
        return bool(round(value) == float(example["ground_truth"]))


KINDS: Mapping[str, Kind] = {kind.name: kind for kind in (Date(), WeeksDays(), Days(), Integer(), Decimal())}

BY_CALCULATOR: Mapping[int, Kind] = {
    **dict.fromkeys((13, 68), KINDS["date"]),
    69: KINDS["weeks_days"],
    **dict.fromkeys((4, 15, 16, 17, 18, 20, 21, 25, 27, 28, 29, 32, 33, 36, 43, 45, 48, 51), KINDS["integer"]),
    **dict.fromkeys(
        (2, 3, *range(5, 12), 19, 22, 23, 24, 26, 30, 31, 38, 39, 40, 44, 46, 49, *range(56, 68)), KINDS["decimal"]
    ),
}


def is_right(value: Any, example: Row) -> bool:
    """Whether a value, or ``N/A``, is right by an example's label."""
    if value is None or NOT_AVAILABLE in (value, example["ground_truth"]):
        return bool(value == example["ground_truth"])
    return KINDS[example["judgement"]].is_right(value, example)


def number(cell: str, column: str, place: str) -> float:
    """The number in a cell.

    Raises:
        DataError: where there is none.
    """
    try:
        found = float(cell)
    except ValueError:
        found = math.nan
    if math.isnan(found):
        raise DataError(f"{place}: {column} is {cell!r}, not a number")
    return found


def _plain(content: str) -> str:
    return re.sub(r"\s+", " ", content).strip().strip('"')


def _unreadable(cells: Mapping[str, str], place: str, wanted: str) -> DataError:
    return DataError(f"{place}: Ground Truth Answer is {cells['Ground Truth Answer']!r}, not {wanted}")
