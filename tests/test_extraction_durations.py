"""Gestational ages: as MedCalc-Bench's authors read them, and as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from medtasks_utils.extraction.durations import strict_weeks_days
from medtasks_utils.extraction.values import content_value


def written_weeks_days(text: str) -> tuple[int, int] | None:
    age: tuple[int, int] | None = content_value(text, "weeks_days").value
    return age


WRITTEN: list[tuple[str, tuple[int, int] | None]] = [
    ("4 weeks, 3 days", (4, 3)),
    ("(4 weeks, 3 days)", (4, 3)),
    ("4 weeks 3 days", (4, 3)),
    ("4 weeks and 3 days", (4, 3)),
    ("4 weeks & 3 days", (4, 3)),
    ("4 weeks + 3 days", (4, 3)),
    ("4 weeks plus 3 days", (4, 3)),
    ("4 wks 3 d", (4, 3)),
    ("4w3d", (4, 3)),
    ("4w 3d", (4, 3)),
    ("4W3D", (4, 3)),
    ("34w3", (34, 3)),
    ("28+3", (28, 3)),
    ("28 + 3", (28, 3)),
    ("28+3 weeks", (28, 3)),
    ("28 3/7", (28, 3)),
    ("28 3/7 weeks", (28, 3)),
    ("28 and 3/7 weeks", (28, 3)),
    ("28 weeks 3/7", (28, 3)),
    ("(4, 3)", (4, 3)),
    ("[4, 3]", (4, 3)),
    ("('4 weeks', '3 days')", (4, 3)),
    ('("4 weeks", "3 days")', (4, 3)),
    ("('4', '3')", (4, 3)),
    ("1 week, 1 day", (1, 1)),
    ("1 week and 1 day", (1, 1)),
    ("0 weeks, 3 days", (0, 3)),
    ("28 completed weeks and 3 days", (28, 3)),
    ("28-weeks 3-days", (28, 3)),
    ("29 weeks", (29, 0)),
    ("29 weeks exactly", (29, 0)),
    ("29 wks", (29, 0)),
    ("206 days", (29, 3)),
    ("206 days (29 weeks and 3 days)", (29, 3)),
    ("29 weeks, 3 days (206 days)", (29, 3)),
    ("GA: 29 weeks and 3 days", (29, 3)),
    ("**29 weeks and 3 days**", (29, 3)),
    (r"29\text{ weeks}, 3\text{ days}", (29, 3)),
    (r"(29 \text{ weeks}, 3 \text{ days})", (29, 3)),
    ("28^{+3}", (28, 3)),
    ("29 weeks\n3 days", (29, 3)),
    ("29 weeks; 3 days", (29, 3)),
    ("The gestational age is 29 weeks and 3 days.", (29, 3)),
    ("29 Weeks, 3 Days", (29, 3)),
    ("unknown", None),
    ("", None),
    ("28.43 weeks", None),
    ("29", None),
    ("3 hours", None),
    ("5/4/2021", None),
]


@pytest.mark.parametrize(("text", "age"), WRITTEN)
def test_written_ages(text: str, age: tuple[int, int] | None) -> None:
    assert written_weeks_days(text) == age


@pytest.mark.parametrize(
    ("text", "age"),
    [
        ("(4 weeks, 3 days)", (4, 3)),
        ("4 weeks 3 days", (4, 3)),
        ("4 weeks, 3 days", (4, 3)),
        ("4 week, 3 day", (4, 3)),
        ("(4, 3)", (4, 3)),
        ("[4, 3]", (4, 3)),
        ("('4 weeks', '3 days')", (4, 3)),
        ('["4 weeks", "3 days"]', (4, 3)),
        ("it is 4 weeks, 3 days", (4, 3)),
        ("29 weeks", (2, 9)),
        ("206 days", (20, 6)),
        ("29", (2, 9)),
        ("28 weeks and 3 days", (2, 8)),
        ("4 weeks and 3 days", None),
        ("4w3d", None),
        ("4+3", None),
        ("04 weeks, 3 days", None),
        ("4", None),
        ("", None),
    ],
)
def test_strict_ages(text: str, age: tuple[int, int] | None) -> None:
    assert strict_weeks_days(text) == age


STYLES = [
    "({} weeks, {} days)",
    "{} weeks {} days",
    "{} weeks and {} days",
    "{}w{}d",
    "{}w {}d",
    "{} wks {} d",
    "{}+{}",
    "{} + {} weeks",
    "{} {}/7",
    "({}, {})",
    "[{}, {}]",
    "**{} weeks, {} days**",
    "GA: {} Weeks and {} Days.",
    "$({}\\text{{ weeks}}, {}\\text{{ days}})$",
]


@settings(deadline=None)
@given(st.integers(0, 45), st.integers(0, 6), st.sampled_from(STYLES))
def test_an_age_is_read_back_from_any_style(weeks: int, days: int, style: str) -> None:
    assert written_weeks_days(style.format(weeks, days)) == (weeks, days)


@settings(deadline=None)
@given(st.integers(0, 45), st.integers(0, 6))
def test_a_strict_age_is_read_alike_by_both(weeks: int, days: int) -> None:
    for style in STYLES[:2]:
        text = style.format(weeks, days)
        assert strict_weeks_days(text) == written_weeks_days(text) == (weeks, days)


@settings(deadline=None)
@given(st.integers(0, 400))
def test_days_alone_are_weeks_and_days(days: int) -> None:
    assert written_weeks_days(f"{days} days") == divmod(days, 7)


@settings(deadline=None)
@given(st.text() | st.text(alphabet="0123456789+/wd weksay,()[]'\"", max_size=40))
def test_any_text_is_read(text: str) -> None:
    for age in (written_weeks_days(text), strict_weeks_days(text)):
        assert age is None or (len(age) == 2 and min(age) >= 0)
