"""``medcalc_bench_corrected`` and the benchmark's own labels beside the physicians', in samples and on the real files."""

from __future__ import annotations

import csv
import logging
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from conftest import Row, documents, evaluate, load, reader, sample_rows, write_rows

from medtasks_utils.benchmarks.medcalc_bench.kinds import BY_CALCULATOR
from medtasks_utils.errors import DataError, MedtasksError, OptionError

PLAIN, TASK = "medcalc_bench", "medcalc_bench_corrected"
FILE = "medcalc_bench/corrected.csv"
FILTERS = ("strict-match", "flexible-extract")


def values(answer: Any, filter_name: str = "strict-match", task: str = TASK, **settings: Any) -> dict[str, Any]:
    results = evaluate(task, answer if callable(answer) else lambda doc: answer, **settings)["results"][task]
    return {name.split(",")[0]: value for name, value in results.items() if name.endswith(f",{filter_name}")}


# ---- rows and prompt


def test_rows_have_the_calculators_number_and_category() -> None:
    others = {
        row["Calculator Name"]: row for name in ("test", "one_shot") for row in sample_rows(f"{PLAIN}/{name}.csv")
    }
    for doc in documents(load(TASK)):
        if other := others.get(doc["calculator_name"]):
            assert doc["calculator_id"] == int(other["Calculator ID"])
            assert doc["category"] == other["Category"].replace(" ", "_")
        assert doc["judgement"] == ("days" if doc["calculator_id"] == 69 else BY_CALCULATOR[doc["calculator_id"]].name)
        assert (doc["ground_truth"] == "N/A") == (int(doc["row_number"]) >= 12)
    assert documents(load(TASK))[4]["lower_limit"] == -3.675, "limits the wrong way round are put in order"
    given = {"dataset_version": "corrected"}
    assert documents(load(PLAIN, medcalc_bench=given)) == documents(load(TASK))


@pytest.mark.parametrize(
    ("row", "column", "cell"),
    [
        (6, "Calculator Name", "Shoe Size"),
        (6, "Ground Truth Answer", "high"),
        (6, "Ground Truth Answer", ""),
        (6, "Lower Limit", "N/A"),
        (5, "Ground Truth Answer", "56.5"),  # days are whole
    ],
)
def test_a_row_that_cannot_be_understood_is_one_clear_error(data: Path, row: int, column: str, cell: str) -> None:
    rows = sample_rows(FILE)
    rows[row][column] = cell
    write_rows(rows, data / FILE)
    with pytest.raises(DataError, match=rf"corrected\.csv, row {row + 1}: .*{column}.*{cell!r}"):
        load(TASK, data)


@pytest.mark.parametrize("options", [{"revision": "main"}, {"split": "train"}])
def test_options_that_cannot_apply_are_errors(options: Row) -> None:
    with pytest.raises(OptionError, match=next(iter(options))):
        load(TASK, medcalc_bench=options)
    with pytest.raises(MedtasksError, match="no rows to draw few-shot examples from"):
        evaluate(TASK, num_fewshot=1)


def test_the_prompt_allows_na_asks_for_days_and_shows_examples_in_days() -> None:
    def prompt(**options: Any) -> str:
        task = load(TASK, medcalc_bench=options)
        return str(task.doc_to_text(task.eval_docs[5]))

    assert "<answer>N/A</answer>" in prompt() and "sparingly" in prompt()
    assert "<answer>31</answer> for a gestational age in days" in prompt()
    assert "weeks" not in prompt().rsplit("End with", 1)[1]
    assert "\\boxed{N/A}" in prompt(answer_format="boxed") and "sparingly" in prompt(system_prompt="Nurse.")
    assert "N/A" not in load(PLAIN).doc_to_text(load(PLAIN).eval_docs[0])
    doc = load(TASK, medcalc_bench={"one_shot": True}).eval_docs[5]
    assert doc["example_answer"] == "138"  # 19 weeks and 5 days


# ---- reading, judgement, metrics


@pytest.mark.parametrize(
    ("answer", "strict", "flexible"),
    [
        *((text, True, True) for text in ("56", "56 days", "56.0", "(8 weeks, 0 days)", "('8 weeks', '0 days')")),
        *((text, True, True) for text in ("8 weeks and 0 days", "(8, 0)", "8 weeks", "7 weeks 7 days", "\n56\n")),
        *((text, False, True) for text in ("8w0d", "8+0")),
        *((text, False, False) for text in ("55", "57", "(8 weeks, 1 day)", "8", "N/A", "", "5/6")),
    ],
)
def test_gestational_age_in_days(answer: str, strict: bool, flexible: bool) -> None:
    task = reader(TASK)
    doc = task.eval_docs[5]
    assert (doc["judgement"], doc["ground_truth"]) == ("days", "56")
    read = [task.extract(name, f"<answer>{answer}</answer>", doc) for name in FILTERS]
    assert [bool(task.score(doc, each)["acc"]) for each in read] == [strict, flexible]


