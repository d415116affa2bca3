"""The benchmark's labels and the physicians' beside each other, in samples."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from given import Row, corrected_row, sample_rows, write_rows
from running import documents, evaluate, load

PLAIN, CORRECTED = "medcalc_bench", "medcalc_bench_corrected"
NEW = {"3": "5", "6": "N/A", "17": "4"}  # by the row's number: another score, no answer, the same score


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """The sample's rows, and physicians who say otherwise of two of the three that they looked at."""
    folder = tmp_path_factory.mktemp("data")
    rows = sample_rows("medcalc_bench/test.csv")
    write_rows(rows, folder / PLAIN / "test.csv")
    corrected = [corrected_row(row, NEW[row["Row Number"]]) for row in rows if row["Row Number"] in NEW]
    # Another question about the same note is another example.
    corrected.append({**corrected_row(rows[2], "1"), "Unique ID": "99", "Question": "How many points?"})
    write_rows(corrected, folder / PLAIN / "corrected.csv")
    return folder


@cache
def truths() -> dict[str, str]:
    return {row["note"] + row["question"]: row["shown_truth"] for row in documents(load(PLAIN))}


def benchmarks_answer(doc: Row) -> str:
    return f"<answer>{truths().get(doc['note'] + doc['question'], '1')}</answer>"


def physicians_answer(doc: Row) -> str:
    """What the physicians say, and the benchmark's own where they say nothing."""
    return f"<answer>{NEW[doc['row_number']]}</answer>" if doc["row_number"] in NEW else benchmarks_answer(doc)


def samples(task: str, answer: Any, data: Path, filter_name: str = "strict-match") -> dict[str, Row]:
    found = evaluate(task, answer, data=data)["samples"][task]
    return {sample["doc"]["row_number"]: sample for sample in found if sample["filter"] == filter_name}


@pytest.mark.parametrize("filter_name", ["strict-match", "flexible-extract"])
def test_a_plain_run_is_scored_on_the_physicians_labels_too(data, filter_name):
    found = samples(PLAIN, benchmarks_answer, data, filter_name)
    assert {number: sample["other_label"] for number, sample in found.items() if sample["other_label"]} == {
        "3": {"label": "5", "right": False},
        "6": {"label": "N/A", "right": False},
        "17": {"label": "4", "right": True},
    }
    assert {number: sample["badges"] for number, sample in found.items() if sample["badges"]} == dict.fromkeys(
        ("3", "6"), "doubtful label"
    )
    assert all(sample["acc"] == 1 for sample in found.values())
    found = samples(PLAIN, physicians_answer, data, filter_name)
    assert (found["6"]["acc"], found["6"]["answered"], found["6"]["other_label"]["right"]) == (0, 0, True)
    assert (found["3"]["acc"], found["3"]["other_label"]["right"]) == (0, True)


def test_a_corrected_run_is_scored_on_the_benchmarks_labels_too(data):
    theirs, own = (samples(CORRECTED, answer, data) for answer in (physicians_answer, benchmarks_answer))
    assert theirs["3"]["other_label"] == {"label": "6", "right": False} and theirs["3"]["badges"]
    assert theirs["6"]["other_label"] == {"label": "9.22", "right": False} and theirs["6"]["badges"]
    assert theirs["17"]["other_label"]["right"] and not theirs["17"]["badges"]
    assert theirs["99"]["other_label"] is None
    assert all(sample["acc"] == 1 for sample in theirs.values())
    assert [own[number]["other_label"]["right"] for number in NEW] == [True] * 3
