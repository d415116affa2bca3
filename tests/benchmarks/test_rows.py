"""From rows to documents: labels in all their forms, what is left out or refused, selection, pairing, subsets."""

import hashlib
import math
from collections import Counter
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from given import (
    BY_CALCULATOR,
    FILE,
    ROW,
    TASK,
    Row,
    each_row,
    error_line,
    explained_rows,
    medmcqa_rows,
    sample_rows,
    table,
    write_rows,
)
from running import documents, documents_of, evaluate, load, manager, right_answer, samples, shown

from medtasks_utils.benchmarks.base import Benchmark
from medtasks_utils.benchmarks.facts import LoadReport, Tasks
from medtasks_utils.benchmarks.medexqa.options import SPECIALTIES
from medtasks_utils.benchmarks.options import Options
from medtasks_utils.benchmarks.tables import Table, find_split
from medtasks_utils.errors import DataError, UsageError


def made(data: Path, benchmark: str, *changes: Row, task: str | None = None, **options: Any) -> list[Row]:
    """Documents of the usual row of a benchmark, once with each of the changes."""
    rows = [{**ROW[benchmark], **change} for change in changes]
    write_rows(rows, data / FILE[benchmark], header=benchmark != "medexqa")
    return documents_of(task or TASK[benchmark], data, **{benchmark: options})


def medmcqa(data: Path, rows: list[Row], split: str = "validation", **options: Any) -> list[Row]:
    write_rows(rows, data / "medmcqa" / f"{split}.jsonl")
    return documents_of("medmcqa_openmed", data, medmcqa=options)


def ids(docs: list[Row]) -> list[str]:
    return [doc["id"] for doc in docs]


def few_shot(task: Any) -> Any:
    """What few-shot examples are drawn from."""
    return task.benchmark.load(task.files, task.config.fewshot_split, LoadReport())


@each_row("examples")
def test_a_row_becomes_examples_to_the_letter(benchmark, change, examples, data):
    assert made(data, benchmark, change) == examples


# ---- what is refused, what is left out, what may be written in several ways


@each_row("rows_refused")
def test_a_bad_cell_is_one_line_that_names_file_row_and_cell(benchmark, change, says, data):
    line = error_line(DataError, made, data, benchmark, {}, change)
    assert [text for text in (f"{data / FILE[benchmark]}, row 2", *says) if text not in line] == []


def test_a_cell_of_another_type_is_one_line_too():
    for row in ({"context": None}, ["context"]):
        with pytest.raises(DataError, match=r"the row: .*(not subscriptable|indices must be integers)"):
            Table([row]).made(lambda row: row["context"]["texts"])


def test_a_row_without_a_label_or_a_text_is_left_out_and_counted(data, caplog):
    cases = table("left_out")
    for benchmark, change, reason in cases:
        rows = [ROW[benchmark], *[{**ROW[benchmark], **change}] * 2]
        write_rows(rows, data / FILE[benchmark], header=benchmark != "medexqa")
        task = load(TASK[benchmark], data)
        assert task.dump_config()["metadata"]["rows_left_out"] == {reason: 2}, change
        assert len(documents(task)) == (4 if reason == "no answer" else 1)
    warnings = [record.getMessage() for record in caplog.records if "left out" in record.getMessage()]
    assert all(f"left out 2 rows: {reason}" in each for each, (*_, reason) in zip(warnings, cases, strict=True))


def test_a_file_that_was_added_to_itself_is_remarked(data):
    rows = sample_rows(FILE["medmcqa"])
    write_rows([*rows, *rows], data / FILE["medmcqa"])
    (remark,) = load("medmcqa_openmed", data).config.metadata["remarks"]
    assert remark == f"{len(rows)} of {2 * len(rows)} rows in validation equal others; was a file added to itself?"


@each_row("spellings")
def test_categories_and_passages_may_be_written_in_several_ways(benchmark, cell, field, value, data):
    assert {doc[field] for doc in made(data, benchmark, cell)} == {value}


# ---- MedMCQA: labels


def chosen(row: Row) -> str:
    """The text of the right option."""
    return str(row["op" + "abcd"[row["cop"]]])


@each_row("forms_of_cop")
def test_the_label_is_read_in_every_form_whatever_the_options_look_like(form, labels, data):
    lookalikes = {"opa": "2", "opb": "a", "opc": "B", "opd": "1"}
    rows = medmcqa_rows(40) + [{**row, **lookalikes, "id": f"x{row['cop']}"} for row in medmcqa_rows(4)]
    for row in rows:
        text, label = chosen(row), labels[row["cop"]]
        row["cop"] = label.format(text=text, capitals=text.upper()) if isinstance(label, str) else label
    assert [doc["answer_letter"] for doc in medmcqa(data, rows)] == list("ABCD") * 11


