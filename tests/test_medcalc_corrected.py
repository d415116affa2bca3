"""``medcalc_bench_corrected``: rows, prompt, reading, judgement and metrics; the real file where it is at hand."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from conftest import Row, documents, evaluate, reader, sample_rows, write_rows

from medtasks_utils.benchmarks.medcalc_bench.kinds import BY_CALCULATOR, CALCULATORS
from medtasks_utils.benchmarks.medcalc_bench.rows import calculator_of
from medtasks_utils.errors import DataError, OptionError

TASK = "medcalc_bench_corrected"
FILE = "medcalc_bench/corrected.csv"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data directory with the corrected rows alone."""
    write_rows(sample_rows(FILE), tmp_path / FILE)
    return tmp_path


def changed(folder: Path, row: int, **cells: str) -> Path:
    rows = sample_rows(FILE)
    rows[row].update({name.replace("_", " "): value for name, value in cells.items()})
    write_rows(rows, folder / FILE)
    return folder


def values(answer: str, filter_name: str = "strict-match", task: str = TASK, **settings: Any) -> dict[str, Any]:
    results = evaluate(task, lambda doc: answer, **settings)["results"][task]
    return {name.split(",")[0]: value for name, value in results.items() if name.endswith(f",{filter_name}")}


def document(**fields: Any) -> Row:
    base = documents(reader(TASK))[0]
    return {**base, **fields}


# ---- rows


def test_the_table_of_calculators_is_that_of_the_rows() -> None:
    assert len(CALCULATORS) == len(BY_CALCULATOR) == 55
    for name in ("test", "one_shot"):
        for row in sample_rows(f"medcalc_bench/{name}.csv"):
            found = calculator_of(row["Calculator Name"])
            assert found and (found.id, found.category) == (
                int(row["Calculator ID"]),
                row["Category"].replace(" ", "_"),
            )
    for doc in documents(reader(TASK)):
        kind = "days" if doc["calculator_id"] == 69 else BY_CALCULATOR[doc["calculator_id"]].name
        assert (doc["judgement"], doc["labels"]) == (kind, "physicians")
        assert (doc["ground_truth"] == "N/A") == (int(doc["row_number"]) >= 12)
    assert documents(reader(TASK))[4]["lower_limit"] == -3.675, "limits the wrong way round are put in order"
    assert calculator_of("Estimated of Conception") == calculator_of("Estimated Date of Conception")


@pytest.mark.parametrize(
    "place", ["corrected.csv", "corrected/corrected.csv", "medcalc_v1_corrected.csv", "corrected.jsonl"]
)
def test_layouts(tmp_path: Path, place: str) -> None:
    write_rows(sample_rows(FILE), tmp_path / "medcalc_bench" / place)
    assert documents(reader(TASK, tmp_path)) == documents(reader(TASK))


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"Calculator_Name": "Shoe Size"}, "corrected.csv, row 7: unknown Calculator Name 'Shoe Size'"),
        ({"Ground_Truth_Answer": "high"}, "corrected.csv, row 7: Ground Truth Answer is 'high', not a number"),
        ({"Lower_Limit": "N/A"}, "corrected.csv, row 7: Lower Limit is 'N/A', not a number"),
    ],
)
def test_a_row_that_cannot_be_understood_is_one_clear_error(folder: Path, cells: dict[str, str], message: str) -> None:
    with pytest.raises(DataError, match="row 7") as error:
        reader(TASK, changed(folder, 6, **cells))
    assert message in str(error.value)


@pytest.mark.parametrize("options", [{"revision": "main"}, {"split": "train"}, {"dataset_version": "1.2"}])
def test_options_that_cannot_apply_are_errors(options: Row) -> None:
    with pytest.raises(OptionError, match=next(iter(options))):
        reader(TASK, medcalc_bench=options)


def test_few_shot_examples_are_not_to_be_had() -> None:
    with pytest.raises(DataError, match="no rows to draw few-shot examples from"):
        evaluate(TASK, num_fewshot=1)


def test_the_rows_serve_other_tasks_too() -> None:
    given = {"dataset_version": "corrected"}
    assert documents(reader("medcalc_bench", medcalc_bench=given)) == documents(reader(TASK))
    lite = documents(reader("medcalc_bench_lite", medcalc_bench=given))
    assert Counter(doc["calculator_id"] for doc in lite)[44] == 2


# ---- prompt


def prompt(**options: Any) -> str:
    task = reader(TASK, medcalc_bench=options)
    return str(task.doc_to_text(task.eval_docs[5]))


def test_the_prompt_allows_na_and_asks_to_use_it_sparingly() -> None:
    assert "<answer>N/A</answer>" in prompt() and "sparingly" in prompt()
    assert "\\boxed{N/A}" in prompt(answer_format="boxed") and "31</answer> for a gestational age in days" in prompt()
    assert "sparingly" in prompt(system_prompt="You are a nurse.")
    plain = reader("medcalc_bench")
    assert "N/A" not in plain.doc_to_text(plain.eval_docs[0])


def test_a_solved_example_is_answered_in_days() -> None:
    task = reader(TASK, medcalc_bench={"one_shot": True})
    doc = task.eval_docs[5]
    assert doc["example_answer"] == "138"  # 19 weeks and 5 days
    assert doc["example_question"] == doc["question"]
    assert all(doc["example_note"] for doc in task.eval_docs)


# ---- reading and judgement


