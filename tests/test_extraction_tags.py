"""``<answer>…</answer>``."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from medtasks_utils.extraction.tags import last_tag


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("<answer>5</answer>", "5"),
        ("<answer> 5 </answer>", " 5 "),
        ("<answer></answer>", ""),
        ("<Answer>5</ANSWER>", "5"),
        ("<answer>5<\\answer>", "5"),
        ("<answer>4</answer><answer>5</answer> or so", "5"),
        ("<answer>4</answer><answer>5", "4"),
        ("<answer>4<answer>5</answer>", "5"),
        ("<answer>5</answer></answer>", "5"),
        ("<answer>a < b</answer>", "a < b"),
        ("<answer>\n5\n</answer>", "\n5\n"),
        ("</answer>5<answer>", None),
        ("<answer>5", None),
        ("5</answer>", None),
        ("<answers>5</answers>", None),
        ("answer: 5", None),
        ("", None),
    ],
)
def test_last_tag(text: str, content: str | None) -> None:
    found = last_tag(text)
    assert (found[0] if found else None) == content


WITHOUT_TAGS = st.text().filter(lambda text: "answer>" not in text.lower())


@settings(deadline=None)
@given(WITHOUT_TAGS, WITHOUT_TAGS, WITHOUT_TAGS)
def test_the_last_closed_tag_counts_and_its_end_is_known(before: str, content: str, after: str) -> None:
    text = f"{before}<answer>0</answer>{before}<answer>{content}</answer>{after}"
    found = last_tag(text)
    assert found is not None
    assert found[0] == content
    assert text[found[1] :] == after


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["<answer>", "</answer>", "<\\answer>", "5", " ", "\n", "<"]), max_size=20).map("".join)
)
def test_any_text_is_read(text: str) -> None:
    found = last_tag(text)
    assert found is None or found[0] in text