def labelled(cops: list[int | None]) -> list[Row]:
    return [{**row, "cop": cop} for row, cop in zip(medmcqa_rows(len(cops)), cops, strict=True)]


@each_row("bases_of_cop")
def test_a_label_0_or_4_or_an_option_decides_whether_labels_count_from_0(name, cops, base, letters, says, data):
    docs = medmcqa(data, labelled(cops), cop_base=base)
    assert "".join(doc["answer_letter"] for doc in docs) == letters
    remarks = load("medmcqa_openmed", data, medmcqa={"cop_base": base}).config.metadata.get("remarks", [""])
    assert len(remarks) == 1 and says in remarks[0] and bool(says) == bool(remarks[0])


@each_row("cops_refused")
def test_a_split_with_labels_0_and_4_or_without_labels_is_an_error_that_says_why(name, cops, base, says, data):
    with pytest.raises(DataError, match=rf"validation\.jsonl{says}"):
        medmcqa(data, labelled(cops), cop_base=base)


def test_the_first_word_of_an_option_is_no_letter_and_letter_and_text_must_agree(data):
    cases = {label: (options, right) for label, options, right in table("labels_and_texts")}
    usual = [{**row, "cop": chosen(row)} for row in medmcqa_rows(8)]
    rows = [{**usual[0], **options, "id": label, "cop": label} for label, (options, _) in cases.items()]
    found = {doc["id"]: doc["answer_idx"] for doc in medmcqa(data, rows + usual)}
    assert {label: found.get(label) for label in cases} == {label: right for label, (_, right) in cases.items()}


# ---- MedMCQA: splits, counts


def test_without_a_validation_split_a_tenth_of_train_is_held_out_with_a_remark(data, warnings_of_harness):
    rows = medmcqa_rows(25)
    held_out = ["id-15", "id-16", "id-19"]
    assert ids(medmcqa(data, rows, split="train")) == held_out
    said = "there is no validation split, so a tenth of train is held out as one"
    assert [line for line in warnings_of_harness() if said in line]
    task = load("medmcqa_openmed", data)
    assert task.config.metadata["remarks"] == [said]
    others = ids(few_shot(task))
    assert others[:3] == ["id-20", "id-9", "id-7"]
    assert ids(documents_of("medmcqa_openmed", data, medmcqa={"split": "train"})) == others
    write_rows(rows, data / "medmcqa" / "test.jsonl")
    assert len(documents_of("medmcqa_openmed", data, medmcqa={"split": "test"})) == 25, "which is not divided"
    assert sorted(others + held_out) == sorted(row["id"] for row in rows)
    rows[int(held_out[-1].removeprefix("id-"))]["cop"] = None
    assert ids(medmcqa(data, rows, split="train")) == held_out[:-1]
    assert load("medmcqa_openmed", data).config.metadata["rows_left_out"] == {"no usable label in cop": 1}
    write_rows(medmcqa_rows(8), data / "medmcqa" / "validation.jsonl")
    assert "remarks" not in load("medmcqa_openmed", data).config.metadata


def test_num_eval_examples_and_num_train_examples_limit_the_rows(data):
    for split in ("train", "validation"):
        write_rows(medmcqa_rows(10), data / "medmcqa" / f"{split}.jsonl")
    first = [f"id-{number}" for number in range(10)]
    for evaluated, trained in ((-1, 4), (4, 99), (99, -1)):
        limits = {"num_eval_examples": evaluated, "num_train_examples": trained}
        task = load("medmcqa_openmed", data, medmcqa=limits)
        found = [ids(documents(task)), ids(few_shot(task))]
        assert found == [first[:4] if limit == 4 else first for limit in (evaluated, trained)]
    assert few_shot(load("medmcqa_openmed", data, medmcqa={"num_train_examples": 0})) == []
    with pytest.raises(DataError, match="no rows are left"):
        load("medmcqa_openmed", data, medmcqa={"num_eval_examples": 0})


# ---- the option split


@each_row("splits")
def test_another_split_can_be_evaluated(task, split, path, data):
    benchmark = path.split("/")[0]
    for place, question in ((FILE[benchmark], "no"), (path, "yes")):
        name = "Question" if benchmark == "medcalc_bench" else "question"
        write_rows([{**ROW[benchmark], name: question}], data / place, header=benchmark != "medexqa")
    assert [doc["question"] for doc in documents_of(task, data, **{benchmark: {"split": split}})] == ["yes"]


def test_of_a_split_in_two_formats_the_preferred_one_is_read(tmp_path):
    for name in ("test.csv", "test_data.jsonl"):
        (tmp_path / name).touch()
    assert find_split(tmp_path, "train", "test") == [tmp_path / "test_data.jsonl"]


