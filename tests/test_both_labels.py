"""The benchmark's labels and the physicians' beside each other, in samples."""

from __future__ import annotations

import logging
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from conftest import Row, documents, evaluate, load, sample_rows, write_rows

from medtasks_utils.benchmarks.medcalc_bench.benchmark import _key as key_of

PLAIN, CORRECTED = "medcalc_bench", "medcalc_bench_corrected"
NEW = {"3": "5", "6": "N/A", "17": "4"}  # by the row's number: another score, no answer, the same score


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample's rows, and physicians who say otherwise of two of the three that they looked at."""
    folder = tmp_path_factory.mktemp("data")
    rows = sample_rows("medcalc_bench/test.csv")
    write_rows(rows, folder / PLAIN / "test.csv")
    write_rows(
        [corrected_row(row, NEW[row["Row Number"]]) for row in rows if row["Row Number"] in NEW],
        folder / PLAIN / "corrected.csv",
    )
    return folder


def corrected_row(row: dict[str, str], truth: str) -> dict[str, str]:
    kept = {name: row[name] for name in ("Calculator Name", "Question", "Patient Note")}
    return {
        "Unique ID": row["Row Number"],
        **kept,
        **dict.fromkeys(("Ground Truth Answer", "Lower Limit", "Upper Limit"), truth),
    }


def benchmarks_answer(doc: Row) -> str:
    """What the benchmark's own label says, on either task."""
    truths = {key_of(row): row["shown_truth"] for row in documents(load(PLAIN))}
    return f"<answer>{truths[key_of(doc)]}</answer>"


def physicians_answer(doc: Row) -> str:
    """What the physicians say, and the benchmark's own where they say nothing."""
    number = doc["row_number"]
    return f"<answer>{NEW[number]}</answer>" if number in NEW else benchmarks_answer(doc)


def samples(task: str, answer: Any, data: Path, filter_name: str = "strict-match", **settings: Any) -> dict[str, Row]:
    found = evaluate(task, answer, data=data, **settings)["samples"][task]
    return {sample["doc"]["row_number"]: sample for sample in found if sample["filter"] == filter_name}


# ---- in samples


@pytest.mark.parametrize("filter_name", ["strict-match", "flexible-extract"])
def test_a_plain_run_is_scored_on_the_physicians_labels_too(data: Path, filter_name: str) -> None:
    found = samples(PLAIN, benchmarks_answer, data, filter_name)
    assert {number for number, sample in found.items() if sample["other_label"]} == NEW.keys()
    assert found["3"]["other_label"] == {"by": "physicians", "label": "5", "differs": True, "right": False}
    assert found["6"]["other_label"] == {"by": "physicians", "label": "N/A", "differs": True, "right": False}
    assert found["17"]["other_label"] == {"by": "physicians", "label": "4", "differs": False, "right": True}
    assert found["3"]["notes"] == "physicians say 5, the benchmark says 6"
    assert [number for number, sample in found.items() if sample["badges"]] == ["3", "6"]
    assert all(sample["acc"] == 1 for sample in found.values())


@pytest.mark.parametrize("filter_name", ["strict-match", "flexible-extract"])
def test_na_in_a_plain_run_is_no_answer_but_right_by_the_physicians(data: Path, filter_name: str) -> None:
    found = samples(PLAIN, physicians_answer, data, filter_name)
    assert (found["6"]["acc"], found["6"]["answered"]) == (0, 0)
    assert found["6"]["other_label"]["right"] is True
    assert (found["3"]["acc"], found["3"]["other_label"]["right"]) == (0, True)


def test_a_corrected_run_is_scored_on_the_benchmarks_labels_too(data: Path) -> None:
    found = samples(CORRECTED, physicians_answer, data)
    assert found["3"]["other_label"] == {"by": "benchmark", "label": "6", "differs": True, "right": False}
    assert found["3"]["notes"] == "physicians say 5, the benchmark says 6"
    assert found["6"]["notes"] == "physicians say N/A, the benchmark says 9.22"
    assert found["17"]["other_label"]["right"] is True
    assert all(sample["acc"] == 1 for sample in found.values())
    others = samples(CORRECTED, benchmarks_answer, data)
    assert [sample["other_label"]["right"] for sample in others.values()] == [True] * 3


