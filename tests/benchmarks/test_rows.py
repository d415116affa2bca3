"""From rows to documents: labels in all their forms, what is left out or refused, selection, pairing, subsets."""

import math
from collections import Counter
from itertools import chain
from typing import Any

import pytest
from given import FILE, TASK, each_row, error_line, explained_rows, write_changed, write_rows
from places import at
from running import documents, documents_of, evaluate, load, right_answer, samples, shown

from medtasks_utils.benchmarks.base import Benchmark
from medtasks_utils.benchmarks.facts import LoadReport, TaskInfo
from medtasks_utils.benchmarks.medexqa.options import SPECIALTIES
from medtasks_utils.benchmarks.tables import Table
from medtasks_utils.errors import DataError


def by_column(docs):
    return {name: [doc[name] for doc in docs] for name in [*docs[0]]} if docs else {}


class Made:
    """What is made of the rows in a data directory, under options by benchmark; documents are lists by field."""

    def __init__(self, data):
        self.data = data

    def task(self, name, options):
        return load(name, self.data, **options)

    def documents(self, name, options):
        """The documents, with what was left out and remarked."""
        task = self.task(name, options)
        return {**task.config.metadata, **by_column(documents(task))}

    def split(self, split, name, options):
        """The documents of a split, as few-shot examples are drawn from it."""
        task = self.task(name, options)
        return by_column(task.benchmark.load(task.files, split, LoadReport()))

    def results(self, name, options, settings, said=None):
        """The results of a run in which the model says this, by default what is right."""
        answer = right_answer if said is None else lambda doc: said
        return evaluate(name, answer, self.data, options, **settings)["results"][name]


@each_row("made_of_rows")
def test_a_task_makes_of_rows_and_options_what_its_row_says(name, files, place, expected, data):
    for file, columns in files.items():
        rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
        write_changed(data, file, *rows)
    assert at(place, expected, Made(data if files else "sample")) == expected


@each_row("examples")
def test_a_row_becomes_examples_to_the_letter(benchmark, change, examples, data):
    write_changed(data, FILE[benchmark], change)
    assert documents_of(TASK[benchmark], data) == examples


# ---- what is refused, and what is left out


@each_row("rows_refused")
def test_a_bad_cell_is_one_line_that_names_file_row_and_cell(benchmark, change, says, data):
    write_changed(data, FILE[benchmark], {}, change)
    line = error_line(DataError, load, TASK[benchmark], data)
    assert [text for text in (f"{data / FILE[benchmark]}, row 2", *says) if text not in line] == []


def test_a_cell_of_another_type_is_one_line_too():
    for row in ({"context": None}, ["context"]):
        with pytest.raises(DataError, match=r"the row: .*(not subscriptable|indices must be integers)"):
            Table([row]).made(lambda row: row["context"]["texts"])


@each_row("left_out")
def test_a_row_without_a_label_or_a_text_is_left_out_and_counted(benchmark, change, reason, data, warnings_of_harness):
    write_changed(data, FILE[benchmark], {}, change, change)
    task = load(TASK[benchmark], data)
    assert task.dump_config()["metadata"]["rows_left_out"] == {reason: 2}
    assert len(documents(task)) == (4 if reason == "no answer" else 1)
    assert any(f"left out 2 rows: {reason}" in line for line in warnings_of_harness())


def test_the_fields_of_a_row_are_text_by_default():
    plain: Any = Benchmark(task=TaskInfo("plain"))
    assert plain.example({"a": None, "b": 3, "c": math.nan, "d": b"x"}) == {"a": "", "b": "3", "c": "", "d": "x"}


# ---- orders and selections


@each_row("specialties")
def test_specialties_by_code_or_name_one_or_many_in_any_case(name, given, expected):
    found = documents_of("medexqa_all", medexqa={} if given is None else {"specialty": given})
    codes = {specialty.name: specialty.code for specialty in SPECIALTIES}
    counts = {code: 8 if code == "CLS" else 4 for code in expected.split()}
    assert Counter(codes[doc["specialty"]] for doc in found) == counts


