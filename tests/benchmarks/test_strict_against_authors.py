"""Strict extraction against the verdicts of the benchmarks' own scorers, and against their rules one by one."""

import json
from pathlib import Path
from typing import Any

import pytest
from given import BY_CALCULATOR, table
from running import documents, reader

from medtasks_utils.benchmarks.medcalc_bench.kinds import KINDS, is_right
from medtasks_utils.benchmarks.medexqa.authors import authors_answer
from medtasks_utils.benchmarks.medexqa.options import SPECIALTIES
from medtasks_utils.extraction.durations import strict_weeks_days

# ---- the authors' verdicts


def verdicts(shared: Path, name: str) -> list[dict[str, Any]]:
    path = shared / "reference" / name
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_verdict_of_medexqa_s_authors(shared):
    reference = verdicts(shared, "medexqa_extractions.jsonl")
    assert len(reference) >= 400
    names = {specialty.stem: specialty.name for specialty in SPECIALTIES}
    tasks = {stem: reader(f"medexqa_{name}", shared / "data") for stem, name in names.items()}
    by_id = {stem: {doc["id"]: doc for doc in documents(task)} for stem, task in tasks.items()}
    differing = []
    for item in reference:
        task = tasks[item["specialty"]]
        doc = by_id[item["specialty"]][f"{names[item['specialty']]}/test/{item['row']}"]
        assert doc["answer_letter"] == item["target"]
        answer = task.strict(item["response"], doc)
        right = task.score(doc, answer)["acc"] == 1.0
        if answer.value != item["prediction"] or right != (item["prediction"] == item["target"]):
            differing.append((item, answer.value))
    assert differing == []


def test_every_verdict_of_medcalc_bench_s_authors(shared, tmp_path):
    reference = verdicts(shared, "medcalc_verdicts.jsonl")
    assert len(reference) >= 600
    (tmp_path / "medcalc_bench").mkdir()
    tasks = {"test": reader("medcalc_bench", shared / "data")}
    solved = (shared / "data" / "medcalc_bench" / "one_shot.csv").read_bytes()
    (tmp_path / "medcalc_bench" / "test.csv").write_bytes(solved)
    tasks["one_shot"] = reader("medcalc_bench", tmp_path)
    docs = {split: documents(task) for split, task in tasks.items()}
    differing = []
    for item in reference:
        task, doc = tasks[item["split"]], docs[item["split"]][item["row"]]
        assert doc["calculator_id"] == item["calculator_id"]
        answer = task.strict(f"<answer>{item['answer']}</answer>", doc)
        if task.score(doc, answer)["acc"] != item["correct"]:
            differing.append((item, answer.value, doc["ground_truth"]))
    assert differing == []


def test_flexible_loses_no_clearly_stated_answer_of_medcalc_bench(shared):
    """What the authors credit is credited, but for numbers without a first digit (".6" for 6), which mean another."""
    task = reader("medcalc_bench", shared / "data")
    docs = documents(task)
    lost = []
    for item in verdicts(shared, "medcalc_verdicts.jsonl"):
        if item["split"] == "test" and item["correct"] and not item["answer"].startswith("."):
            doc = docs[item["row"]]
            if task.score(doc, task.flexible(f"<answer>{item['answer']}</answer>", doc))["acc"] != 1.0:
                lost.append((item, doc["ground_truth"]))
    assert lost == []


# ---- MedExQA's rules, on our own examples


def test_medexqa_s_most_similar_option_is_the_first_on_a_tie():
    assert authors_answer("xyz", ["one", "two", "six", "ten"])[0] == "C"
    assert authors_answer("zzz", ["one", "two", "uuu", "vvv"])[0] == "A"
    assert authors_answer("…", ["one", "two", "uuu", "vvv"])[0] == "A"


def test_medexqa_s_two_deliberate_differences():
    task = reader("medexqa_speech_language_pathology")
    doc = documents(task)[0]
    for blank in ("", " \n\t", "<think>A</think>", "<think>A"):
        assert task.strict(blank, doc).value is None
    assert authors_answer("I choose two", ["", "two", "...", "four"])[0] == "B"  # nothing stands for "" or "..."


# ---- MedCalc-Bench's rules, on our own examples


def test_medcalc_s_four_kinds_of_judgement():
    def right(judgement, content, truth, lower=0.0, upper=0.0):
        doc = {"judgement": judgement, "ground_truth": truth, "lower_limit": lower, "upper_limit": upper}
        value = KINDS[judgement].strict(content)
        return value is not None and is_right(value, doc)

    assert right("date", "5/4/2021", "05/04/2021")
    assert not right("date", "4/5/2021", "05/04/2021")
    assert right("weeks_days", "4 weeks, 3 days", "('4 weeks', '3 days')")
    assert not right("weeks_days", "3 weeks, 4 days", "('4 weeks', '3 days')")
    assert [right("integer", content, "2") for content in ("2", "1.5", "2.5", "2.51", "1.49", "-2")] == [
        *[True] * 3,  # to even, as Python's round does
        *[False] * 3,
    ]
    assert [right("decimal", x, "10", 9.5, 10.5) for x in ("9.5", "10.5", "9.49", "10.51", "-10")] == [
        *[True] * 2,
        *[False] * 3,
    ]
    assert strict_weeks_days("('4 weeks', '3 days')") == (4, 3)


def test_the_judgement_of_every_calculator():
    assert [[number, BY_CALCULATOR[number].name] for number in sorted(BY_CALCULATOR)] == table("calculators")