@pytest.mark.parametrize(("benchmark", "split"), [("medmcqa", "train"), ("medexqa", "dev")])
def test_few_shot_examples_are_not_drawn_from_what_is_evaluated_on(benchmark, split):
    with pytest.raises(UsageError, match=r"few-shot examples other than"):
        evaluate(TASK[benchmark], metadata={benchmark: {"split": split}}, num_fewshot=1)


# ---- MedExQA


@each_row("specialties")
def test_specialties_by_code_or_name_one_or_many_in_any_case(name, given, expected):
    found = documents_of("medexqa_all", medexqa={} if given is None else {"specialty": given})
    codes = {specialty.name: specialty.code for specialty in SPECIALTIES}
    counts = {code: 8 if code == "CLS" else 4 for code in expected.split()}
    assert Counter(codes[doc["specialty"]] for doc in found) == counts


@each_row("options_refused")
def test_options_that_cannot_apply_to_a_task_are_refused(name, options, says):
    with pytest.raises(UsageError, match=says):
        manager(options).load([name])


def test_seed_shuffles_several_specialties_reproducibly():
    def shuffled(**options):
        return ids(documents_of("medexqa_all", medexqa=options))

    own = [ids(documents_of(f"medexqa_{each.name}")) for each in SPECIALTIES]
    assert own[0] == [f"biomedical_engineering/test/{index}" for index in range(4)]
    assert few_shot(load("medexqa_all"))[0]["id"] == "biomedical_engineering/dev/0"
    assert sorted(shuffled()) == sorted(chain.from_iterable(own)) == sorted(shuffled(seed=0))
    assert shuffled() != shuffled(seed=0) == shuffled(seed=0) != shuffled(seed=1)
    assert shuffled(specialty="BE", seed=0) == own[0], "one specialty is not shuffled"


# ---- MedCalc-Bench


def calculation(calculator: int, number: int = 1) -> Row:
    truth = dict(table("truths"))[BY_CALCULATOR[calculator].name]
    return {"Row Number": number, "Calculator ID": calculator, "Ground Truth Answer": truth}


def a_dozen_each(*calculators: int) -> list[Row]:
    return [calculation(each, 12 * index + n) for index, each in enumerate(calculators) for n in range(12)]


def test_a_subset_by_calculator_is_the_same_on_every_machine_and_keeps_the_order(data):
    rows = a_dozen_each(2, 13)
    found = made(data, "medcalc_bench", *rows, task="medcalc_bench_lite")
    by_hash = sorted(range(12), key=lambda n: hashlib.sha256(f"medcalc_bench:{n}".encode()).hexdigest())[:4]
    assert [int(doc["row_number"]) for doc in found if doc["calculator_id"] == 2] == sorted(by_hash)
    assert Counter(doc["calculator_id"] for doc in found) == {2: 4, 13: 4}
    few = made(data, "medcalc_bench", *map(calculation, (2, 13, 13, 13)), per_calculator=2)
    assert Counter(doc["calculator_id"] for doc in few) == {2: 1, 13: 2}
    write_rows([ROW["medcalc_bench"]] * 9, data / "medcalc_bench" / "train.csv")
    assert len(few_shot(load("medcalc_bench_lite", data))) == 9


@pytest.mark.parametrize("caches", [False, True])
def test_a_limit_takes_the_calculators_in_turn_and_keeps_the_numbers_of_the_rows(data, caches, monkeypatch):
    monkeypatch.setattr("lm_eval.caching.cache.PATH", str(data / "cache"))
    rows = a_dozen_each(69, 13, 2)
    docs = made(data, "medcalc_bench", *rows)
    assert [int(doc["row_number"]) for doc in docs] == list(range(36)), "all rows are in the order of the data"
    lite = made(data, "medcalc_bench", *rows, task="medcalc_bench_lite")
    for limit, counts in ((5, {2: 2, 13: 2, 69: 1}), (12, {2: 4, 13: 4, 69: 4})):
        found = samples(evaluate("medcalc_bench", data=data, limit=limit, cache_requests=caches))
        assert Counter(sample["doc"]["calculator_id"] for sample in found) == counts
        assert [docs[sample["doc_id"]] for sample in found] == [shown(sample["doc"]) for sample in found]
        assert all(sample["resps"] == [[right_answer(sample["doc"])]] for sample in found)
    assert [shown(sample["doc"]) for sample in found] == lite


