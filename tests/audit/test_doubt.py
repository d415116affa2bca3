"""``medtasks doubt``: items that runs answer alike and against the label, ranked, as a CSV."""

import csv
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from commanding import exit_code
from given import Row
from running import right_answer
from saved_runs import save_run

from medtasks_utils.__main__ import main
from medtasks_utils.benchmarks import benchmarks

WRONG = {"A": "B", "B": "C", "C": "D", "D": "A"}
"""A wrong letter for each right one, the same for all models."""


def model(places: dict[str, str], alike: Sequence[str] = ()) -> Any:
    """A model that answers some questions with a letter, those named as all models do wrongly, and the rest rightly."""

    def answer(doc: Row) -> str:
        if doc["question"] in places:
            return places[doc["question"]]
        return f"\\boxed{{{WRONG[doc['answer_letter']]}}}" if doc["question"] in alike else right_answer(doc)

    return answer


def questions(folder: Path) -> list[Row]:
    (log,) = folder.rglob("samples_*.jsonl")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    return [line["doc"] for line in lines if line["filter"] == "strict-match"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Four runs of MedMCQA.

    All four miss the first question alike, three the second, two the third; the fourth is missed in four ways; the
    fifth has no answer by three. The last run, ``weak``, is wrong alone on three more.
    """
    folder = tmp_path_factory.mktemp("runs")
    save_run(folder / "probe", tasks="medmcqa_openmed")
    docs = questions(folder / "probe")
    first, second, third, fourth, fifth = (doc["question"] for doc in docs[:5])
    letters = [letter for letter in "ABCD" if letter != docs[3]["answer_letter"]]
    for number, name in enumerate(("one", "two", "three", "weak")):
        places = {fourth: f"\\boxed{{{letters[number % 3]}}}"}
        if number < 3:
            places[fifth] = "=HYPERLINK(1) I cannot say."
        if name == "weak":
            for doc in docs[5:8]:
                places[doc["question"]] = f"\\boxed{{{WRONG[doc['answer_letter']]}}}"
        alike = [first, *([second] if number < 3 else []), *([third] if number < 2 else [])]
        save_run(folder / name, model(places, alike), tasks="medmcqa_openmed", model=f"org/{name}")
    return folder


def listed(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def run(folder: Path, tmp_path: Path, *names: str, flags: Sequence[str] = ()) -> list[Row]:
    paths = [str(folder / name) for name in names]
    assert main(["doubt", *paths, "-o", str(tmp_path / "doubts.csv"), *flags]) == 0
    return listed(tmp_path / "doubts.csv")


def test_items_are_ranked_by_the_support_of_the_runs(folder, tmp_path):
    docs = questions(folder / "probe")
    rows = run(folder, tmp_path, "one", "two", "three", "weak")
    assert [row["doc_id"] for row in rows] == ["0", "1"], "the others are not alike"
    first, second = rows
    assert first["runs_for"] == "one, two, three, weak" and first["runs_for_label"] == ""
    assert second["runs_for"] == "one, two, three" and second["runs_for_label"] == "weak"
    assert float(first["support"]) > float(second["support"]) > 0
    assert (first["label"], first["answer"]) == (docs[0]["answer_letter"], WRONG[docs[0]["answer_letter"]])
    assert docs[0]["question"] in first["prompt"] and first["response"] == f"\\boxed{{{first['answer']}}}"
    assert {(row["verdict"], row["comment"], row["task"]) for row in rows} == {("", "", "medmcqa_openmed")}


def test_three_of_three_and_two_of_three(folder, tmp_path):
    rows = run(folder, tmp_path, "one", "two", "three")
    assert [row["doc_id"] for row in rows] == ["0", "1", "2"]
    assert rows[2]["runs_for"] == "one, two" and rows[2]["runs_for_label"] == "three"


def test_json_has_what_the_file_has(folder, tmp_path, capsys):
    rows = run(folder, tmp_path, "one", "two", "three", "weak", flags=["--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["items"] == len(questions(folder / "probe"))
    assert [str(doubt["doc_id"]) for doubt in told["doubts"]] == [row["doc_id"] for row in rows]


def test_the_text_says_how_many(folder, tmp_path, capsys):
    run(folder, tmp_path, "one", "two", "three", "weak")
    number = len(questions(folder / "probe"))
    path = tmp_path / "doubts.csv"
    assert (
        capsys.readouterr().out == f"2 of {number} examples have one answer from most runs, but another label: {path}\n"
    )


def test_runs_of_one_model_are_a_warning(folder, tmp_path, capsys):
    shutil.copytree(folder / "one", tmp_path / "again")
    run(folder, tmp_path, "one", "two", str(tmp_path / "again"))
    assert capsys.readouterr().err.startswith("warning: 2 runs are of org/one and share errors")
    run(folder, tmp_path, "one", "two", "three")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("names", "flags", "code", "says"),
    [
        (["one", "two"], [], 2, "doubt needs at least 3 runs"),
        (["one", "two", "three"], ["--filter", "strict"], 2, "--filter"),
        (["one", "two", "nothing"], [], 1, "no file or folder"),
    ],
)
def test_mistakes(
    folder,
    tmp_path,
    capsys,
    names,
    flags,
    code,
    says,
):
    output = tmp_path / "doubts.csv"
    assert exit_code(["doubt", *(str(folder / name) for name in names), "-o", str(output), *flags]) == code
    assert says in capsys.readouterr().err and not output.exists()


def test_cells_are_no_formulas(tmp_path):
    """Responses may begin with a sign of equality, and a negative number is no formula."""

    def answer(doc):
        is_wrong = doc["row_number"] in ("1", "2", "3")
        return "=1+1\n<answer>-5.5</answer>" if is_wrong else right_answer(doc)

    for name in "abc":
        save_run(tmp_path / name, answer, tasks="medcalc_bench", model=f"org/{name}")
    rows = run(tmp_path, tmp_path, *"abc")
    assert {row["response"] for row in rows} == {"'=1+1\n<answer>-5.5</answer>"}
    assert "-5.5" in {row["answer"] for row in rows}


@pytest.mark.parametrize(
    ("answers", "is_close"),
    [(("4.2", "4.3"), True), (("4.2", "4.8"), False), (("100", "104"), True), (("-3", "3"), False)],
)
def test_decimals_are_alike_within_the_tolerance_of_labels(answers, is_close):
    benchmark = benchmarks()["medcalc_bench"]
    value, other = map(float, answers)
    assert benchmark.is_same(value, other, {"judgement": "decimal"}) is is_close
    assert not benchmark.is_same(value, other, {"judgement": "integer"})
    assert not benchmark.is_same(value, other)
