"""N/A and a number with a caveat, told apart: labelled texts, texts that are neither, and hostile ones."""

from typing import Any

import pytest
from hostile_texts import texts
from hypothesis import given
from hypothesis import strategies as st
from running import reader

from medtasks_utils.extraction.absence import says_not_available, states_not_available

LACKS, CAVEATS = texts("lacks"), texts("caveats")


@pytest.fixture(scope="module")
def task():
    return reader("medcalc_bench_corrected")


def is_not_available(task: Any, filter_name: str, text: str) -> bool:
    return bool(task.extract(filter_name, text, task.eval_docs[0]).value == "N/A")


def test_flexible_tells_them_apart(task):
    missed = [text for text in LACKS if not is_not_available(task, "flexible-extract", text)]
    wrong = [text for text in CAVEATS if is_not_available(task, "flexible-extract", text)]
    assert len(missed) <= 0.05 * len(LACKS), missed
    assert len(wrong) <= 0.05 * len(CAVEATS), wrong


def test_strict_reads_what_the_tag_or_box_says_and_nothing_else(task):
    def has_form(text):
        return "</answer>" in text or "\\boxed{" in text

    assert sum(is_not_available(task, "strict-match", text) != has_form(text) for text in LACKS) <= 0.02 * len(LACKS)
    assert sum(is_not_available(task, "strict-match", text) for text in CAVEATS) <= 0.02 * len(CAVEATS)


@pytest.mark.parametrize("think", ["<think>It lacks a weight, so N/A?</think>\n", "<think>Easy.</think>"])
def test_reasoning_changes_nothing(task, think):
    for filter_name in ("strict-match", "flexible-extract"):
        for wanted, part in ((True, LACKS[:60]), (False, CAVEATS[:60])):
            tagged = [text for text in part if "</answer>" in text]
            assert {is_not_available(task, filter_name, think + text) for text in tagged} == {wanted}


def test_saying_nothing_is_no_answer(task):
    for response in texts("nothing"):
        for filter_name in ("strict-match", "flexible-extract"):
            assert task.extract(filter_name, response, task.eval_docs[0]).value is None, response


@given(
    st.lists(
        st.sampled_from([*LACKS[75:140], *CAVEATS[37:100], "is", "not", "n't", "\n", ". ", "N/A", "5"]), max_size=40
    )
)
def test_any_mixture_is_read_without_an_error(parts):
    text = " ".join(parts)
    assert says_not_available(text) in (True, False)
    assert states_not_available(text) in (True, False)


@pytest.mark.parametrize("share", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_long_texts_are_read_to_the_end(task, share):
    for piece in texts("pieces")[::share]:
        text = (piece * 30_000)[:30_000]
        for filter_name in ("strict-match", "flexible-extract"):
            task.extract(filter_name, f"<answer>{text}</answer> {text}", task.eval_docs[0])


def test_a_value_and_then_none_is_none():
    assert states_not_available("The score is 4, but the rate cannot be calculated.")
    assert not states_not_available("The rate cannot be calculated from this alone, but the score is 4.")
