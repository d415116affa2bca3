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


def test_it_is_in_the_logged_sample_for_each_generation_and_is_no_metric() -> None:
    result: dict[str, Any] = evaluate("medhallu", metadata={"medhallu": {"repeats": 2}}, log_samples=True, limit=4)
    for sample in result["samples"]["medhallu"]:
        assert sample["found_by"] == ["box"] * 2 and "found_by" not in sample["metrics"]
    assert not any("found_by" in key for key in result["results"]["medhallu"])