@pytest.mark.parametrize("filter_name", FILTERS)
def test_metrics_of_what_can_be_answered_and_what_cannot(filter_name: str) -> None:
    names = ("acc", "acc_answerable", "acc_unanswerable", "na_rate", "answered")

    def never(doc: Row) -> str:
        return f"<answer>{'1' if doc['ground_truth'] == 'N/A' else doc['shown_truth']}</answer>"

    for answer, expected in (
        ("<answer>N/A</answer>", (4 / 15, 0, 1, 1, 1)),
        ("<answer></answer>", (0, 0, 0, 0, 0)),
        (never, (11 / 15, 1, 0, 0, 1)),
    ):
        found = values(answer, filter_name)
        assert tuple(found[name] for name in names) == pytest.approx(expected)
    plain = values("<answer>N/A</answer>", filter_name, PLAIN)
    assert not {*names[1:4]} & plain.keys() and (plain["acc"], plain["answered"]) == (0, 0)


@pytest.mark.parametrize("answer_format", ["xml", "boxed"])
def test_in_words_only_flexible_reads_it(answer_format: str) -> None:
    metadata = {PLAIN: {"answer_format": answer_format}}
    said = "The note gives no weight. Therefore the value cannot be calculated."
    assert values(said, metadata=metadata)["answered"] == 0
    assert values(said, "flexible-extract", metadata=metadata)["acc_unanswerable"] == 1
    boxed = values("\\boxed{\\text{N/A}}", metadata=metadata)["acc_unanswerable"]
    assert boxed == (answer_format == "boxed"), "strict reads the form that was asked for"


def test_with_tools_na_ends_a_conversation() -> None:
    tools = {"add_calculator_tool": True}
    assert reader(TASK, medcalc_bench=tools).has_final_answer("<answer>N/A</answer>")
    assert not reader(PLAIN, medcalc_bench=tools).has_final_answer("<answer>N/A</answer>")
    assert values("<answer>N/A</answer>", metadata={PLAIN: tools})["turns"] == 1


# ---- both labels in samples

NEW = {"3": "5", "6": "N/A", "17": "4"}  # by the row's number: another score, no answer, the same score


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample's rows, and physicians who say otherwise of two of the three that they looked at."""
    folder = tmp_path_factory.mktemp("data")
    rows = sample_rows(f"{PLAIN}/test.csv")
    write_rows(rows, folder / PLAIN / "test.csv")
    looked_at = [corrected(row, NEW[row["Row Number"]]) for row in rows if row["Row Number"] in NEW]
    other = corrected({**rows[0], "Question": "How many points?"}, "5")  # another question is another example
    write_rows([*looked_at, other], folder / PLAIN / "corrected.csv")
    return folder


def corrected(row: Row, truth: str) -> Row:
    kept = {name: row[name] for name in ("Calculator Name", "Question", "Patient Note")}
    truths = dict.fromkeys(("Ground Truth Answer", "Lower Limit", "Upper Limit"), truth)
    return {"Unique ID": row["Row Number"], **kept, **truths}


def benchmarks_answer(doc: Row) -> str:
    """What the benchmark's own label says, on either task."""
    truths = {(row["note"], row["question"]): row["shown_truth"] for row in documents(load(PLAIN))}
    return f"<answer>{truths.get((doc['note'], doc['question']), '5')}</answer>"


def physicians_answer(doc: Row) -> str:
    number = doc["row_number"]
    return f"<answer>{NEW[number]}</answer>" if number in NEW else benchmarks_answer(doc)


def samples(task: str, answer: Any, data: Path, filter_name: str = "strict-match", **settings: Any) -> dict[str, Row]:
    found = evaluate(task, answer, data=data, **settings)["samples"][task]
    return {sample["doc"]["row_number"]: sample for sample in found if sample["filter"] == filter_name}


@pytest.mark.parametrize("filter_name", FILTERS)
def test_a_plain_run_is_scored_on_the_physicians_labels_too(both: Path, filter_name: str) -> None:
    found = samples(PLAIN, benchmarks_answer, both, filter_name)
    labels = {number: sample["other_label"] for number, sample in found.items() if sample["other_label"]}
    assert labels == {
        "3": {"by": "physicians", "label": "5", "differs": True, "right": False},
        "6": {"by": "physicians", "label": "N/A", "differs": True, "right": False},
        "17": {"by": "physicians", "label": "4", "differs": False, "right": True},
    }
    assert found["3"]["notes"] == "physicians say 5, the benchmark says 6"
    assert [number for number, sample in found.items() if sample["badges"]] == ["3", "6"]
    assert all(sample["acc"] == 1 for sample in found.values())
    theirs = samples(PLAIN, physicians_answer, both, filter_name)
    assert [(theirs[n]["acc"], theirs[n]["other_label"]["right"]) for n in ("3", "6")] == [(0, True)] * 2