def test_without_the_other_file_nothing_changes(tmp_path: Path) -> None:
    write_rows(sample_rows("medcalc_bench/test.csv"), tmp_path / PLAIN / "test.csv")
    found = samples(PLAIN, benchmarks_answer, tmp_path)
    assert not {"other_label", "badges", "notes"} & found["3"].keys()
    assert documents(load(PLAIN, tmp_path)) == documents(load(PLAIN)), "labels are no part of documents"


def test_metrics_and_signature_are_those_of_a_run_without_them(data: Path, tmp_path: Path) -> None:
    write_rows(sample_rows("medcalc_bench/test.csv"), tmp_path / PLAIN / "test.csv")
    with_both, alone = (evaluate(PLAIN, physicians_answer, data=folder) for folder in (data, tmp_path))
    assert with_both["results"] == alone["results"]
    signatures = [
        run["configs"][PLAIN]["metadata"]["signature"]["strict-match"].replace(str(folder), "folder")
        for run, folder in ((with_both, data), (alone, tmp_path))
    ]
    assert signatures[0] == signatures[1]


def test_a_broken_file_of_other_labels_costs_a_warning_and_not_the_run(
    data: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_rows(sample_rows("medcalc_bench/test.csv"), tmp_path / PLAIN / "test.csv")
    (tmp_path / PLAIN / "corrected.csv").write_text("Unique ID,Calculator Name\n1,Shoe Size\n")
    with caplog.at_level(logging.WARNING, logger="lm_eval"):
        found = samples(PLAIN, benchmarks_answer, tmp_path)
    assert "the other labels are left out" in caplog.text
    assert "other_label" not in found["3"]


def test_another_question_is_another_example(tmp_path: Path) -> None:
    rows = sample_rows("medcalc_bench/test.csv")
    write_rows(rows, tmp_path / PLAIN / "test.csv")
    other = [corrected_row({**rows[2], "Question": "How many points?"}, "5"), corrected_row(rows[5], "1")]
    write_rows(other, tmp_path / PLAIN / "corrected.csv")
    found = samples(PLAIN, benchmarks_answer, tmp_path)
    assert [number for number, sample in found.items() if sample["other_label"]] == ["6"]


def test_with_repeats_each_generation_is_judged(data: Path) -> None:
    settings: Row = {"metadata": {"medcalc_bench": {"repeats": 2}}, "gen_kwargs": "do_sample=true,temperature=1"}
    answers = iter(["<answer>6</answer>", "<answer>5</answer>"] * 100)
    found = samples(PLAIN, lambda doc: next(answers), data, **settings)
    assert [each["right"] for each in found["3"]["other_label"]] == [False, True]
    assert found["3"]["acc"] == 0.5


# ---- the real files


def test_the_real_labels_differ_as_the_files_say(shared: Path) -> None:
    found = [sample["other_label"] for sample in samples(PLAIN, lambda doc: "", shared / "data").values()]
    assert Counter(each and each["differs"] for each in found) == {True: 279, False: 588, None: 180}
    differing = [each for each in found if each and each["differs"]]
    dates = sum("/" in each["label"] and each["label"] != "N/A" for each in differing)
    unanswerable = sum(each["label"] == "N/A" for each in differing)
    assert (dates, unanswerable, len(differing) - dates - unanswerable) == (34, 69, 176)


def test_an_oracle_of_either_labels_by_the_other(shared: Path) -> None:
    of_plain = samples(PLAIN, lambda doc: f"<answer>{doc['shown_truth']}</answer>", shared / "data")
    right = sum(bool(sample["other_label"] and sample["other_label"]["right"]) for sample in of_plain.values())
    assert right == 588
    of_corrected = samples(CORRECTED, lambda doc: f"<answer>{doc['shown_truth']}</answer>", shared / "data")
    assert sum(bool(s["other_label"] and s["other_label"]["right"]) for s in of_corrected.values()) == 588
