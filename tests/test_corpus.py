"""The flexible reading on the corpus of judged responses, both halves of it, and on what was written after."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from conftest import load
from judged import CORPUS, TASKS, judged, outcome, outcomes, set_aside

LOADED = {benchmark: load(name) for benchmark, name in TASKS.items()}
ROWS = list(judged())
LATER = list(judged(Path(CORPUS) / "later"))


def test_the_corpus_is_what_it_says() -> None:
    assert len(ROWS) >= 1200
    assert len({row["id"] for row in ROWS}) == len(ROWS)
    assert len({row["manner"] for row in ROWS}) >= 12
    assert len({row["language"] for row in ROWS}) >= 11
    assert 0.45 < sum(map(set_aside, ROWS)) / len(ROWS) < 0.55
    kinds = Counter(row["kind"] for row in ROWS)
    assert set(kinds) == {"ordinary", "hard"} and min(kinds.values()) > 0.4 * len(ROWS)


@pytest.mark.parametrize("aside", [False, True])
def test_the_flexible_reading_agrees_with_the_reader(aside: bool) -> None:
    rows = [row for row in ROWS if set_aside(row) is aside]
    found = outcomes(rows, LOADED)
    assert found["right"] >= 0.96 * len(rows)
    assert found["wrong"] <= 0.01 * len(rows)


def test_later_responses_have_ids_of_their_own() -> None:
    assert len({row["id"] for row in LATER}) == len(LATER)


@pytest.mark.parametrize("part", [pytest.param(part, marks=pytest.mark.slow if part else ()) for part in range(24)])
def test_responses_that_were_added_later(part: int) -> None:
    found = [(row, LOADED[row["benchmark"]].flexible(row["response"], row)) for row in LATER[part::24]]
    assert {row["id"]: answer for row, answer in found if outcome(row, answer.value) != "right"} == {}


@pytest.mark.parametrize("row", ROWS[::7], ids=[row["id"] for row in ROWS[::7]])
def test_reasoning_before_a_response_changes_nothing(row: dict[str, Any]) -> None:
    task = LOADED[row["benchmark"]]
    if "think>" not in row["response"]:
        thought = "<think>It may be A, or B; 3.5 or 7; hallucinated? \\boxed{2}</think>\n"
        assert task.flexible(thought + row["response"], row).value == task.flexible(row["response"], row).value
