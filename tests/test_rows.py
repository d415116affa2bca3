"""From rows to documents: labels in all their forms, selection, pairing, subsets, and the fields readers rely on."""

from __future__ import annotations

import hashlib
import json
import logging
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import (
    Row,
    Scripted,
    clean_environment,
    documents,
    evaluate,
    load,
    manager,
    medmcqa_rows,
    sample_rows,
    write_rows,
)
from hypothesis import given
from hypothesis import strategies as st

from medtasks_utils.benchmarks.base import LoadReport
from medtasks_utils.benchmarks.medcalc_bench.kinds import BY_CALCULATOR, KINDS
from medtasks_utils.benchmarks.medcalc_bench.rows import stratified
from medtasks_utils.benchmarks.medexqa.options import SPECIALTIES
from medtasks_utils.benchmarks.medhallu.benchmark import passages
from medtasks_utils.benchmarks.medmcqa.benchmark import choice_order
from medtasks_utils.errors import DataError, OptionError


def fewshot(task: Any) -> list[Row]:
    """What few-shot examples are drawn from."""
    found: list[Row] = task.benchmark.load(task.files, task.options, task.info, task.config.fewshot_split, LoadReport())
    return found


def medmcqa(data: Path, rows: list[Row], split: str = "validation", **options: Any) -> list[Row]:
    """Documents of rows written as JSON lines."""
    write_rows(rows, data / "medmcqa" / f"{split}.jsonl")
    return documents(load("medmcqa_openmed", data, medmcqa=options))


# ---- MedMCQA: labels

