"""How an answer was found is told in the logged sample, so that form is told from knowledge."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import evaluate, reader, table


@pytest.mark.parametrize(("task", "filter_name", "response", "found_by"), table("found_by"))
def test_an_answer_says_how_it_was_found(task: str, filter_name: str, response: str, found_by: str) -> None:
    loaded = reader(task)
    doc = next(doc for doc in loaded.eval_docs if doc.get("judgement", "decimal") == "decimal")
    text = response.replace("{option}", doc["options"][0] if "options" in doc else "")
    assert loaded.extract(filter_name, text, doc).details["found_by"] == found_by


def test_a_stated_value_without_a_tag_is_a_statement() -> None:
    loaded = reader("medcalc_bench")
    doc = next(doc for doc in loaded.eval_docs if doc["judgement"] == "decimal")
    assert loaded.flexible("The final value is 4.", doc).details["found_by"] == "statement"


def test_it_is_in_the_logged_sample_and_is_no_metric() -> None:
    result: dict[str, Any] = evaluate("medhallu", log_samples=True, limit=4)
    samples = result["samples"]["medhallu"]
    assert {sample["found_by"] for sample in samples} == {"box"}
    assert all("found_by" not in sample["metrics"] for sample in samples)
    assert not any("found_by" in key for key in result["results"]["medhallu"])


def test_with_repeats_each_generation_has_its_own() -> None:
    result = evaluate("medhallu", metadata={"medhallu": {"repeats": 3}}, log_samples=True, limit=2)
    assert result["samples"]["medhallu"][0]["found_by"] == ["box"] * 3
