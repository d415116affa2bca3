"""What a score is worth: what is reached without the question, the style of answers, and labels that are doubted."""

import hashlib
import json
from collections import Counter
from dataclasses import replace

import pytest
from given import FILE, ROW, sample_rows, table, write_rows
from running import load
from saved_runs import drawn, save_run

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.shortcuts import content_hash, measured, verdicts
from medtasks_utils.errors import DataError
from medtasks_utils.filters import STRICT
from medtasks_utils.report.page import build_page
from medtasks_utils.report.score_table import lines_of, score_data
from medtasks_utils.report.topics import topics_of
from medtasks_utils.results import read_runs

MEDHALLU = benchmarks()["medhallu"]
ROWS = [
    {
        **ROW["medhallu"],
        "Question": f"Does drug {number} help?",
        "Ground Truth": f"Drug {number} helps.",
        "Difficulty Level": ("easy", "hard")[number % 2],
    }
    for number in range(40)
]


@pytest.fixture
def style_known(tmp_path, monkeypatch):
    """Rows of MedHallu, and a reader that errs on the true answers of the first nine and on nothing else."""
    write_rows(ROWS, tmp_path / "data" / FILE["medhallu"])
    examples = docs("medhallu", tmp_path / "data")
    content = content_hash(examples, MEDHALLU.data.content)
    in_order = sorted(examples, key=lambda example: json.dumps([example[name] for name in MEDHALLU.data.content]))
    bits = "".join("01"[is_told(example)] for example in in_order)
    parts = {content: {"readers": dict(table("readers_of_style"))}}
    path = tmp_path / "shortcuts.json"
    path.write_text(json.dumps({"parts": parts, "verdicts": {content: f"{int(bits, 2):x}"}}))
    monkeypatch.setattr(MEDHALLU, "data", replace(MEDHALLU.data, shortcuts=path))
    return tmp_path / "data"


def is_told(example):
    return example["target"] == "1" or int(example["row"]) >= 9


def docs(name, data="sample", **options):
    return list(load(name, data, medhallu=options).eval_docs)


# ---- style


def test_saved_verdicts_match_their_examples_in_any_order(style_known):
    examples = docs("medhallu", style_known)
    right = [is_told(example) for example in examples]
    for order in (1, -1):
        assert verdicts(MEDHALLU.data, examples[::order]) == right[::order]
    assert [example["style"] == "style says the truth" for example in examples] == right
    write_rows([*ROWS[1:], {**ROWS[0], "Ground Truth": "It helps."}], style_known / FILE["medhallu"])
    assert {example["style"] for example in docs("medhallu", style_known)} == {""}, "other rows"


def test_the_balanced_task_is_the_largest_subset_on_which_style_is_at_chance(style_known):
    balanced = docs("medhallu_style_balanced", style_known)
    styles = Counter(example["style"] for example in balanced)
    assert styles == {"style says the truth": 11, "style misleads": 9}, "11 of 20 are 55 %, 13 of 22 59.1 %"
    places = [int(example["row"]) for example in balanced[::2]]
    first_by_hash = min(range(9, 40), key=lambda row: hashlib.sha256(ROWS[row]["Question"].encode()).hexdigest())
    assert places == [*range(9), first_by_hash]
    hard = docs("medhallu_style_balanced", style_known, difficulty="hard")
    assert {example["difficulty"] for example in hard} == {"hard"} and len(hard) == 8
    assert len(docs("medhallu_style_balanced", style_known, pairing="sampled")) == 10


def test_without_rows_on_which_style_is_known_to_err_there_is_an_error(style_known, monkeypatch):
    figures = measured(MEDHALLU.data.shortcuts)
    (content,) = figures["verdicts"]
    monkeypatch.setitem(figures["verdicts"], content, "f" * 20)
    with pytest.raises(DataError, match="no row"):
        load("medhallu_style_balanced", style_known)
    with pytest.raises(DataError, match="style_balanced requires the 1,000 rows of pqa_labeled"):
        load("medhallu_style_balanced", "sample")


# ---- beside every score


def test_the_page_shows_the_floor_only_beside_scores_of_the_same_rows(style_known, tmp_path):
    save_run(tmp_path / "whole", tasks="medhallu", data=style_known)
    save_run(tmp_path / "part", tasks="medhallu", data=style_known, limit=30)
    shown = ("f1", "acc", "unsure_rate")
    whole, part = (
        {name: line["without_question"] for line in score_data(lines_of(run)) if (name := line["metric"]) in shown}
        for run in read_runs([tmp_path / name for name in ("whole", "part")])
    )
    f1, acc = {"value": 0.85, "reader": "answer_text"}, {"value": 0.9, "reader": "style"}
    assert whole == {"f1": f1, "acc": acc, "unsure_rate": None}, "the classifiers never are unsure"
    assert part == dict.fromkeys(shown)
    (topic,) = topics_of(read_runs(tmp_path / "whole"))
    sizes = {name: next(iter(by_run.values())).n for name, by_run in topic.by_group("style", STRICT, "acc").items()}
    assert sizes == {"style says the truth": 71, "style misleads": 9}
    for folders, floor in ((["whole"], "reached without the question (90.0)"), (["part"], "guessing (50.0)")):
        assert floor in drawn(build_page(read_runs([tmp_path / name for name in folders])))
    assert "reached without the question (" not in drawn(build_page(read_runs(tmp_path))), "not the same rows"


# ---- labels that are doubted


def test_a_benchmark_that_names_no_content_has_no_known_issues(monkeypatch):
    monkeypatch.setattr(MEDHALLU, "data", replace(MEDHALLU.data, content=()))
    assert {example["known_issues"] for example in docs("medhallu")} == {""}


def corrected_row(row, truth):
    kept = {name: row[name] for name in ("Calculator Name", "Question", "Patient Note")}
    truths = dict.fromkeys(("Ground Truth Answer", "Lower Limit", "Upper Limit"), truth)
    return {"Unique ID": row["Row Number"], **kept, **truths}


def test_physicians_corrections_are_known_issues(tmp_path):
    rows = sample_rows("medcalc_bench/test.csv")
    write_rows(rows, tmp_path / "medcalc_bench" / "test.csv")
    expected = {row["row_number"]: row for row in table("corrected_by_physicians")}
    corrected = [{**corrected_row(rows[3], "1"), "Question": "Another question about the same note?"}]
    for row in rows:
        if other := expected.get(row["Row Number"]):
            note = row["Patient Note"].replace(" ", "\n")
            question = row["Question"].replace(" ", "\n", 1)
            other_row = corrected_row(row, other["other_label"]["ground_truth"])
            corrected.append({**other_row, "Patient Note": note, "Question": question})
    write_rows(corrected, tmp_path / "medcalc_bench" / "corrected.csv")
    (label,) = (breakdown for breakdown in benchmarks()["medcalc_bench"].report.breakdowns if breakdown.name == "label")
    for example in docs("medcalc_bench", tmp_path):
        number = example["row_number"]
        found = {name: example[name] for name in ("row_number", "other_label", "known_issues")}
        unlabelled = {"row_number": number, "other_label": None, "known_issues": "", "group": None}
        assert {**found, "group": label.key(example)} == expected.get(number, unlabelled)
    assert {example["known_issues"] for example in docs("medcalc_bench_corrected", tmp_path)} == {""}