OPTIONS = ("opa", "opb", "opc", "opd")
FORMS: dict[str, Callable[[Row], Any]] = {
    "letters": lambda row: "ABCD"[row["cop"]],
    "small letters": lambda row: "abcd"[row["cop"]],
    "letters of both cases": lambda row: "AbCd"[row["cop"]],
    "letters with spaces": lambda row: f" {'ABCD'[row['cop']]} ",
    "0-based integers": lambda row: row["cop"],
    "1-based integers": lambda row: row["cop"] + 1,
    "0-based strings": lambda row: str(row["cop"]),
    "1-based strings": lambda row: str(row["cop"] + 1),
    "0-based floats": lambda row: float(row["cop"]),
    "1-based floats": lambda row: float(row["cop"] + 1),
    "strings of 0-based floats": lambda row: str(float(row["cop"])),
    "option texts": lambda row: row[f"op{'abcd'[row['cop']]}"],
    "option texts in capitals": lambda row: f" {row[OPTIONS[row['cop']]].upper()}\n",
    "option texts with their letters": lambda row: f"{'ABCD'[row['cop']]}. {row[OPTIONS[row['cop']]]}",
    "option texts with letters in parentheses": lambda row: f"({'ABCD'[row['cop']]}) {row[OPTIONS[row['cop']]]}",
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_cop_gives_the_same_documents(data: Path, form: str) -> None:
    rows = medmcqa_rows(40)
    expected = medmcqa(data, rows)
    assert [doc["answer_letter"] for doc in expected] == list("ABCD") * 10
    assert medmcqa(data, [{**row, "cop": FORMS[form](row)} for row in rows]) == expected


@pytest.mark.parametrize("form", FORMS)
def test_options_that_look_like_labels_do_not_mislead(data: Path, form: str) -> None:
    lookalikes = [{**row, "opa": "2", "opb": "a", "opc": "B", "opd": "1"} for row in medmcqa_rows(4)]
    rows = medmcqa_rows(40) + [{**row, "id": f"x{row['cop']}"} for row in lookalikes]
    found = medmcqa(data, [{**row, "cop": FORMS[form](row)} for row in rows])
    assert [doc["answer_letter"] for doc in found] == list("ABCD") * 11


def test_without_a_0_or_a_4_integers_are_0_based(data: Path) -> None:
    rows = [row for row in medmcqa_rows(40) if row["cop"] != 0]
    assert [doc["answer_idx"] for doc in medmcqa(data, rows)] == [1, 2, 3] * 10


def test_one_4_settles_the_base_of_the_whole_split(data: Path) -> None:
    rows = [{**row, "cop": 1} for row in medmcqa_rows(40)]
    rows[-1]["cop"] = 4
    assert [doc["answer_letter"] for doc in medmcqa(data, rows)] == ["A"] * 39 + ["D"]


def test_the_base_is_settled_by_the_whole_train_split_not_by_the_part_held_out(data: Path) -> None:
    rows = [{**row, "cop": 2} for row in medmcqa_rows(50)]
    kept = {doc["id"] for doc in medmcqa(data, rows, split="train")}
    next(row for row in rows if row["id"] not in kept)["cop"] = 4
    assert {doc["answer_letter"] for doc in medmcqa(data, rows, split="train")} == {"B"}


def test_a_0_and_a_4_in_one_split_are_an_error_that_names_both_rows(data: Path) -> None:
    rows = medmcqa_rows(8)
    rows[5]["cop"] = 4
    with pytest.raises(DataError, match=r"cop is 0 in .*validation\.jsonl, row 1 and 4 in .*validation\.jsonl, row 6"):
        medmcqa(data, rows)


def test_an_option_text_that_two_options_share_is_no_label(data: Path, caplog: pytest.LogCaptureFixture) -> None:
    rows = [{**row, "cop": FORMS["option texts"](row)} for row in medmcqa_rows(8)]
    rows[3].update(opa="same", opb="same", cop="same")
    assert len(medmcqa(data, rows)) == 7
    assert "left out 1 row" in caplog.text


def test_an_options_own_beginning_is_no_letter_and_letter_and_text_must_agree(data: Path) -> None:
    rows = [{**row, "cop": FORMS["option texts"](row)} for row in medmcqa_rows(16)]
    germs = {"opa": "E. coli", "opb": "C. difficile", "opc": "B. cereus", "opd": "Cereus"}
    cases = {"c. difficile": 1, "B. C. difficile": 1, "(b) C. DIFFICILE": 1, "b. cereus": 2, "C. B. cereus": 2}
    for row, label in zip(rows, [*cases, "A. C. difficile", "difficile", "C. "], strict=False):
        row.update(germs, cop=label)
    same = {"opa": "None", "opb": "none", "opc": "some", "opd": "all"}
    rows[8].update(same, cop="(B) none")
    rows[9].update(same, cop="NONE")
    found = {doc["id"]: doc["answer_idx"] for doc in medmcqa(data, rows)}
    assert [found.get(f"id-{index}") for index in range(5)] == list(cases.values())
    assert [found.get(f"id-{index}") for index in range(5, 10)] == [None, None, None, 1, None]


def test_rows_without_a_label_are_left_out_with_one_counted_warning(
    data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = medmcqa_rows(40)
    unusable = [-1, None, "", 7, "E", float("nan"), "--1", "1e3", True, "²", [1], -1]
    for index, label in enumerate(unusable):
        rows[2 * index]["cop"] = label
    task = load_rows(data, rows)
    assert [doc["id"] for doc in documents(task)] == [
        row["id"] for index, row in enumerate(rows) if index % 2 or index >= 2 * len(unusable)
    ]
    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert len(warnings) == 1
    assert "left out 12 rows: no usable label in cop" in warnings[0]
    assert task.dump_config()["metadata"]["rows_left_out"] == {"no usable label in cop": 12}


def load_rows(data: Path, rows: list[Row]) -> Any:
    write_rows(rows, data / "medmcqa" / "validation.jsonl")
    return load("medmcqa_openmed", data)


def test_a_split_without_labels_is_an_error_that_says_why(data: Path) -> None:
    with pytest.raises(DataError) as caught:
        medmcqa(data, medmcqa_rows(8, cop=-1))
    message = str(caught.value)
    assert f"{data / 'medmcqa' / 'validation.jsonl'} has no usable label: cop is -1" in message
    assert "withheld" in message
    assert "\n" not in message
    with pytest.raises(DataError, match="no usable label: cop is None"):
        medmcqa(data, medmcqa_rows(8, cop=None))


# ---- MedMCQA: splits and counts


def test_without_validation_a_tenth_of_train_is_held_out_by_seed_42(data: Path) -> None:
    import datasets

    rows = medmcqa_rows(53)
    expected = datasets.Dataset.from_list(rows).train_test_split(test_size=0.1, seed=42)
    assert [doc["id"] for doc in medmcqa(data, rows, split="train")] == expected["test"]["id"]
    task = load("medmcqa_openmed", data)
    assert [doc["id"] for doc in fewshot(task)] == expected["train"]["id"]


def test_num_eval_examples_takes_the_first(data: Path) -> None:
    rows = medmcqa_rows(10)
    for count, expected in ((-1, 10), (1, 1), (4, 4), (10, 10), (99, 10)):
        found = medmcqa(data, rows, num_eval_examples=count)
        assert [doc["id"] for doc in found] == [row["id"] for row in rows[:expected]]
    with pytest.raises(DataError, match="no rows are left to evaluate on"):
        medmcqa(data, rows, num_eval_examples=0)


def test_num_train_examples_limits_what_few_shot_examples_are_drawn_from(data: Path) -> None:
    write_rows(medmcqa_rows(30), data / "medmcqa" / "train.jsonl")
    write_rows([{**row, "id": f"v{row['id']}"} for row in medmcqa_rows(4)], data / "medmcqa" / "validation.jsonl")
    for count, expected in ((-1, 30), (3, 3), (30, 30), (99, 30), (0, 0)):
        task = load("medmcqa_openmed", data, medmcqa={"num_train_examples": count})
        assert [doc["id"] for doc in fewshot(task)] == [f"id-{i}" for i in range(expected)]


def test_train_rows_left_out_are_counted_too(data: Path, caplog: pytest.LogCaptureFixture) -> None:
    rows = medmcqa_rows(10)
    rows[4]["cop"] = -1
    write_rows(rows, data / "medmcqa" / "train.jsonl")
    write_rows(medmcqa_rows(4), data / "medmcqa" / "validation.jsonl")
    evaluate("medmcqa_openmed", data=data, num_fewshot=2)
    assert "left out 1 row: no usable label in cop" in caplog.text


# ---- MedMCQA: the order of the choices


def test_all_24_orders_occur_about_equally_often() -> None:
    orders = Counter(choice_order(f"{number:08x}") for number in range(24_000))
    assert set(map(frozenset, orders)) == {frozenset("ABCD")}
    assert len(orders) == 24
    assert all(800 < count < 1200 for count in orders.values())


def test_the_order_is_fixed_for_ever() -> None:
    """That of the environment which defined the task: Python's shuffle, by a seed out of the id."""
    for identifier in ("", "0", "b64a9cd7", "größe", "x" * 1000):
        letters = list("ABCD")
        random.Random(int(hashlib.md5(identifier.encode()).hexdigest()[:8], 16)).shuffle(letters)
        assert choice_order(identifier) == "".join(letters)
    found = " ".join(choice_order(f"id-{number}") for number in range(10))
    assert found == "BADC CDAB ABCD DACB DBAC CABD ABCD BADC DBAC DCAB"


@given(st.text())
def test_any_identifier_has_an_order(identifier: str) -> None:
    assert sorted(choice_order(identifier)) == list("ABCD")


def test_every_line_keeps_its_own_letter(data: Path) -> None:
    found = medmcqa(data, medmcqa_rows(100))
    for doc in found:
        lines = doc["choices"].split("\n")
        assert sorted(lines) == [f"{letter}. {text}" for letter, text in zip("ABCD", doc["options"], strict=True)]
        assert "".join(line[0] for line in lines) == choice_order(doc["id"])
    assert len({doc["choices"][0] for doc in found}) == 4


PROMPTS = """
import json, sys
sys.path.insert(0, {tests!r})
from conftest import Scripted, evaluate
model = Scripted()
evaluate("medmcqa_openmed", model, data={data!r})
print(json.dumps(model.prompts))
"""


@pytest.mark.slow
def test_prompts_are_byte_identical_in_another_process_with_another_hash_seed_and_for_every_form_of_cop(
    data: Path,
) -> None:
    rows = medmcqa_rows(30)
    found = set()
    for form in FORMS.values():
        model = Scripted()
        write_rows([{**row, "cop": form(row)} for row in rows], data / "medmcqa" / "validation.jsonl")
        evaluate("medmcqa_openmed", model, data=data)
        found.add(json.dumps(model.prompts))
    program = PROMPTS.format(tests=str(Path(__file__).parent), data=str(data))
    for seed in ("1", "4242"):
        other = subprocess.run(
            [sys.executable, "-c", program],
            env=clean_environment({"PYTHONHASHSEED": seed}),
            capture_output=True,
            text=True,
            check=True,
        )
        found.add(other.stdout.strip().split("\n")[-1])
    assert len(found) == 1


# ---- MedExQA


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, ["BE", "CLS", "CP", "OT", "SLP"]),
        ("ALL", ["BE", "CLS", "CP", "OT", "SLP"]),
        ("all", ["BE", "CLS", "CP", "OT", "SLP"]),
        (["OT", "All"], ["BE", "CLS", "CP", "OT", "SLP"]),
        ("be", ["BE"]),
        ("Cls", ["CLS"]),
        ("clinical_psychology", ["CP"]),
        ("Occupational Therapy", ["OT"]),
        ("SPEECH_LANGUAGE_PATHOLOGY", ["SLP"]),
        (["SLP", "be"], ["BE", "SLP"]),
        (["ot", "Occupational_Therapy", "CP"], ["CP", "OT"]),
    ],
)
def test_specialties_by_code_or_name_one_or_many_in_any_case(given: Any, expected: list[str]) -> None:
    options = {} if given is None else {"specialty": given}
    found = documents(load("medexqa_all", medexqa=options))
    codes = {specialty.name: specialty.code for specialty in SPECIALTIES}
    assert Counter(codes[doc["specialty"]] for doc in found) == dict.fromkeys(expected, 4)


