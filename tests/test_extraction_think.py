"""Reasoning blocks: what counts as the final text of a response."""

from __future__ import annotations

import pytest
from conftest import GENERATION_TASKS, documents, load
from hypothesis import given, settings
from hypothesis import strategies as st

from medtasks_utils.extraction.think import final_text, is_one_block_then_answer, think_tags_pair_up

TASKS = {name: load(name) for name in GENERATION_TASKS}
DOCS = {name: documents(task)[0] for name, task in TASKS.items()}


@pytest.mark.parametrize(
    ("response", "final"),
    [
        ("A", "A"),
        ("", ""),
        ("<think>x</think>A", "A"),
        ("<think>\nx\n</think>\n\nA", "\n\nA"),
        ("<THINK>x</Think>A", "A"),
        ("x</think>A", "A"),
        ("<think>x</think>A<think>y</think>B", "B"),
        ("<think><think>x</think>y</think>B", "B"),
        ("<think>x", ""),
        ("A<think>x", "A"),
        ("<think>x</think>A<think>y", "A"),
        ("<think>x</think>A<think>y<think>z", "A"),
        ("<think>", ""),
        ("</think>", ""),
        ("<thinking>A", "<thinking>A"),
        ("< think>A", "< think>A"),
    ],
)
def test_final_text(response: str, final: str) -> None:
    assert final_text(response) == final


@pytest.mark.parametrize(
    ("response", "well_formed"),
    [
        ("<think>x</think>A", True),
        (" \n<think>x</think>\nA", True),
        ("<think></think>A", True),
        ("A", False),
        ("<think>x</think>", False),
        ("<think>x</think> \n", False),
        ("x</think>A", False),
        ("<think>xA", False),
        ("B<think>x</think>A", False),
        ("<think>x</think>A<think>y</think>B", False),
        ("<think><think>x</think></think>A", False),
        ("</think><think>A", False),
    ],
)
def test_one_block_then_answer(response: str, well_formed: bool) -> None:
    assert is_one_block_then_answer(response) is well_formed


WITHOUT_TAGS = st.text().filter(lambda text: "think>" not in text.lower())


@settings(deadline=None)
@given(WITHOUT_TAGS, WITHOUT_TAGS)
def test_what_the_server_strips_makes_no_difference(reasoning: str, answer: str) -> None:
    assert final_text(f"<think>{reasoning}</think>{answer}") == answer == final_text(answer)
    assert final_text(f"{reasoning}</think>{answer}") == answer
    assert final_text(f"{answer}<think>{reasoning}") == answer


@pytest.mark.parametrize("name", GENERATION_TASKS)
@settings(deadline=None)
@given(
    reasoning=st.sampled_from(
        [r"The answer is A. \boxed{A}", r"\boxed{1} <answer>1</answer>", "0", "Hallucinated.", ""]
    ),
    answer=st.sampled_from(
        [
            "A",
            r"\boxed{C}",
            "The answer is B.",
            r"\boxed{0}",
            "It is factual.",
            "<answer>7</answer>",
            "7",
            "",
            "1/2/2021",
        ]
    ),
)
def test_stripped_reasoning_scores_the_same(name: str, reasoning: str, answer: str) -> None:
    task, doc = TASKS[name], DOCS[name]
    for read in (task.strict, task.flexible):
        whole, stripped = read(f"<think>\n{reasoning}\n</think>\n\n{answer}", doc), read(answer, doc)
        assert whole.value == stripped.value
        assert {**task.score(doc, whole), "format": None} == {**task.score(doc, stripped), "format": None}


@pytest.mark.parametrize("name", GENERATION_TASKS)
@pytest.mark.parametrize(
    "reasoning", [r"\boxed{A}", "The answer is A.", r"\boxed{1}", "1", "The value is 5, so <answer>5", "C"]
)
def test_reasoning_that_never_ends_holds_no_answer(name: str, reasoning: str) -> None:
    task, doc = TASKS[name], DOCS[name]
    for read in (task.strict, task.flexible):
        assert read(f"<think>{reasoning}", doc).value is None
        assert read(f"<think>So.</think>\n<think>{reasoning}", doc).value is None


@pytest.mark.parametrize(
    ("response", "pair_up"),
    [
        ("", True),
        ("A", True),
        ("<think>x</think>A", True),
        ("<think>x</think>A<THINK>y</Think>B", True),
        ("<think><think>x</think></think>A", True),
        ("<think>x", False),
        ("x</think>A", False),
        ("</think>x<think>A", False),
        ("<think>x</think></think>A", False),
        ("<think><think>x</think>A", False),
    ],
)
def test_think_tags_pair_up(response: str, pair_up: bool) -> None:
    assert think_tags_pair_up(response) == pair_up