def test_the_solved_example_is_a_verified_row_of_the_same_calculator(data):
    examples = {
        int(row["Calculator ID"]): row["Patient Note"].strip() for row in sample_rows("medcalc_bench/one_shot.csv")
    }
    for doc in documents_of("medcalc_bench_one_shot"):
        assert doc["example_note"] == examples[doc["calculator_id"]] != doc["note"]
    write_rows([ROW["medcalc_bench"]], data / "medcalc_bench" / "1.2" / "test.csv")
    write_rows([{**ROW["medcalc_bench"], "Patient Note": "Verified's."}], data / "medcalc_bench" / "one_shot.csv")
    (doc,) = documents_of("medcalc_bench_v1_2", data, medcalc_bench={"one_shot": True})
    assert doc["example_note"] == "Verified's."


def test_a_calculator_without_a_solved_example_is_an_error(data):
    write_rows([ROW["medcalc_bench"]], data / "medcalc_bench" / "one_shot.csv")
    with pytest.raises(DataError, match=r"no example of calculator 69"):
        made(data, "medcalc_bench", *map(calculation, (2, 69, 13)), one_shot=True)
    (data / "medcalc_bench" / "one_shot.csv").unlink()
    with pytest.raises(DataError, match=r"has no file one_shot\..*; it contains test\.csv"):
        made(data, "medcalc_bench", calculation(2), one_shot=True)


# ---- MedExQA: labels at other rows


SHIFTED = SPECIALTIES[-1]


@pytest.mark.parametrize("offset", [-3, -1, 0, 1, 2])
def test_shifted_labels_are_detected_by_explanations_and_realigned(offset, data):
    for specialty in SPECIALTIES:
        for split in ("test", "dev"):
            path = data / "medexqa" / split / f"{specialty.stem}_{split}.tsv"
            rows = explained_rows(specialty.stem, offset * (specialty == SHIFTED))
            if specialty != SHIFTED:
                rows[0]["explanation_1"] = ""  # which nobody needs
            write_rows(rows, path, header=False)
    for seed in (None, 5):
        task = load("medexqa_all", data, medexqa={"use_explanations": False, "seed": seed})
        found = {doc["id"] for doc in documents(task) if "label of another row" in doc["known_issues"]}
        assert found == ({f"{SHIFTED.name}/test/{number}" for number in range(40)} if offset else set())
        remarks = "".join(task.config.metadata.get("remarks", ()))
        said = f"{SHIFTED.name}: labels seem misaligned: the explanations support the label of another row "
        assert remarks.startswith(f"{said}(offset {offset:+d}) in ") if offset else remarks == ""
    healed = load(f"medexqa_{SHIFTED.name}", data, medexqa={"label_offset": offset, "use_explanations": False})
    docs = documents(healed)
    assert len(docs) == 40 - abs(offset) and all(
        doc["options"][doc["answer_idx"]] in doc["explanation_1"] for doc in docs
    )
    assert "remarks" not in healed.config.metadata and {doc["known_issues"] for doc in docs} == {""}
    assert len(few_shot(healed)) == 40, "only the rows that are evaluated are realigned"


# ---- orders of choices


@pytest.mark.parametrize("task", ["medmcqa_openmed", "medexqa_all"])
def test_an_example_whose_choices_are_shuffled_is_the_same_in_the_data_s_order(task):
    shuffled = load(task, **{task.partition("_")[0]: {"order_seed": 7}})
    docs = documents(shuffled)
    assert [*map(shuffled.benchmark.in_data_order, docs)] == documents_of(task) != docs


# ---- MedHallu


def levels(count: int) -> list[Row]:
    return [{"Question": f"Question {n}?", "Difficulty Level": ("easy", "medium", "hard")[n % 3]} for n in range(count)]


def test_sampled_pairing_shows_one_of_the_two_the_same_on_every_machine(data):
    for seed in (0, 5):
        sampled = partial(made, data, "medhallu", *levels(60), pairing="sampled", seed=seed)
        drawn = sampled()
        assert [doc["target"] for doc in drawn] == [
            str(hashlib.sha256(f"{seed}:{row}".encode()).digest()[0] % 2) for row in range(60)
        ]
        assert [doc["row"] for doc in drawn] == [*map(str, range(60))]
        hard = sampled(difficulty="hard")
        assert hard == [doc for doc in drawn if doc["difficulty"] == "hard"] and len(hard) == 20
    with pytest.raises(DataError, match=r"pqa_labeled\.jsonl has no row of difficulty 'hard'"):
        made(data, "medhallu", {}, difficulty="hard")


def test_medhallu_has_no_other_split():
    task = load("medhallu")
    with pytest.raises(DataError, match=r"medhallu: there is no split 'dev'; MedHallu's only split is 'train'"):
        task.benchmark.load(task.files, "dev", LoadReport())


def test_the_fields_of_a_row_are_text_by_default():
    class Plain(Benchmark[Options]):
        tasks = Tasks(default="plain")

    assert Plain().example({"a": None, "b": 3, "c": math.nan, "d": b"x"}) == {"a": "", "b": "3", "c": "", "d": "x"}