@pytest.mark.parametrize("name", ["medexqa", "medexqa_be", "medexqa_clinical_psychology", "medexqa_logits"])
@pytest.mark.parametrize("options", [{"specialty": "CP"}, {"specialty": "ALL"}, {"seed": 3}])
def test_options_of_several_specialties_are_refused_by_tasks_of_one(name: str, options: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match=rf"of one specialty, so {next(iter(options))} cannot apply.*medexqa_all"):
        manager({"medexqa": options}).load([name])


def test_the_tasks_of_one_specialty_have_its_rows() -> None:
    for specialty in SPECIALTIES:
        found = documents(load(f"medexqa_{specialty.name}", medexqa={"specialty": None, "seed": None}))
        assert [doc["id"] for doc in found] == [f"{specialty.name}/test/{index}" for index in range(4)]


def test_seed_shuffles_several_specialties_reproducibly() -> None:
    def ids(**options: Any) -> list[str]:
        return [doc["id"] for doc in documents(load("medexqa_all", medexqa=options))]

    plain = ids()
    assert plain == [f"{s.name}/test/{index}" for s in SPECIALTIES for index in range(4)]
    assert ids(seed=0) == ids(seed=0) != plain
    assert ids(seed=1) != ids(seed=0)
    assert sorted(ids(seed=0)) == sorted(plain)
    assert ids(specialty="BE", seed=0) == ids(specialty="BE"), "one specialty is not shuffled"


