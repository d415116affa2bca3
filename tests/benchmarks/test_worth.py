"""What a score is worth: what is reached without the question, the style of answers, and labels that are doubted."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from given import ROOT, Row, corrected_row, sample_rows, write_rows
from local_server import LocalServer
from page_numbers import Page
from running import load
from saved_runs import save_run

from medtasks_utils.__main__ import main
from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks import shortcuts as shortcuts_module
from medtasks_utils.benchmarks.known_issues import ALIKE, CONTRADICTED, NO_IMAGE
from medtasks_utils.benchmarks.shortcuts import content_hash, measured, most_reached, verdicts
from medtasks_utils.errors import DataError
from medtasks_utils.report.page import build_page
from medtasks_utils.report.topics import topics_of
from medtasks_utils.results import read_runs

MEDHALLU = benchmarks()["medhallu"]
ROWS = [
    {
        "Question": f"Does drug {number} help?",
        "Knowledge": "['It was tried.']",
        "Ground Truth": f"Drug {number} helps.",
        "Difficulty Level": ("easy", "hard")[number % 2],
        "Hallucinated Answer": f"Drug {number} does not help, due to its mechanism.",
        "Category of Hallucination": "Incomplete Information",
    }
    for number in range(40)
]


@pytest.fixture
def rows(tmp_path):
    """A data directory with rows of MedHallu, out of which none was measured."""
    folder = tmp_path / "data" / "medhallu"
    folder.mkdir(parents=True)
    (folder / "pqa_labeled.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return tmp_path / "data"


@pytest.fixture
def style_known(rows, tmp_path, monkeypatch):
    """The same, with a reader that errs on the hallucinated answers of the first ten rows and on nothing else."""
    examples = list(load("medhallu", rows).eval_docs)
    fields = MEDHALLU.content_fields
    by_content = sorted((json.dumps([example[name] for name in fields]), example) for example in examples)
    bits = "".join(str(int(not (e["target"] == "1" and int(e["row"]) < 10))) for _, e in by_content)
    content = content_hash(examples, fields)
    readers = {"answer_text": {"acc": [0.875, 0.8, 0.9], "f1": [0.85, 0.8, 0.9]}, "style": {"acc": [0.9, 0.8, 0.95]}}
    part = {"task": "medhallu", "n": 80, "readers": readers}
    file = tmp_path / "shortcuts.json"
    file.write_text(json.dumps({"parts": {content: part}, "verdicts": {content: f"{int(bits, 2):x}"}}))
    monkeypatch.setattr(MEDHALLU, "shortcuts", file)
    return rows


def docs(name: str, data: Path | str = "sample", **options: Any) -> list[Row]:
    return list(load(name, data, **({"medhallu": options} if options else {})).eval_docs)


# ---- figures


@pytest.mark.parametrize("name", ["medmcqa", "medexqa", "medcalc_bench", "medhallu"])
def test_the_package_has_figures_and_no_rows(name):
    path = benchmarks()[name].shortcuts
    assert path is not None
    held = measured(path)
    assert held["parts"] and set(held) == {"parts", "verdicts"}
    for part in held["parts"].values():
        assert set(part) == {"task", "options", "n", "source", "measured", "package", "readers"}
        for figures in part["readers"].values():
            assert all(low < value < high for value, low, high in figures.values())
    for content, digits in held["verdicts"].items():
        assert held["parts"][content]["n"] <= 4 * len(digits) + 3


def test_the_hash_is_of_contents_in_any_order(rows):
    examples = docs("medhallu", rows)
    fields = MEDHALLU.content_fields
    whole = content_hash(examples, fields)
    assert content_hash(examples[::-1], fields) == whole
    assert content_hash([{**example, "knowledge": "other"} for example in examples], fields) == whole
    assert content_hash(examples[:-1], fields) != whole
    assert content_hash([{**examples[0], "target": "1"}, *examples[1:]], fields) != whole


# ---- style


def test_verdicts_go_to_their_examples_in_any_order(style_known):
    examples = docs("medhallu", style_known)
    assert MEDHALLU.shortcuts is not None
    right = verdicts(MEDHALLU.shortcuts, examples, MEDHALLU.content_fields)
    assert right == [not (e["target"] == "1" and int(e["row"]) < 10) for e in examples]
    assert verdicts(MEDHALLU.shortcuts, examples[::-1], MEDHALLU.content_fields) == right[::-1]
    assert [e["style"] == "style says the truth" for e in examples] == right


def test_the_style_of_other_rows_is_not_known(style_known, rows):
    file = rows / "medhallu" / "pqa_labeled.jsonl"
    file.write_text(file.read_text().replace("Drug 7 helps.", "Drug 7 helps a lot."))
    assert {example["style"] for example in docs("medhallu", rows)} == {""}


def test_the_style_says_nothing_of_the_prompt_and_the_rows(style_known, monkeypatch):
    with_style = load("medhallu", style_known)
    other = style_known.parent / "none.json"
    other.write_text('{"parts": {}, "verdicts": {}}')
    monkeypatch.setattr(MEDHALLU, "shortcuts", other)
    without = load("medhallu", style_known)
    found = []
    for task in (with_style, without):
        task.build_all_requests(limit=None, rank=0, world_size=1)
        found.append((task.config.metadata["signature"], [instance.args for instance in task.instances]))
    assert found[0] == found[1]


def test_the_largest_subset_on_which_style_is_at_chance(style_known):
    balanced = docs("medhallu_style_balanced", style_known)
    styles = Counter(example["style"] for example in balanced)
    assert styles == {"style says the truth": 12, "style misleads": 10}, "12 of 22 are 54.5 %, 14 of 24 58.3 %"
    assert Counter(example["target"] for example in balanced) == {"0": 11, "1": 11}
    assert {int(example["row"]) for example in balanced} > set(range(10))
    assert balanced == docs("medhallu_style_balanced", style_known)
    hard = docs("medhallu_style_balanced", style_known, difficulty="hard")
    assert {example["difficulty"] for example in hard} == {"hard"} and len(hard) == 10
    assert len(docs("medhallu_style_balanced", style_known, pairing="sampled")) == 11


def test_rows_whose_style_is_not_known_are_one_error(rows):
    for data in (rows, "sample"):
        with pytest.raises(DataError, match="style_balanced works only with the 1,000 rows of pqa_labeled"):
            load("medhallu_style_balanced", data)


def test_a_difficulty_without_rows_on_which_style_errs_is_an_error(rows, style_known):
    assert MEDHALLU.shortcuts is not None
    held = json.loads(MEDHALLU.shortcuts.read_text())
    held["verdicts"] = {content: "f" * len(digits) for content, digits in held["verdicts"].items()}
    MEDHALLU.shortcuts.write_text(json.dumps(held))
    shortcuts_module.measured.cache_clear()
    with pytest.raises(DataError, match="no row"):
        load("medhallu_style_balanced", style_known)


# ---- beside every score


def test_the_page_shows_it_beside_the_scores_of_those_rows_alone(style_known, tmp_path):
    save_run(tmp_path / "whole", tasks="medhallu", data=style_known)
    page = Page(build_page(read_runs(tmp_path / "whole")))
    column = page.column("medhallu")
    assert (column["reached"], column["reader"], column["chance"]) == (pytest.approx(85), "answer text", None)
    rows = page.blocks("medhallu")["All metrics"]["rows"]
    reached = {row["label"]: row["reached"] for row in rows}
    assert (reached["f1"], reached["acc"]) == (pytest.approx(85), pytest.approx(90))
    by_style = page.blocks("medhallu")["acc by style"]["rows"]
    assert [(row["label"], row["values"][0][3]) for row in by_style] == [
        ("style says the truth", 70),
        ("style misleads", 10),
    ]

    save_run(tmp_path / "part", tasks="medhallu", data=style_known, limit=30)
    for folders in (["part"], ["whole", "part"]):  # unknown of these rows; not the same rows
        part = Page(build_page(read_runs([tmp_path / name for name in folders])))
        assert part.column("medhallu")["reached"] is None


def test_a_run_ends_in_it_where_it_was_measured(style_known, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with LocalServer(lambda body: "\\boxed{1}") as server:
        flags = ["eval", "--tasks", "medhallu", "--data", str(style_known), *server.flags()]
        assert main([*flags, "--json"]) == 0
        whole = json.loads(capsys.readouterr().out)["scores"]
        assert main([*flags, "--json", "--limit", "30"]) == 0
        part = json.loads(capsys.readouterr().out)["scores"]
        assert main(flags) == 0
        text = capsys.readouterr().out
    assert {line["metric"]: line["without_question"] for line in whole} == {
        "f1": {"value": 0.85, "reader": "answer_text"},
        "acc": {"value": 0.9, "reader": "style"},
    }
    assert {line["without_question"] for line in part} == {None}
    assert text.splitlines()[0].endswith("no question") and text.splitlines()[2].endswith("90.0")


def test_a_groups_is_the_mean_over_its_tasks(tmp_path, monkeypatch):
    benchmark = benchmarks()["medexqa"]
    (run,) = read_runs(save_run(tmp_path, tasks="medexqa"))
    contents = [run.tasks[name].config["metadata"]["content"] for name in run.groups["medexqa"].tasks]
    assert len(set(contents)) == 5

    def reached(known):
        values = {content: place / 10 for place, content in enumerate(known)}
        parts = {content: {"readers": {"options": {"acc": [value, 0, 1]}}} for content, value in values.items()}
        file = tmp_path / f"{len(known)}.json"
        file.write_text(json.dumps({"parts": parts, "verdicts": {}}))
        monkeypatch.setattr(benchmark, "shortcuts", file)
        (unit,) = (unit for unit in topics_of([run]) if unit.name == "medexqa")
        return unit.without_question("acc")

    assert reached(contents) == (pytest.approx(0.2), "options")
    assert reached(contents[:4]) is None


# ---- labels that are doubted

MEDMCQA_ROWS = [
    ("Which is it?", ["a", "b", "c", "d"], 0, CONTRADICTED),
    ("which  is it", ["b", "a", "d", "c"], 0, CONTRADICTED),
    ("Which is it, then?", ["b", "a", "d", "c"], 0, ""),
    ("Which is it not?", ["a", "a.", "c", "d"], 2, ALIKE),
    ("What does the ECG given below show?", ["w", "x", "y", "z"], 3, NO_IMAGE),
    ("Which structure is marked in the diagram?", ["+", "-", "e", "E"], 3, NO_IMAGE),
    ("Given the data below, what is the mean?", ["1", "-1", "2", "-2"], 3, ""),
]


def test_known_issues_by_rule(tmp_path):
    folder = tmp_path / "medmcqa"
    folder.mkdir()
    columns = ("opa", "opb", "opc", "opd")
    written = [
        {"id": str(number), "question": question, "cop": key, **dict(zip(columns, options, strict=True))}
        for number, (question, options, key, _) in enumerate(MEDMCQA_ROWS)
    ]
    (folder / "validation.jsonl").write_text("".join(json.dumps(row) + "\n" for row in written))
    found = docs("medmcqa_openmed", tmp_path)
    assert [example["known_issues"] for example in found] == [issue for *_, issue in MEDMCQA_ROWS]
    (breakdown,) = (each for each in benchmarks()["medmcqa"].breakdowns if each.name == "label")
    assert Counter(map(breakdown.key, found)) == {"doubted": 5, "not doubted": 2}


def test_physicians_corrections_are_known_issues(tmp_path):
    rows = sample_rows("medcalc_bench/test.csv")
    write_rows(rows, tmp_path / "medcalc_bench" / "test.csv")
    truths = {"3": "5", "6": "N/A", "17": "4"}  # another score, no answer, the same score
    corrected = [corrected_row(row, truths[row["Row Number"]]) for row in rows if row["Row Number"] in truths]
    corrected.append({**corrected_row(rows[3], "1"), "Question": "Another question about the same note?"})
    write_rows(corrected, tmp_path / "medcalc_bench" / "corrected.csv")
    (breakdown,) = (each for each in benchmarks()["medcalc_bench"].breakdowns if each.name == "label")
    found = docs("medcalc_bench", tmp_path)
    assert {e["row_number"]: e["other_label"] for e in found if e["other_label"]} == {
        "3": {"ground_truth": "5", "differs": True},
        "6": {"ground_truth": "N/A", "differs": True},
        "17": {"ground_truth": "4", "differs": False},
    }
    issues = {e["row_number"]: e["known_issues"] for e in found if e["known_issues"]}
    assert issues == dict.fromkeys(("3", "6"), "physicians have another value")
    groups = {e["row_number"]: breakdown.key(e) for e in found if breakdown.key(e)}
    assert groups == {"3": "doubted", "6": "doubted", "17": "not doubted"}
    assert {example["known_issues"] for example in docs("medcalc_bench_corrected", tmp_path)} == {""}


TASKS_OF_ALL_ROWS = {"medhallu": "medhallu", "medmcqa": "medmcqa_openmed", "medexqa": "medexqa_all"}


@pytest.mark.parametrize(("name", "task"), [*TASKS_OF_ALL_ROWS.items(), ("medcalc_bench", "medcalc_bench")])
def test_the_readme_has_the_packages_figure(name, task):
    path = benchmarks()[name].shortcuts
    assert path is not None
    parts = measured(path)["parts"].items()
    (content,) = (content for content, part in parts if (part["task"], part["options"]) == (task, ""))
    reached = most_reached(path, content, "acc")
    assert reached is not None
    assert f"{100 * reached.value:.1f} %" in (ROOT / "tasks" / name / "README.md").read_text()
