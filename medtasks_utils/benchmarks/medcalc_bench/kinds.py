"""Define the kinds of answer in MedCalc-Bench: their notation in the data, reading, and scoring.

The calculator determines the kind (``calculators.csv``), except for gestational ages in the corrected rows, which are
in days (:class:`Days`). The column ``Output Type`` is not used, since it is wrong for some calculators.
"""

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from medtasks_utils.benchmarks.facts import Example
from medtasks_utils.benchmarks.tables import Row, read_rows

from . import numbers
from .dates import strict_date
from .durations import strict_weeks_days
from .quantities import Percentage

NOT_AVAILABLE = "N/A"
"""The label of rows whose note lacks the data that the calculation needs."""

NUMBER = r"-?[0-9]+(?:\.[0-9]+)?"
"""A regular expression that matches a number."""

_WEEKS_AND_DAYS = re.compile(
    r"""(\d{1,4})\s?weeks?["']?\s?(?:,|and\b|&)?\s?["']?(\d{1,4})\s?(?:days?\b|["')\]]|$)"""
    r"""|[(\[]\s?["']?(\d{1,4})["']?\s?,\s?["']?(\d{1,4})["']?\s?[)\]]""",
    re.IGNORECASE,
)
_ANSWER = "Ground Truth Answer"
_WHOLE_WEEKS = re.compile(r"(?<![\d.])(\d{1,4})\s?weeks?\b", re.IGNORECASE)


class Truth(NamedTuple):
    """The right answer in the requested form, and the limits for numbers."""

    shown_truth: str
    lower_limit: float | None = None
    upper_limit: float | None = None


@dataclass(frozen=True)
class Kind:
    """A kind of answer. By default, an answer is right if it equals the truth.

    Attributes:
        name: the value of the field ``judgement`` in examples.
        read: the authors' rule: a function that takes the content of a tag or box, without line breaks and outer
            quotes, and returns its value, or None if it is not an answer.
        form: a description of the notation in which an auditor writes such an answer.
        pattern: a regular expression for the same notation.
        shown: a function that formats a value as samples show it.
    """

    name: str
    read: Callable[[str], Any]
    form: str
    pattern: str
    shown: Callable[[Any], str] = str

    def truth(self, row: Row) -> Truth:
        """Return a row's right answer in the requested form.

        Raises:
            ValueError: if the answer or a limit is unreadable.
        """
        value = self.strict(row[_ANSWER])
        if value is None:
            raise ValueError(f"{_ANSWER} is {row[_ANSWER]!r}, which is not of the kind {self.name}")
        return Truth(self.shown(value))

    def strict(self, content: str) -> Any:
        """Return the value that the authors' scorer finds in the content of a tag or box; None if it finds none."""
        return self.read(re.sub(r"\s+", " ", content).strip().strip('"'))

    def is_right(self, value: Any, example: Example) -> bool:
        """Return whether a value equals the example's label."""
        return bool(value == self.strict(example["ground_truth"]))


class Decimal(Kind):
    """A number within limits."""

    def truth(self, row: Row) -> Truth:
        """Return the answer with its limits in ascending order; the data swaps the limits of some negative answers.

        Raises:
            ValueError: if the answer or a limit is not a number.
        """
        _number(row, _ANSWER)
        lower, upper = sorted((_number(row, "Lower Limit"), _number(row, "Upper Limit")))
        return Truth(row[_ANSWER], lower, upper)

    def is_right(self, value: Any, example: Example) -> bool:
        """Return whether a value is within the limits; 83.3 % counts as both 83.3 and 0.833."""
        readings = (value, value / 100) if isinstance(value, Percentage) else (value,)
        return any(example["lower_limit"] <= reading <= example["upper_limit"] for reading in readings)


class Integer(Decimal):
    """A whole number, such as a risk score."""

    def is_right(self, value: Any, example: Example) -> bool:
        """Return whether ``round(value)`` equals the label."""
        return bool(round(value) == float(example["ground_truth"]))


class Days(Kind):
    """A gestational age in days, as in the corrected rows; the same age in weeks and days is also right."""

    def truth(self, row: Row) -> Truth:
        """Return the answer as a whole number of days, without limits.

        Raises:
            ValueError: if the answer is not a number.
        """
        return Truth(f"{_number(row, _ANSWER):.0f}")


def days_in(text: str) -> float | None:
    """Return the number of days in a text; None if the text states none.

    Weeks and days are looked for first, then whole weeks, then a number by the rule for decimals.

    >>> [days_in(text) for text in ("31", "(4 weeks, 3 days)", "29 weeks", "about a month")]
    [31.0, 31, 203, None]
    """
    pair = _WEEKS_AND_DAYS.search(text)
    if pair is not None:
        weeks, days = (int(group) for group in pair.groups() if group is not None)
        return 7 * weeks + days
    whole = _WHOLE_WEEKS.search(text)
    if whole is not None:
        return 7 * int(whole[1])
    value = numbers.strict_decimal(text)
    return None if value is None or abs(value) > sys.float_info.max else float(value)


def _number(row: Row, column: str) -> float:
    """Convert a cell to a number.

    Raises:
        ValueError: with the column's name, if the cell is not a number.
    """
    if not re.fullmatch(NUMBER + r"(e[+-]?\d+)?", row[column]):
        raise ValueError(f"{column} is {row[column]!r}, not a number")
    return float(row[column])


_ALL_KINDS = (
    Kind(
        "date",
        strict_date,
        "a date as month/day/year, such as 4/3/2023",
        "[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}",
        lambda value: f"{value.month}/{value.day}/{value.year}",
    ),
    Kind(
        "weeks_days",
        strict_weeks_days,
        "weeks and days, such as (4 weeks, 3 days)",
        r"\([0-9]+ weeks, [0-9]+ days\)",
        lambda value: f"({value[0]} weeks, {value[1]} days)",
    ),
    Days("days", days_in, "a number of days, such as 31", NUMBER),
    Integer("integer", numbers.strict_integer, "a number without a unit, such as 3", NUMBER),
    Decimal(
        "decimal",
        numbers.strict_decimal,
        "a number without a unit, with a % if it is stated in per cent, such as 4.2 or 12.5%",
        f"{NUMBER}%?",
    ),
)
KINDS: Mapping[str, Kind] = {kind.name: kind for kind in _ALL_KINDS}


class CalculatorRecord(NamedTuple):
    """One of the 55 calculators: its ID, category, kind of answer, and name."""

    id: int
    category: str
    kind: Kind
    name: str


CALCULATORS = [
    CalculatorRecord(int(row["id"]), row["category"], KINDS[row["kind"]], row["name"])
    for row in read_rows(Path(__file__).with_name("calculators.csv"))
]
CATEGORIES = tuple(dict.fromkeys(calculator.category for calculator in CALCULATORS))


def is_right(value: Any, example: Example) -> bool:
    """Return whether a value, ``N/A`` or None (no answer) is right according to the example's label."""
    if value is None or NOT_AVAILABLE in (value, example["ground_truth"]):
        return bool(value == example["ground_truth"])
    return KINDS[example["judgement"]].is_right(value, example)


def can_be_right(example: Example) -> bool:
    """Return whether the label of a decimal or score would itself be scored as right; True for any other label."""
    kind, truth = KINDS[example["judgement"]], example["ground_truth"]
    return truth == NOT_AVAILABLE or not isinstance(kind, Decimal) or kind.is_right(float(truth), example)