def test_option_texts_such_as_none_and_na_are_text(data: Path) -> None:
    texts = ["None", "NA", "", "nan"]
    rows = [
        {
            **row,
            **dict(zip("ABCD", texts, strict=True)),
            "question": "null",
            "explanation_1": "",
            "explanation_2": "N/A",
        }
        for row in sample_rows("medexqa/test/biomedical_engineer_test.tsv")
    ]
    for suffix in ("tsv", "csv", "jsonl", "parquet"):
        path = write_rows(
            rows,
            data / "medexqa" / "test" / f"biomedical_engineer_test.{suffix}",
            header=suffix in ("jsonl", "parquet"),
        )
        for doc in documents(load("medexqa_biomedical_engineering", data)):
            assert doc["options"] == texts
            assert (doc["question"], doc["explanation_1"], doc["explanation_2"]) == ("null", "", "N/A")
        path.unlink()


@pytest.mark.parametrize("answer", ["E", "", "AB", "1"])
def test_a_medexqa_answer_that_is_no_letter(data: Path, answer: str) -> None:
    rows = sample_rows("medexqa/test/biomedical_engineer_test.tsv")
    rows[2]["answer"] = answer
    path = write_rows(rows, data / "medexqa" / "test" / "biomedical_engineer_test.tsv", header=False)
    with pytest.raises(DataError) as caught:
        load("medexqa_biomedical_engineering", data)
    assert str(caught.value).startswith(f"{path}, row 3: the answer is {answer!r}, not A, B, C or D")


# ---- MedCalc-Bench


def medcalc(data: Path, rows: list[Row], task: str = "medcalc_bench", **options: Any) -> list[Row]:
    write_rows(rows, data / "medcalc_bench" / "test.csv")
    return documents(load(task, data, medcalc_bench=options))


