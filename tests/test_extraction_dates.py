"""Dates: as MedCalc-Bench's authors read them, and as people write them."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from medtasks_utils.extraction.dates import strict_date
from medtasks_utils.extraction.values import content_value


def written_date(text: str) -> datetime.date | None:
    date: datetime.date | None = content_value(text, "date").value
    return date


WRITTEN: list[tuple[str, tuple[int, int, int] | None]] = [
    ("5/4/2021", (2021, 5, 4)),
    ("05/04/2021", (2021, 5, 4)),
    ("2021-05-04", (2021, 5, 4)),
    ("2021/05/04", (2021, 5, 4)),
    ("2021.05.04", (2021, 5, 4)),
    ("2021-5-4", (2021, 5, 4)),
    ("May 4, 2021", (2021, 5, 4)),
    ("May 4th, 2021", (2021, 5, 4)),
    ("May 4 2021", (2021, 5, 4)),
    ("4 May 2021", (2021, 5, 4)),
    ("4th May 2021", (2021, 5, 4)),
    ("4th of May 2021", (2021, 5, 4)),
    ("4th of May, 2021", (2021, 5, 4)),
    ("4-May-2021", (2021, 5, 4)),
    ("Tuesday, May 4, 2021", (2021, 5, 4)),
    ("Sept. 4, 2021", (2021, 9, 4)),
    ("Sep 4, 2021", (2021, 9, 4)),
    ("SEPTEMBER 4, 2021", (2021, 9, 4)),
    ("5-4-2021", (2021, 5, 4)),
    ("05.04.2021", (2021, 4, 5)),
    ("5/4/21", (2021, 5, 4)),
    ("25/12/2021", (2021, 12, 25)),
    ("12/25/2021", (2021, 12, 25)),
    ("25.12.2021", (2021, 12, 25)),
    ("**05/04/2021**", (2021, 5, 4)),
    ("$05/04/2021$", (2021, 5, 4)),
    (r"\text{May 4, 2021}", (2021, 5, 4)),
    (r"\boxed{05/04/2021}", (2021, 5, 4)),
    (r"\text{May}~4,~2021", (2021, 5, 4)),
    (r"\text{05/04/2021}", (2021, 5, 4)),
    ("2021-05-04T00:00:00", (2021, 5, 4)),
    ("05/04/2021.", (2021, 5, 4)),
    (" 05/04/2021 ", (2021, 5, 4)),
    ("05 / 04 / 2021", (2021, 5, 4)),
    ("5/4/2021 (LMP 7/28/2020)", (2021, 5, 4)),
    ("LMP 7/28/2020 + 280 days = 5/4/2021", (2021, 5, 4)),
    ("The due date is May 4, 2021 (05/04/2021).", (2021, 5, 4)),
    ("EDD: 5/4/2021", (2021, 5, 4)),
    ("(5/4/2021)", (2021, 5, 4)),
    ('"5/4/2021"', (2021, 5, 4)),
    ("2/29/2020", (2020, 2, 29)),
    ("around 10/24/2018", (2018, 10, 24)),
    ("2/30/2021", None),
    ("30 February 2021", None),
    ("February 30, 2021", None),
    ("13/13/2021", None),
    ("2021", None),
    ("May 2021", None),
    ("", None),
    ("tomorrow", None),
    ("2/29/2021", None),
    ("1/2", None),
    ("99/99/9999", None),
    ("0/0/0000", None),
    ("5/4/202", None),
    ("15/4/20211", None),
    ("dismay 4, 2021", None),
]


@pytest.mark.parametrize(("text", "date"), WRITTEN)
def test_written_dates(text: str, date: tuple[int, int, int] | None) -> None:
    assert written_date(text) == (datetime.date(*date) if date else None)


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("5/4/2021", (2021, 5, 4)),
        ("05/04/2021", (2021, 5, 4)),
        ("5/4/2021 or so", (2021, 5, 4)),
        ("5/4/20215", (2021, 5, 4)),
        ("2/29/2020", (2020, 2, 29)),
        (" 5/4/2021", None),
        ("on 5/4/2021", None),
        ("5/4/21", None),
        ("2021-05-04", None),
        ("13/4/2021", None),
        ("2/30/2021", None),
        ("0/4/2021", None),
        ("5/4/0000", None),
        ("May 4, 2021", None),
        ("", None),
    ],
)
def test_strict_dates(text: str, date: tuple[int, int, int] | None) -> None:
    assert strict_date(text) == (datetime.date(*date) if date else None)


STYLES = [
    "%m/%d/%Y",
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%B %d, %Y",
    "%b %d, %Y",
    "%b. %d %Y",
    "%d %B %Y",
    "%d-%b-%Y",
    "%A, %B %d, %Y",
    "%m-%d-%Y",
    "**%B %d, %Y**",
    "$%m/%d/%Y$",
    "The date is %m/%d/%Y.",
    "\\text{{%B %d, %Y}}".replace("{{", "{").replace("}}", "}"),
    "Due %Y-%m-%d (LMP 7/28/2020)",
]


@settings(deadline=None)
@given(st.dates(datetime.date(1900, 1, 1), datetime.date(2099, 12, 31)), st.sampled_from(STYLES))
def test_a_date_is_read_back_from_any_style(date: datetime.date, style: str) -> None:
    assert written_date(date.strftime(style)) == date


@settings(deadline=None)
@given(st.dates(datetime.date(1000, 1, 1)))
def test_a_strict_date_is_read_alike_by_both(date: datetime.date) -> None:
    for text in (f"{date.month}/{date.day}/{date.year}", f"{date.month:02}/{date.day:02}/{date.year}"):
        assert strict_date(text) == written_date(text) == date


@settings(deadline=None)
@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert isinstance(written_date(text), datetime.date | None)
    assert isinstance(strict_date(text), datetime.date | None)


@settings(deadline=None)
@given(st.text(alphabet="0123456789/-. ,janfebmrchy", max_size=40))
def test_anything_like_a_date_is_read(text: str) -> None:
    assert isinstance(written_date(text), datetime.date | None)
    assert isinstance(strict_date(text), datetime.date | None)
