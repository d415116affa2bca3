"""The sample's corrected rows: each answer worked out again from its note, and what is lacking is lacking."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from conftest import sample_rows

ROWS = {int(row["Unique ID"]): row for row in sample_rows("medcalc_bench/corrected.csv")}


def number(note: str, pattern: str) -> float:
    """The one number that a pattern with ``#`` in its place finds in a note."""
    found = re.findall(pattern.replace("#", r"(\d+(?:\.\d+)?)"), note)
    assert len(set(found)) == 1, (pattern, found)
    return float(found[0])


def has(note: str, *phrases: str) -> int:
    assert all(phrase in note for phrase in phrases), [phrase for phrase in phrases if phrase not in note]
    return len(phrases)


def age(note: str) -> float:
    return number(note, "#-year-old")


def cha2ds2_vasc(note: str) -> float:
    years = age(note)
    female = has(note, f"{years:.0f}-year-old woman")
    return (years >= 65) + (years >= 75) + female + has(note, "heart failure", "hypertension", "type 2 diabetes")


def corrected_calcium(note: str) -> float:
    return number(note, "calcium of # mg/dL") + 0.8 * (4 - number(note, "albumin of # g/dL"))


def curb_65(note: str) -> float:
    low = number(note, r"#/\d+ mm Hg") < 90 or number(note, r"\d+/# mm Hg") <= 60
    urea, rate = number(note, "nitrogen of # mg/dL") > 19, number(note, "rate # breaths") >= 30
    return has(note, "is confused as to place and time") + urea + rate + low + (age(note) >= 65)


def delta_gap(note: str) -> float:
    sodium, chloride, bicarbonate = (number(note, f"{ion} of # mEq/L") for ion in ("sodium", "chloride", "bicarbonate"))
    return sodium - chloride - bicarbonate + 2.5 * (4 - number(note, "albumin of # g/dL")) - 12


def perc(note: str) -> float:
    criteria = [age(note) >= 50, number(note, "pulse is # beats") >= 100, number(note, "saturation # %") < 95]
    has(note, "no operation and no injury", "takes no medicine", "has not coughed up blood", "without swelling")
    return sum(criteria) + has(note, "treated for a deep vein thrombosis")


CALCULATIONS: dict[int, Callable[[str], float]] = {
    1: cha2ds2_vasc,
    2: corrected_calcium,
    4: curb_65,
    5: delta_gap,
    7: lambda note: (number(note, r"#/\d+ mm Hg") + 2 * number(note, r"\d+/# mm Hg")) / 3,
    8: lambda note: (
        number(note, "total cholesterol is # mg")
        - number(note, "HDL cholesterol #")
        - number(note, "triglycerides #") / 5
    ),
    9: lambda note: number(note, "takes # mg of hydrocortisone") / 4,
    10: perc,
    11: lambda note: number(note, "QT interval of # msec") * math.sqrt(number(note, "rate of # beats") / 60),
}
LACKING = {
    12: ("weight", "neither her weight nor her height", r"\d+(?:\.\d+)? ?(?:kg|lb|pounds|cm)\b"),
    13: ("INR", "The tube for the coagulation tests had clotted", r"\bINR\b|\bprothrombin\b"),
    14: (
        "lipids",
        "He left before blood could be drawn, and no earlier laboratory results exist",
        r"mg/dL|mmol|cholesterol",
    ),
    15: ("triglycerides", "it can measure no other lipids", r"triglyceride|LDL"),
}


def test_there_are_enough_and_four_are_unanswerable() -> None:
    assert len(ROWS) == 15
    assert [number for number, row in ROWS.items() if row["Ground Truth Answer"] == "N/A"] == list(LACKING)


@pytest.mark.parametrize("row", CALCULATIONS)
def test_the_answer_is_what_the_note_gives(row: int) -> None:
    cells = ROWS[row]
    value, truth = CALCULATIONS[row](cells["Patient Note"]), float(cells["Ground Truth Answer"])
    limits = float(cells["Lower Limit"]), float(cells["Upper Limit"])
    assert truth == pytest.approx(value, abs=5e-6)
    assert limits == pytest.approx((truth, truth) if limits[0] == limits[1] else (0.95 * truth, 1.05 * truth), abs=1e-5)


def test_the_due_date_and_the_days() -> None:
    def dates(note: str) -> list[datetime]:
        return [datetime.strptime(day, "%m/%d/%Y") for day in re.findall(r"\d\d/\d\d/\d{4}", note)]

    (period,) = dates(ROWS[3]["Patient Note"])
    cycle = number(ROWS[3]["Patient Note"], "# days")
    due = period + timedelta(days=280 + cycle - 28)
    assert ROWS[3]["Ground Truth Answer"] == due.strftime("%m/%d/%Y")
    today, first = sorted(dates(ROWS[6]["Patient Note"]), reverse=True)
    assert int(ROWS[6]["Ground Truth Answer"]) == (today - first).days


@pytest.mark.parametrize("row", LACKING)
def test_what_is_lacking_is_said_and_nowhere_to_be_found(row: int) -> None:
    name, said, value = LACKING[row]
    note = ROWS[row]["Patient Note"]
    assert said in note, name
    assert not re.search(value, note), name
    assert {ROWS[row][column] for column in ("Ground Truth Answer", "Lower Limit", "Upper Limit")} == {"N/A"}


def test_five_share_note_question_and_label_with_the_other_rows() -> None:
    others = {(row["Patient Note"], row["Question"]): row for row in sample_rows("medcalc_bench/test.csv")}
    shared = [row for row in ROWS.values() if (row["Patient Note"], row["Question"]) in others]
    assert len(shared) == 5
    for row in shared:
        assert row["Ground Truth Answer"] == others[row["Patient Note"], row["Question"]]["Ground Truth Answer"]