def calculation(calculator: int, number: int = 1, /, **cells: Any) -> Row:
    truth = {"date": "5/4/2021", "weeks_days": "(4 weeks, 3 days)", "integer": "5", "decimal": "17.5"}
    return {
        "Row Number": number,
        "Calculator ID": calculator,
        "Calculator Name": f"Calculator {calculator}",
        "Category": "lab test",
        "Output Type": "decimal",
        "Patient Note": f"Note {number}.",
        "Question": "How much?",
        "Ground Truth Answer": truth[BY_CALCULATOR.get(calculator, KINDS["decimal"]).name],
        "Lower Limit": "16.6",
        "Upper Limit": "18.4",
        "Ground Truth Explanation": "So.",
        **cells,
    }


@pytest.mark.parametrize("calculator", [1, 12, 14, 34, 35, 37, 41, 42, 47, 50, 55, 70, 0, -2, 2.5, "BMI", "", "nan"])
def test_an_unknown_calculator_is_an_error_when_the_data_loads(data: Path, calculator: Any) -> None:
    with pytest.raises(DataError) as caught:
        medcalc(data, [calculation(2), calculation(calculator)])
    assert f"{data / 'medcalc_bench' / 'test.csv'}, row 2: " in str(caught.value)
    assert "Calculator ID" in str(caught.value)


def test_the_55_calculators_and_how_each_is_judged(data: Path) -> None:
    found = medcalc(data, [calculation(calculator, number) for number, calculator in enumerate(BY_CALCULATOR)])
    by_judgement = {
        judgement: {doc["calculator_id"] for doc in found if doc["judgement"] == judgement}
        for judgement in ("date", "weeks_days", "integer", "decimal")
    }
    assert by_judgement["date"] == {13, 68}
    assert by_judgement["weeks_days"] == {69}
    assert by_judgement["integer"] == {4, 15, 16, 17, 18, 20, 21, 25, 27, 28, 29, 32, 33, 36, 43, 45, 48, 51}
    assert by_judgement["decimal"] == (
        {2, 3, *range(5, 12), 19, 22, 23, 24, 26, 30, 31, 38, 39, 40, 44, 46, 49} | set(range(56, 68))
    )
    assert len(found) == 55


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("lab", "lab_test"),
        ("lab test", "lab_test"),
        ("Lab Test", "lab_test"),
        ("lab_test", "lab_test"),
        (" physical ", "physical"),
        ("DATE", "date"),
        ("dosage", "dosage"),
        ("Risk", "risk"),
        ("severity", "severity"),
        ("diagnosis", "diagnosis"),
    ],
)
def test_spellings_of_categories(data: Path, label: str, name: str) -> None:
    assert [doc["category"] for doc in medcalc(data, [calculation(2, Category=label)])] == [name]


@pytest.mark.parametrize("label", ["labs", "", "dose"])
def test_an_unknown_category(data: Path, label: str) -> None:
    with pytest.raises(DataError, match=r"test\.csv, row 2: unknown Category .* known: lab_test, physical, date"):
        medcalc(data, [calculation(2), calculation(2, Category=label)])


def test_limits_the_wrong_way_round_are_put_in_order(data: Path) -> None:
    cells = {"Ground Truth Answer": "-10", "Lower Limit": "-9.5", "Upper Limit": "-10.5"}
    (doc,) = medcalc(data, [calculation(2, **cells)])
    assert (doc["lower_limit"], doc["upper_limit"]) == (-10.5, -9.5)
    result = evaluate("medcalc_bench", lambda doc: "<answer>-10.2</answer>", data=data)
    assert result["results"]["medcalc_bench"]["acc,strict-match"] == 1.0


@pytest.mark.parametrize("column", ["Ground Truth Answer", "Lower Limit", "Upper Limit"])
@pytest.mark.parametrize("cell", ["", "unknown", "nan", "1,200"])
def test_a_limit_or_a_truth_that_is_no_number(data: Path, column: str, cell: str) -> None:
    with pytest.raises(DataError, match=rf"test\.csv, row 2: {column} is '{cell}', not a number"):
        medcalc(data, [calculation(2), calculation(2, **{column: cell})])


@pytest.mark.parametrize(("calculator", "truth"), [(13, "2021-05-04"), (68, "13/45/2021"), (13, ""), (69, "4 weeks")])
def test_a_date_or_a_gestational_age_that_is_none(data: Path, calculator: int, truth: str) -> None:
    with pytest.raises(DataError, match=rf"test\.csv, row 1: Ground Truth Answer is '{truth}', not"):
        medcalc(data, [calculation(calculator, **{"Ground Truth Answer": truth})])


