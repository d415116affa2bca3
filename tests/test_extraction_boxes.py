r"""``\boxed{…}`` and the formatting around a token."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from medtasks_utils.extraction.boxes import boxes, last_box, unwrap


@pytest.mark.parametrize(
    ("text", "contents"),
    [
        ("", []),
        ("A", []),
        (r"\boxed{A}", ["A"]),
        (r"\boxed {A}", ["A"]),
        (r"\boxed{}", [""]),
        (r"\boxed{A} and \boxed{B}", ["A", "B"]),
        (r"\boxed{\text{A}}", [r"\text{A}"]),
        (r"\boxed{\frac{1}{2}}", [r"\frac{1}{2}"]),
        (r"\boxed{\boxed{A}}", ["A"]),
        (r"\boxed{A \boxed{B} C} \boxed{D}", ["B", "D"]),
        (r"\boxed{A", []),
        (r"\boxed{A \boxed{B}", ["B"]),
        (r"\boxed{A} \boxed{B", ["A"]),
        (r"\boxed{{A}", []),
        (r"\boxed{A}}", ["A"]),
        (r"}\boxed{A}", ["A"]),
        (r"\{\boxed{A}\}", ["A"]),
        (r"\boxed{\{A\}}", [r"\{A\}"]),
        (r"\boxed{A\}", []),
        (r"\\boxed{A}", ["A"]),
        (r"\boxed{A\\}", ["A\\\\"]),
        (r"{\boxed{A}", ["A"]),
        ("\\boxed{A\nB}", ["A\nB"]),
        (r"\boxed A", []),
        (r"\fbox{A}", []),
        ("boxed{A}", []),
    ],
)
def test_boxes(text: str, contents: list[str]) -> None:
    assert boxes(text) == contents
    assert last_box(text) == (contents[-1] if contents else None)


PLAIN = st.text(alphabet=st.characters(exclude_characters="\\{}", exclude_categories=["Cs"]))


@settings(deadline=None)
@given(PLAIN, PLAIN, PLAIN, PLAIN)
def test_the_last_balanced_box_counts(before: str, first: str, between: str, last: str) -> None:
    text = rf"{before}\boxed{{{first}}}{between}\boxed{{{last}}}"
    assert last_box(text) == last
    assert last_box(rf"{text} \boxed{{ {before}") == last
    assert last_box(rf"{text} {{{{ {{}} ") == last


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["\\boxed{", "{", "}", "A", "\\{", "\\}", "\\", "\\\\", " "]), max_size=30).map("".join)
)
def test_contents_are_balanced_and_no_longer_than_the_text(text: str) -> None:
    contents = boxes(text)
    assert sum(map(len, contents)) <= len(text)
    for content in contents:
        assert content in text
        assert last_box(rf"\boxed{{{content}}}") == (boxes(content) or [content])[-1]


@pytest.mark.parametrize(
    ("token", "plain"),
    [
        ("A", "A"),
        (" A ", "A"),
        ("(A)", "A"),
        ("((A))", "A"),
        ("(A", "A"),
        ("A)", "A"),
        ("A.", "A"),
        ("(A).", "A"),
        ("$A$", "A"),
        ("**A**", "A"),
        (r"\(A\)", "A"),
        (r"\text{A}", "A"),
        (r"\text {A}", "A"),
        (r"\mathrm{A}", "A"),
        (r"\mathbf{\text{(A).}}", "A"),
        (r"**$\text{ ( A ) }$**.", "A"),
        ("(A) or (B)", "(A) or (B)"),
        (r"\text{A} or \text{B}", r"\text{A} or \text{B}"),
        ("f(x)", "f(x)"),
        ("(4 weeks, 3 days)", "4 weeks, 3 days"),
        ("1.5", "1.5"),
        ("", ""),
        (".", ""),
        ("()", ""),
        (r"\text{", r"\text{"),
        ("A B", "A B"),
    ],
)
def test_unwrap(token: str, plain: str) -> None:
    assert unwrap(token) == plain


WRAPPERS = [r"\text{%s}", r"\mathrm{%s}", r"\mathbf{%s}", "**%s**", "$%s$", "(%s)", " %s ", "%s.", r"\(%s\)", "\n%s\n"]


@settings(deadline=None)
@given(st.sampled_from(["A", "0", "12.5", "C. x", "5/4/2021"]), st.lists(st.sampled_from(WRAPPERS), max_size=6))
def test_wrapping_changes_no_token(token: str, wrappers: list[str]) -> None:
    wrapped = token
    for wrapper in wrappers:
        wrapped = wrapper % wrapped
    assert unwrap(wrapped) == token
    assert unwrap(last_box(rf"So: $\boxed{{{wrapped}}}$.") or "") == token


@settings(deadline=None)
@given(st.text() | st.text(alphabet="()$*.{}\\tex A"))
def test_any_text_is_read(text: str) -> None:
    boxes(text)
    assert unwrap(unwrap(text)) == unwrap(text)
    assert len(unwrap(text)) <= len(text)
