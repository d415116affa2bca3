"""MedCalc-Bench's rows: how each calculator's answers are judged, columns, and rows as documents."""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Literal

from medtasks_utils.benchmarks.medcalc_bench.card import CATEGORIES, NOT_AVAILABLE
from medtasks_utils.errors import DataError
from medtasks_utils.extraction.dates import strict_date
from medtasks_utils.extraction.durations import strict_weeks_days
from medtasks_utils.harness.sources import Row, Table

Judgement = Literal["date", "weeks_days", "days", "integer", "decimal"]

# How an answer is judged depends on the calculator alone; the column "Output Type" is wrong for some.
JUDGEMENTS: dict[int, Judgement] = {
    **dict.fromkeys((13, 68), "date"),
    69: "weeks_days",
    **dict.fromkeys((4, 15, 16, 17, 18, 20, 21, 25, 27, 28, 29, 32, 33, 36, 43, 45, 48, 51), "integer"),
    **dict.fromkeys(
        (2, 3, *range(5, 12), 19, 22, 23, 24, 26, 30, 31, 38, 39, 40, 44, 46, 49, *range(56, 68)), "decimal"
    ),
}

COLUMNS = (
    "Row Number",
    "Calculator ID",
    "Calculator Name",
    "Category",
    "Output Type",
    "Patient Note",
    "Question",
    "Ground Truth Answer",
    "Lower Limit",
    "Upper Limit",
    "Ground Truth Explanation",
)


def as_document(
    row: Row,
    table: Table,
    index: int,
    judgements: Mapping[int, Judgement] = JUDGEMENTS,
    may_lack_answer: bool = False,
) -> Row:
    """A row of the table as a document.

    Args:
        row: with all of ``COLUMNS``.
        table: that it is of.
        index: its place there, from 0.
        judgements: how answers are judged, by calculator.
        may_lack_answer: whether ``N/A`` is a truth.

    Raises:
        DataError: for an unknown calculator or category, or a truth or limit that cannot be read.
    """
    cells = {column: "" if row[column] is None else str(row[column]).strip() for column in COLUMNS}
    calculator = _number(cells["Calculator ID"], "Calculator ID", table, index)
    if calculator not in judgements:
        raise DataError(
            f"{table.at(index)}: unknown Calculator ID {cells['Calculator ID']}; how answers are judged is known for "
            f"{', '.join(map(str, sorted(judgements)))}"
        )
    judgement = judgements[int(calculator)]
    truth = cells["Ground Truth Answer"]
    is_unanswerable = truth == NOT_AVAILABLE and may_lack_answer
    shown, lower, upper = (truth, None, None) if is_unanswerable else _shown_with_limits(cells, judgement, table, index)
    return {
        "row_number": cells["Row Number"],
        "calculator_id": int(calculator),
        "calculator_name": cells["Calculator Name"],
        "category": _category(cells["Category"], table, index),
        "output_type": cells["Output Type"],
        "judgement": judgement,
        "note": cells["Patient Note"],
        "question": cells["Question"],
        "ground_truth": truth,
        "shown_truth": shown,
        "lower_limit": lower,
        "upper_limit": upper,
        "explanation": cells["Ground Truth Explanation"],
        "example_note": "",
        "example_question": "",
        "example_explanation": "",
        "example_answer": "",
    }


def _shown_with_limits(
    cells: Mapping[str, str], judgement: Judgement, table: Table, index: int
) -> tuple[str, float | None, float | None]:
    """The truth in the form that is asked for, and the limits of a number."""
    truth = cells["Ground Truth Answer"]
    if judgement == "date":
        date = strict_date(truth)
        if date is None:
            raise DataError(f"{table.at(index)}: Ground Truth Answer is {truth!r}, not a date M/D/YYYY")
        return f"{date.month}/{date.day}/{date.year}", None, None
    if judgement == "weeks_days":
        age = strict_weeks_days(truth)
        if age is None:
            raise DataError(f"{table.at(index)}: Ground Truth Answer is {truth!r}, not weeks and days")
        return f"({age[0]} weeks, {age[1]} days)", None, None
    number = _number(truth, "Ground Truth Answer", table, index)
    if judgement == "days":
        if not number.is_integer():
            raise DataError(f"{table.at(index)}: Ground Truth Answer is {truth!r}, not a number of days")
        return f"{number:.0f}", None, None
    limits = (_number(cells[f"{side} Limit"], f"{side} Limit", table, index) for side in ("Lower", "Upper"))
    lower, upper = sorted(limits)  # the data gives them the wrong way round for some negative truths
    return truth, lower, upper


def _number(cell: str, column: str, table: Table, index: int) -> float:
    try:
        number = float(cell)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise DataError(f"{table.at(index)}: {column} is {cell!r}, not a number")
    return number


def _category(label: str, table: Table, index: int) -> str:
    name = label.lower().replace(" ", "_")
    name = "lab_test" if name == "lab" else name
    if name not in CATEGORIES:
        raise DataError(f"{table.at(index)}: unknown Category {label!r}; known: {', '.join(CATEGORIES)}")
    return name


def stratified(documents: list[Row], per_calculator: int) -> list[Row]:
    """The same ``per_calculator`` documents of each calculator on every machine, in the order of the data."""
    by_calculator: dict[int, list[int]] = defaultdict(list)
    for index, doc in enumerate(documents):
        by_calculator[doc["calculator_id"]].append(index)
    chosen: list[int] = []
    for indices in by_calculator.values():
        chosen += sorted(indices, key=lambda index: _hash_rank(documents[index]))[:per_calculator]
    return [documents[index] for index in sorted(chosen)]


def _hash_rank(document: Row) -> bytes:
    return hashlib.sha256(f"medcalc_bench:{document['row_number']}".encode()).digest()