def test_the_lite_subset_is_the_same_on_every_machine(data: Path) -> None:
    rows = [calculation(calculator, 12 * index + n) for index, calculator in enumerate((2, 13)) for n in range(12)]
    found = medcalc(data, rows, "medcalc_bench_lite")
    by_hash = sorted(range(12), key=lambda n: hashlib.sha256(f"medcalc_bench:{n}".encode()).hexdigest())[:4]
    assert [int(doc["row_number"]) for doc in found if doc["calculator_id"] == 2] == sorted(by_hash)
    assert Counter(doc["calculator_id"] for doc in found) == {2: 4, 13: 4}
    random.Random(0).shuffle(rows)
    shuffled = medcalc(data, rows, "medcalc_bench_lite")
    assert {doc["row_number"] for doc in shuffled} == {doc["row_number"] for doc in found}


def test_a_calculator_with_fewer_rows_than_asked_for_gives_them_all(data: Path) -> None:
    rows = [calculation(2, 1), calculation(2, 2), *(calculation(13, n) for n in range(3, 12))]
    assert Counter(doc["calculator_id"] for doc in medcalc(data, rows, per_calculator=5)) == {2: 2, 13: 5}
    assert len(medcalc(data, rows, per_calculator=1)) == 2


def test_the_sample_has_fewer_rows_than_the_lite_subset_asks_for() -> None:
    assert documents(load("medcalc_bench_lite", medcalc_bench={"per_calculator": 99})) == documents(
        load("medcalc_bench")
    )


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 30)), max_size=60),
    st.integers(1, 8),
)
def test_a_stratified_subset_keeps_order_and_never_exceeds_its_size(drawn: list[tuple[int, int]], size: int) -> None:
    docs: list[Row] = [{"calculator_id": calculator, "row_number": str(number)} for calculator, number in drawn]
    subset = stratified(docs, size)
    positions = iter(docs)
    assert all(any(doc is other for other in positions) for doc in subset), "a subsequence"
    available = Counter(doc["calculator_id"] for doc in docs)
    assert Counter(doc["calculator_id"] for doc in subset) == {c: min(n, size) for c, n in available.items()}
    assert [doc for doc in stratified(docs, size + 1) if any(doc is other for other in subset)] == subset, "nested"


def test_the_solved_example_is_of_the_same_calculator() -> None:
    examples = {
        int(row["Calculator ID"]): row["Patient Note"].strip() for row in sample_rows("medcalc_bench/one_shot.csv")
    }
    found = documents(load("medcalc_bench_one_shot"))
    assert len({doc["calculator_id"] for doc in found}) > 5
    for doc in found:
        assert doc["example_note"] == examples[doc["calculator_id"]]
        assert doc["example_note"] != doc["note"]
        assert doc["example_question"]
        assert doc["example_answer"]
        assert doc["example_explanation"]
    assert {doc["example_note"] for doc in documents(load("medcalc_bench"))} == {""}


def test_v1_2_takes_verifieds_examples(data: Path) -> None:
    rows = [calculation(2), calculation(69)]
    example = {**calculation(2), "Patient Note": "Verified's example."}
    write_rows(rows, data / "medcalc_bench" / "1.2" / "test.csv")
    for folder in (data / "medcalc_bench", data / "medcalc_bench" / "verified"):
        write_rows([example, {**calculation(69), "Patient Note": "Another."}], folder / "one_shot.csv")
        found = documents(load("medcalc_bench_v1_2", data, medcalc_bench={"one_shot": True}))
        assert [doc["example_note"] for doc in found] == ["Verified's example.", "Another."]
        (folder / "one_shot.csv").unlink()


def test_a_one_shot_split_without_a_calculators_example(data: Path) -> None:
    write_rows([calculation(2)], data / "medcalc_bench" / "one_shot.csv")
    with pytest.raises(DataError, match=r"one_shot\.csv has no example for calculator 69"):
        medcalc(data, [calculation(2), calculation(69), calculation(13)], one_shot=True)
    (data / "medcalc_bench" / "one_shot.csv").unlink()
    with pytest.raises(DataError, match=r"has no file one_shot\.parquet\|jsonl\|csv\|tsv; it has test\.csv"):
        medcalc(data, [calculation(2)], one_shot=True)


# ---- MedHallu


def medhallu(data: Path, rows: list[Row], **options: Any) -> list[Row]:
    write_rows(rows, data / "medhallu" / "pqa_labeled.jsonl")
    return documents(load("medhallu", data, medhallu=options))