@pytest.mark.parametrize(
    ("answer", "strict", "flexible"),
    [
        *(
            (said, True, True)
            for said in ("\n56\n", "56.0 days", "(8 weeks, 0 days)", "[8, 0]", "8 weeks", "7 weeks 7 days")
        ),
        *((said, False, True) for said in ("8w0d", "8+0")),
        *((said, False, False) for said in ("55", "(8 weeks, 1 day)", "8", "N/A", "")),
    ],
)
def test_gestational_age_in_days(answer: str, strict: bool, flexible: bool) -> None:
    task = reader(TASK)
    doc = task.eval_docs[5]
    assert doc["judgement"] == "days" and doc["ground_truth"] == "56"
    for name, right in (("strict-match", strict), ("flexible-extract", flexible)):
        read = task.extract(name, f"<answer>{answer}</answer>", doc)
        assert bool(task.score(doc, read)["acc"]) is right, name


def test_na_is_right_where_the_label_says_so_and_nowhere_else() -> None:
    found = values("<answer>N/A</answer>")
    assert found["acc"] == pytest.approx(4 / 15)
    assert (found["acc_answerable"], found["acc_unanswerable"], found["na_rate"]) == (0, 1, 1)
    assert found["answered"] == 1
    found = values("<answer></answer>")
    assert (found["acc"], found["answered"], found["na_rate"], found["acc_unanswerable"]) == (0, 0, 0, 0)


def test_right_but_never_na_and_na_only() -> None:
    def never(doc: Row) -> str:
        return f"<answer>{'1' if doc['ground_truth'] == 'N/A' else doc['shown_truth']}</answer>"

    found = evaluate(TASK, never)["results"][TASK]
    for name in ("strict-match", "flexible-extract"):
        assert found[f"acc,{name}"] == pytest.approx(11 / 15)
        assert (found[f"acc_answerable,{name}"], found[f"acc_unanswerable,{name}"]) == (1, 0)
        assert found[f"na_rate,{name}"] == 0


@pytest.mark.parametrize("answer_format", ["xml", "boxed"])
def test_in_words_only_flexible_reads_it(answer_format: str) -> None:
    metadata = {"medcalc_bench": {"answer_format": answer_format}}
    said = "The note gives no weight. Therefore the value cannot be calculated."
    assert values(said, metadata=metadata)["answered"] == 0
    assert values(said, "flexible-extract", metadata=metadata)["acc_unanswerable"] == 1
    boxed = values("\\boxed{\\text{N/A}}", metadata=metadata)["acc_unanswerable"]
    assert boxed == (answer_format == "boxed"), "strict reads the form that was asked for"


def test_other_tasks_have_no_metrics_of_na() -> None:
    found = values("<answer>N/A</answer>", task="medcalc_bench")
    assert not {"na_rate", "acc_answerable", "acc_unanswerable"} & found.keys()
    assert (found["acc"], found["answered"]) == (0, 0)


def test_with_tools_na_ends_a_conversation() -> None:
    tools = {"add_calculator_tool": True}
    assert reader(TASK, medcalc_bench=tools).has_final_answer("<answer>N/A</answer>")
    assert not reader(TASK, medcalc_bench=tools).has_final_answer("<answer>value</answer>")
    assert not reader("medcalc_bench", medcalc_bench=tools).has_final_answer("<answer>N/A</answer>")
    assert values("<answer>N/A</answer>", metadata={"medcalc_bench": tools})["turns"] == 1


# ---- the real file


def real_rows(shared: Path, name: str) -> list[dict[str, str]]:
    csv.field_size_limit(10_000_000)
    with (shared / "data" / "medcalc_bench" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_real_rows(shared: Path) -> None:
    found = documents(reader(TASK, shared / "data"))
    assert len(found) == 887
    assert sum(doc["ground_truth"] == "N/A" for doc in found) == 69
    assert Counter(doc["judgement"] for doc in found)["days"] == 20
    originals = {row["Row Number"]: row for row in real_rows(shared, "test.csv")}
    for doc in found:
        original = originals[doc["row_number"]]
        assert int(original["Calculator ID"]) == doc["calculator_id"]
        assert original["Category"].replace("lab", "lab_test") == doc["category"]
        assert original["Patient Note"].strip() == doc["note"]


def test_an_oracle_of_the_original_labels_scores_what_the_two_files_imply(shared: Path) -> None:
    """Worked out from the files alone, by the rules as they are written down."""
    originals = {row["Row Number"]: row for row in real_rows(shared, "test.csv")}
    right = Counter[str]()
    for row in real_rows(shared, "corrected.csv"):
        original, truth = originals[row["Unique ID"]]["Ground Truth Answer"], row["Ground Truth Answer"]
        calculator = int(originals[row["Unique ID"]]["Calculator ID"])
        if truth == "N/A":
            kind, is_right = "unanswerable", False
        elif calculator in (13, 68):
            parts = [[int(part) for part in label.split("/")] for label in (original, truth)]
            kind, is_right = "answerable", parts[0] == parts[1]
        elif calculator == 69:
            weeks, days = (int("".join(filter(str.isdigit, part))) for part in original.split(","))
            kind, is_right = "answerable", 7 * weeks + days == int(truth)
        elif BY_CALCULATOR[calculator].name == "integer":
            kind, is_right = "answerable", round(float(original)) == float(truth)
        else:
            limits = sorted((float(row["Lower Limit"]), float(row["Upper Limit"])))
            kind, is_right = "answerable", limits[0] <= float(original) <= limits[1]
        right[kind] += is_right

    def oracle(doc: Row) -> str:
        return f"<answer>{originals[doc['row_number']]['Ground Truth Answer']}</answer>"

    found = evaluate(TASK, oracle, data=shared / "data")["results"][TASK]
    for name in ("strict-match", "flexible-extract"):
        assert found[f"acc,{name}"] == pytest.approx(right.total() / 887)
        assert found[f"acc_answerable,{name}"] == pytest.approx(right["answerable"] / 818)
        assert found[f"acc_unanswerable,{name}"] == right["unanswerable"] == 0
    assert 0.6 < found["acc,strict-match"] < 0.75