def test_seed_shuffles_several_specialties_reproducibly():
    def ids(name="medexqa_all", **options):
        return [doc["id"] for doc in documents_of(name, medexqa=options)]

    unshuffled = [ids(f"medexqa_{specialty.name}") for specialty in SPECIALTIES]
    assert unshuffled[0] == [f"biomedical_engineering/test/{index}" for index in range(4)]
    assert sorted(ids()) == sorted(chain(*unshuffled)) == sorted(ids(seed=0))
    assert ids() != ids(seed=0) == ids(seed=0) != ids(seed=1)
    assert ids(specialty="BE", seed=0) == unshuffled[0], "one specialty is not shuffled"


@pytest.mark.parametrize("task", ["medmcqa_openmed", "medexqa_all"])
def test_an_example_whose_choices_are_shuffled_is_the_same_in_the_data_s_order(task):
    shuffled = load(task, **{task.partition("_")[0]: {"order_seed": 7}})
    docs = documents(shuffled)
    assert [*map(shuffled.benchmark.in_data_order, docs)] == documents_of(task) != docs


@pytest.mark.parametrize("caches", [False, True])
def test_a_limit_takes_the_calculators_in_turn_and_keeps_the_numbers_of_the_rows(data, caches, monkeypatch):
    monkeypatch.setattr("lm_eval.caching.cache.PATH", str(data / "cache"))
    truths = {69: "(4 weeks, 3 days)", 13: "5/4/2021", 2: "81.5"}
    rows = [{"Calculator ID": number, "Ground Truth Answer": truths[number]} for number in truths for _ in range(12)]
    numbered = [{**row, "Row Number": number} for number, row in enumerate(rows)]
    write_changed(data, FILE["medcalc_bench"], *numbered)
    docs = documents_of("medcalc_bench", data)
    for limit, counts in ((5, {2: 2, 13: 2, 69: 1}), (12, {2: 4, 13: 4, 69: 4})):
        found = samples(evaluate("medcalc_bench", data=data, limit=limit, cache_requests=caches))
        assert Counter(sample["doc"]["calculator_id"] for sample in found) == counts
        assert [docs[sample["doc_id"]] for sample in found] == [shown(sample["doc"]) for sample in found]
        assert all(sample["resps"] == [[right_answer(sample["doc"])]] for sample in found)
    assert [shown(sample["doc"]) for sample in found] == documents_of("medcalc_bench_lite", data)


# ---- MedExQA: labels at other rows


SHIFTED = SPECIALTIES[-1]


@pytest.mark.parametrize("offset", [-3, -1, 0, 1, 2])
def test_shifted_labels_are_detected_by_explanations_and_realigned(offset, data):
    for specialty in SPECIALTIES:
        rows = explained_rows(specialty.stem, offset * (specialty == SHIFTED))
        if specialty != SHIFTED:
            rows[0]["explanation_1"] = ""  # which nobody needs
        for split in ("test", "dev"):
            write_rows(rows, data / "medexqa" / split / f"{specialty.stem}_{split}.tsv", header=False)
    said = f"{SHIFTED.name}: labels seem misaligned: the explanations support the label of another row "
    for seed in (None, 5):
        task = load("medexqa_all", data, medexqa={"seed": seed})
        found = {doc["id"] for doc in documents(task) if "label of another row" in doc["known_issues"]}
        assert found == ({f"{SHIFTED.name}/test/{number}" for number in range(40)} if offset else set())
        remarks = "".join(task.config.metadata.get("remarks", ()))
        assert remarks.startswith(f"{said}(offset {offset:+d}) in ") if offset else remarks == ""
    healed = Made(data).documents(f"medexqa_{SHIFTED.name}", options := {"medexqa": {"label_offset": offset}})
    assert len(healed["id"]) == 40 - abs(offset) and {*healed["known_issues"]} == {""} and "remarks" not in healed
    for choices, right, text in zip(healed["options"], healed["answer_idx"], healed["explanation_1"], strict=True):
        assert choices[right] in text
    few_shot = Made(data).split("dev", f"medexqa_{SHIFTED.name}", options)
    assert len(few_shot["id"]) == 40, "only the rows that are evaluated are realigned"