def detection_row(index: int = 0, /, **fields: Any) -> Row:
    return {
        "Question": f"Question {index}?",
        "Knowledge": [f"Fact {index}."],
        "Ground Truth": f"True {index}.",
        "Difficulty Level": ("easy", "medium", "hard")[index % 3],
        "Hallucinated Answer": f"False {index}.",
        "Category of Hallucination": "Incomplete Information",
        **fields,
    }


def test_every_row_becomes_a_pair(data: Path) -> None:
    found = medhallu(data, [detection_row(index) for index in range(5)])
    assert [(doc["row"], doc["shown"], doc["target"], doc["answer"]) for doc in found] == [
        pair
        for index in range(5)
        for pair in (
            (str(index), "ground_truth", "0", f"True {index}."),
            (str(index), "hallucinated", "1", f"False {index}."),
        )
    ]


def test_sampled_pairing_shows_one_of_the_two_reproducibly_and_about_equally_often(data: Path) -> None:
    rows = [detection_row(index) for index in range(900)]

    def targets(**options: Any) -> list[str]:
        return [doc["target"] for doc in medhallu(data, rows, pairing="sampled", **options)]

    drawn = targets()
    assert len(drawn) == 900
    assert 400 < drawn.count("1") < 500
    assert drawn == targets(seed=0) != targets(seed=1)
    assert 400 < targets(seed=1).count("1") < 500
    expected = [str(hashlib.sha256(f"0:{index}".encode()).digest()[0] % 2) for index in range(900)]
    assert drawn == expected, "the same on every machine"


def test_what_is_sampled_does_not_depend_on_the_difficulty_selected(data: Path) -> None:
    rows = [detection_row(index) for index in range(90)]
    every = medhallu(data, rows, pairing="sampled", seed=5)
    hard = medhallu(data, rows, pairing="sampled", seed=5, difficulty="hard")
    assert hard == [doc for doc in every if doc["difficulty"] == "hard"]
    assert len(hard) == 30


@pytest.mark.parametrize("difficulty", ["easy", "medium", "hard"])
def test_one_difficulty(difficulty: str) -> None:
    found = documents(load("medhallu", medhallu={"difficulty": difficulty}))
    assert found == [doc for doc in documents(load("medhallu")) if doc["difficulty"] == difficulty]
    assert found


def test_a_difficulty_without_rows(data: Path) -> None:
    with pytest.raises(DataError, match=r"pqa_labeled\.jsonl has no row of difficulty 'hard'"):
        medhallu(data, [detection_row(0)], difficulty="hard")


@pytest.mark.parametrize(
    "knowledge",
    [
        ["First's.", 'Second "b".', "Third\nline."],
        str(["First's.", 'Second "b".', "Third\nline."]),
        "['First\\'s.', 'Second \"b\".', 'Third\\nline.']",
        "[\"First's.\" 'Second \"b\".'\n 'Third\\nline.']",
        "[\"First's.\" 'Second \"b\".'\n 'Third\nline.']",
    ],
    ids=["list", "Python's", "Python's with escapes", "NumPy's", "NumPy's with a line end"],
)
def test_knowledge_as_a_list_or_printed_as_text(data: Path, knowledge: Any) -> None:
    assert passages(knowledge) == ["First's.", 'Second "b".', "Third\nline."]
    found = medhallu(data, [detection_row(Knowledge=knowledge)])
    assert {doc["knowledge"] for doc in found} == {'First\'s.\n\nSecond "b".\n\nThird\nline.'}


@pytest.mark.parametrize(
    ("knowledge", "expected"),
    [
        (None, []),
        ("", []),
        ([], []),
        ("One passage.", ["One passage."]),
        ("[1] cites 'x'", ["[1] cites 'x'"]),
        ("[see 'x']", ["[see 'x']"]),
        ("['unclosed]", ["['unclosed]"]),
        ("[__import__('os').getcwd()]", ["[__import__('os').getcwd()]"]),
        (r"['bad \N{none}']", [r"['bad \N{none}']"]),
    ],
)
def test_knowledge_that_is_no_list_is_left_as_it_is(knowledge: Any, expected: list[str]) -> None:
    assert passages(knowledge) == expected