def test_a_corrected_run_is_scored_on_the_benchmarks_labels_too(both: Path) -> None:
    found = samples(TASK, physicians_answer, both)
    assert found["3"]["other_label"] == {"by": "benchmark", "label": "6", "differs": True, "right": False}
    assert found["6"]["notes"] == "physicians say N/A, the benchmark says 9.22"
    others = samples(TASK, benchmarks_answer, both)
    assert all(others[number]["other_label"]["right"] for number in NEW)


def test_without_the_other_file_or_with_a_broken_one_the_run_is_the_same(
    both: Path, data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_rows(sample_rows(f"{PLAIN}/test.csv"), data / PLAIN / "test.csv")
    runs = [evaluate(PLAIN, physicians_answer, data=folder) for folder in (both, data)]
    assert runs[0]["results"] == runs[1]["results"]
    assert not {"other_label", "badges", "notes"} & runs[1]["samples"][PLAIN][0].keys()
    signatures = [run["configs"][PLAIN]["metadata"]["signature"]["strict-match"] for run in runs]
    assert signatures[0].replace(str(both), "folder") == signatures[1].replace(str(data), "folder")
    (data / PLAIN / "corrected.csv").write_text("Unique ID,Calculator Name\n1,Shoe Size\n")
    with caplog.at_level(logging.WARNING, logger="lm_eval"):
        assert "other_label" not in samples(PLAIN, benchmarks_answer, data)["3"]
    assert "the other labels are left out" in caplog.text


def test_with_repeats_each_generation_is_judged(both: Path) -> None:
    settings: Row = {"metadata": {PLAIN: {"repeats": 2}}, "gen_kwargs": "do_sample=true,temperature=1"}
    answers = iter(["<answer>6</answer>", "<answer>5</answer>"] * 100)
    found = samples(PLAIN, lambda doc: next(answers), both, **settings)
    assert [each["right"] for each in found["3"]["other_label"]] == [False, True]
    assert found["3"]["acc"] == 0.5


# ---- the real files


def real_rows(shared: Path, name: str) -> list[dict[str, str]]:
    csv.field_size_limit(10_000_000)
    with (shared / "data" / PLAIN / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_real_labels_differ_as_the_files_say(shared: Path) -> None:
    docs = documents(load(TASK, shared / "data"))
    assert (len(docs), sum(doc["ground_truth"] == "N/A" for doc in docs)) == (887, 69)
    for task in (PLAIN, TASK):
        found = [
            sample["other_label"]
            for sample in samples(task, lambda doc: f"<answer>{doc['shown_truth']}</answer>", shared / "data").values()
        ]
        assert sum(bool(each and each["right"]) for each in found) == 588
        if task == PLAIN:
            assert Counter(each and each["differs"] for each in found) == {True: 279, False: 588, None: 180}


def test_an_oracle_of_the_original_labels_scores_what_the_two_files_imply(shared: Path) -> None:
    """Worked out from the files alone, by the rules as they are written down."""
    originals = {row["Row Number"]: row for row in real_rows(shared, "test.csv")}
    right = Counter[bool]()
    for row in real_rows(shared, "corrected.csv"):
        original, truth = originals[row["Unique ID"]]["Ground Truth Answer"], row["Ground Truth Answer"]
        calculator = int(originals[row["Unique ID"]]["Calculator ID"])
        if truth == "N/A":
            is_right = False
        elif calculator in (13, 68):
            is_right = [*map(int, original.split("/"))] == [*map(int, truth.split("/"))]
        elif calculator == 69:
            weeks, days = (int("".join(filter(str.isdigit, part))) for part in original.split(","))
            is_right = 7 * weeks + days == int(truth)
        elif BY_CALCULATOR[calculator].name == "integer":
            is_right = round(float(original)) == float(truth)
        else:
            limits = sorted((float(row["Lower Limit"]), float(row["Upper Limit"])))
            is_right = limits[0] <= float(original) <= limits[1]
        right[truth == "N/A"] += is_right

    def oracle(doc: Row) -> str:
        return f"<answer>{originals[doc['row_number']]['Ground Truth Answer']}</answer>"

    for name in FILTERS:
        found = values(oracle, name, data=shared / "data")
        assert found["acc"] == pytest.approx(right.total() / 887)
        assert found["acc_answerable"] == pytest.approx(right[False] / 818)
        assert found["acc_unanswerable"] == right[True] == 0
