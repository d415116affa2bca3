"""The option ``split``: another labelled split to evaluate on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import MEDEXQA_COLUMNS, documents, evaluate, load, medmcqa_rows, sample_rows, write_rows

from medtasks_utils.errors import DataError, OptionError


def test_medmcqa(data: Path) -> None:
    folder = data / "medmcqa"
    for split, count in (("train", 6), ("validation", 5), ("test", 4)):
        write_rows([{**row, "id": f"{split}-{row['cop']}"} for row in medmcqa_rows(count)], folder / f"{split}.jsonl")
    for given, count in ((None, 5), ("validation", 5), ("train", 6), ("test", 4)):
        found = documents(load("medmcqa_openmed", data, medmcqa={"split": given}))
        assert len(found) == count
        assert {doc["id"].split("-")[0] for doc in found} == {given or "validation"}
    assert len(documents(load("medmcqa_openmed", data, medmcqa={"split": "train", "num_eval_examples": 2}))) == 2


def test_medmcqa_test_without_labels_is_the_error_it_is(data: Path) -> None:
    write_rows(medmcqa_rows(4), data / "medmcqa" / "validation.jsonl")
    write_rows(medmcqa_rows(4, cop=-1), data / "medmcqa" / "test.jsonl")
    with pytest.raises(DataError, match=r"test\.jsonl has no usable label: cop is -1 .*Use the validation split"):
        load("medmcqa_openmed", data, medmcqa={"split": "test"})


def test_medmcqa_train_is_without_what_is_held_out_of_it(data: Path) -> None:
    write_rows(medmcqa_rows(40), data / "medmcqa" / "train.jsonl")
    held_out, kept = (
        {doc["id"] for doc in documents(load("medmcqa_openmed", data, medmcqa={"split": split}))}
        for split in ("validation", "train")
    )
    assert (len(held_out), len(kept)) == (4, 36)
    assert not held_out & kept


@pytest.mark.parametrize(
    "name", ["medexqa_all", "medexqa_biomedical_engineering", "medexqa_biomedical_engineering_logits"]
)
def test_medexqa(name: str) -> None:
    (first, *_) = sample_rows("medexqa/dev/biomedical_engineer_dev.tsv")
    found = documents(load(name, medexqa={"split": "dev"}))
    assert [found[0]["question"], *found[0]["options"]] == [first[column] for column in MEDEXQA_COLUMNS[:5]]
    assert {doc["id"].split("/")[1] for doc in found} == {"dev"}


def test_medcalc_bench(data: Path) -> None:
    rows = sample_rows("medcalc_bench/test.csv")
    write_rows(rows[:3], data / "medcalc_bench" / "test.csv")
    write_rows(rows[3:8], data / "medcalc_bench" / "train_data.csv")
    for split, chosen in (("test", rows[:3]), ("train", rows[3:8])):
        found = documents(load("medcalc_bench", data, medcalc_bench={"split": split}))
        assert [doc["row_number"] for doc in found] == [row["Row Number"] for row in chosen]


def test_a_split_that_is_not_there_is_an_error(data: Path) -> None:
    write_rows(sample_rows("medcalc_bench/test.csv"), data / "medcalc_bench" / "test.csv")
    with pytest.raises(DataError, match=r"has no file train\.parquet"):
        load("medcalc_bench", data, medcalc_bench={"split": "train"})


@pytest.mark.parametrize(
    ("task", "options"),
    [
        ("medmcqa_openmed", {"medmcqa": {"split": "train"}}),
        ("medexqa_all", {"medexqa": {"split": "dev"}}),
    ],
)
def test_few_shot_examples_are_not_drawn_from_what_is_evaluated_on(task: str, options: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match="few-shot examples are drawn from"):
        evaluate(task, metadata=options, num_fewshot=1)


def test_the_signature_tells_the_split() -> None:
    result = evaluate("medexqa_all", metadata={"medexqa": {"split": "dev"}})
    signature = result["configs"]["medexqa_all"]["metadata"]["signature"]["strict-match"]
    assert "|select:split=dev|" in signature