@given(st.lists(st.text(), min_size=1))
def test_knowledge_printed_by_python_or_numpy_is_read_back(written: list[str]) -> None:
    assert passages(str(written)) == written
    assert passages("[" + "\n ".join(map(repr, written)) + "]") == written


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("Misinterpretation of #Question#", "misinterpretation_of_question"),
        ("Misinterpretation of question", "misinterpretation_of_question"),
        ("INCOMPLETE INFORMATION", "incomplete_information"),
        ("Incomplete information.", "incomplete_information"),
        ("Mechanism and Pathway Misattribution", "mechanism_and_pathway_misattribution"),
        ("Methodological and Evidence Fabrication", "methodological_and_evidence_fabrication"),
    ],
)
def test_spellings_of_kinds_of_hallucination(data: Path, label: str, name: str) -> None:
    assert {doc["category"] for doc in medhallu(data, [detection_row(**{"Category of Hallucination": label})])} == {
        name
    }


@pytest.mark.parametrize(
    ("column", "label"),
    [
        ("Difficulty Level", "extreme"),
        ("Difficulty Level", None),
        ("Difficulty Level", 1),
        ("Category of Hallucination", "Other"),
        ("Category of Hallucination", None),
    ],
)
def test_a_bad_label_is_an_error_that_names_the_row(data: Path, column: str, label: Any) -> None:
    with pytest.raises(DataError) as caught:
        medhallu(data, [detection_row(0), detection_row(1), detection_row(2, **{column: label})])
    assert f"{data / 'medhallu' / 'pqa_labeled.jsonl'}, row 3: " in str(caught.value)
    assert column in str(caught.value)
    assert repr(label) in str(caught.value)


# ---- what a reader of the samples needs


def test_medmcqa_documents() -> None:
    rows = sample_rows("medmcqa/validation.jsonl")
    for row, doc in zip(rows, documents(load("medmcqa_openmed")), strict=True):
        assert doc["options"] == [row["opa"], row["opb"], row["opc"], row["opd"]]
        assert doc["answer_idx"] == row["cop"]
        assert doc["answer_letter"] == "ABCD"[row["cop"]]
        assert doc["subject_name"] == row["subject_name"] != ""
        assert (doc["id"], doc["question"], doc["explanation"]) == (row["id"], row["question"], row["exp"])


@pytest.mark.parametrize("task", ["medexqa_all", "medexqa_speech_language_pathology_logits"])
def test_medexqa_documents(task: str) -> None:
    for doc in documents(load(task)):
        stem = next(specialty.stem for specialty in SPECIALTIES if specialty.name == doc["specialty"])
        row = sample_rows(f"medexqa/test/{stem}_test.tsv")[int(doc["id"].rsplit("/", 1)[1])]
        assert doc["options"] == [row["A"], row["B"], row["C"], row["D"]]
        assert doc["explanation_1"] == row["explanation_1"] != ""
        assert doc["explanation_2"] == row["explanation_2"] != ""
        assert doc["answer_letter"] == "ABCD"[doc["answer_idx"]] == row["answer"]


def test_medcalc_bench_documents() -> None:
    rows = sample_rows("medcalc_bench/test.csv")
    for row, doc in zip(rows, documents(load("medcalc_bench")), strict=True):
        assert doc["calculator_id"] == int(row["Calculator ID"])
        assert doc["calculator_name"] == row["Calculator Name"]
        assert doc["category"] == row["Category"].replace(" ", "_")
        assert doc["ground_truth"] == row["Ground Truth Answer"]
        if doc["judgement"] in ("integer", "decimal"):
            assert {doc["lower_limit"], doc["upper_limit"]} == {float(row["Lower Limit"]), float(row["Upper Limit"])}
            assert doc["lower_limit"] <= float(doc["ground_truth"]) <= doc["upper_limit"]
        else:
            assert doc["lower_limit"] is doc["upper_limit"] is None


def test_medhallu_documents() -> None:
    found = documents(load("medhallu"))
    for index, row in enumerate(sample_rows("medhallu/pqa_labeled.jsonl")):
        true, hallucinated = found[2 * index : 2 * index + 2]
        for doc in (true, hallucinated):
            assert doc["difficulty"] == row["Difficulty Level"]
            assert doc["category"] in {
                "misinterpretation_of_question",
                "incomplete_information",
                "mechanism_and_pathway_misattribution",
                "methodological_and_evidence_fabrication",
            }
            assert doc["row"] == str(index)
            assert doc["knowledge"] == "\n\n".join(row["Knowledge"])
        assert (true["shown"], true["answer"], true["target"]) == ("ground_truth", row["Ground Truth"], "0")
        assert (hallucinated["shown"], hallucinated["target"]) == ("hallucinated", "1")
        assert hallucinated["answer"] == row["Hallucinated Answer"]
