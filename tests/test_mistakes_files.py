"""Mistakes with files of rows: one line with what is there and the way out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from conftest import evaluate, load, medmcqa_rows, write_rows

from medtasks_utils.report.summary import problems
from medtasks_utils.results import as_run


def test_a_split_out_of_train_is_marked_wherever_results_are_read(
    data: Path, warnings_of_harness: Callable[[], list[str]]
) -> None:
    write_rows(medmcqa_rows(40), data / "medmcqa" / "train.jsonl")
    results = evaluate("medmcqa_openmed", data=data)
    said = "there is no validation split: a tenth of train, held out, takes its place"
    assert [line for line in warnings_of_harness() if said in line]
    assert results["configs"]["medmcqa_openmed"]["metadata"]["remarks"] == [said]
    assert any(said in problem for problem in problems([as_run(results, Path("run"))]))
    write_rows(medmcqa_rows(8), data / "medmcqa" / "validation.jsonl")
    assert "remarks" not in load("medmcqa_openmed", data).config.metadata
