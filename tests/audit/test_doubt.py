"""``medtasks doubt``: items that runs answer alike and against the label, ranked, as a CSV."""

import json
import shutil
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

import pytest
from commanding import exit_code, succeed
from given import csv_rows, each_row, explained_rows, table, write_rows
from places import at
from running import documents_of, right_answer
from saved_runs import edit_lines, sample_file, save_run

from medtasks_utils.audit.doubted_labels import doubts
from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.medexqa.options import SPECIALTIES
from medtasks_utils.results import Sample

TASK = "medmcqa_openmed"
WRONG = {"A": "B", "B": "C", "C": "D", "D": "A"}
"""A wrong letter for each right one, the same for all models."""
LONG = "So. " * 150


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Four runs of MedMCQA.

    All four miss the second question alike, three the first, two the third; the fourth is missed in four ways; the
    fifth has no answer by three. The last run, ``weak``, is wrong alone on three more.
    """
    folder = tmp_path_factory.mktemp("runs")
    docs = documents_of(TASK)
    letters = [letter for letter in "ABCD" if letter != docs[3]["answer_letter"]]
    missed = dict(table("missed_by_runs"))
    for number, name in enumerate(missed):
        said = {place: f"{LONG}{name}: \\boxed{{{WRONG[docs[place]['answer_letter']]}}}" for place in missed[name]}
        said[3] = f"\\boxed{{{letters[number % 3]}}}"
        if name != "weak":
            said[4] = "=HYPERLINK(1) I cannot say."
        places = {docs[place]["question"]: text for place, text in said.items()}

        def answer(doc, places=places):
            return places.get(doc["question"]) or right_answer(doc)

        log = sample_file(save_run(folder / name, answer, tasks=TASK, model=f"org/{name}"), TASK)
        log.write_text(log.read_text().replace('"known_issues": ""', '"known_issues": "alike"'))
    return folder


def run(folder, tmp_path, *names, flags=()):
    path = tmp_path / "doubts.csv"
    succeed("doubt", *(folder / name for name in names), "-o", path, *flags)
    return csv_rows(path)


def test_items_are_ranked_by_the_support_of_the_runs(folder, tmp_path, capsys):
    """A row's response is the end of that of the run that is best.

    Pairs of wrong letters: 6 of the first question, 12, 2 and 12 of the next; on the fourth two runs agree. So chance
    is (6 + 12 + 2 + 2 + 1) / (6 + 12 + 2 + 12 + 2). A run that errs on w of n supports by log((n - w + 1) / (w + 1) /
    chance): the first by one + two + three + weak, the second by one + two + three - weak.
    """
    found = run(folder, tmp_path, "one", "two", "three", "weak")
    number, path = len(documents_of(TASK)), tmp_path / "doubts.csv"
    said = f"2 of {number} examples where most runs agree on an answer other than the label: {path}\n"
    assert (found, capsys.readouterr().out) == (table("doubts"), said)


def run_of(name, targets, answers):
    """A run with a letter for each generation of each example; ``-`` is no answer.

    The first example was shown with its choices in another order, but for its first generation.
    """
    samples = []
    for place, (target, letters) in enumerate(zip(targets, answers, strict=True)):
        read = ["[invalid]" if letter == "-" else letter for letter in letters]
        texts = [f"{name} {letter} {generation}" for generation, letter in enumerate(letters)]
        shown_as = ["ABCD", *["DABC"] * len(letters)] if len(letters) > 1 else "ABCD"
        about: Any = {"answers": {"f": read}, "details": {"f": {"shown_as": shown_as}}}
        scores: Any = {"f": {"acc": [float(letter == target) for letter in letters]}}
        samples.append(Sample(place, "", {}, [], texts, target, scores=scores, **about))
    examples = {(f"{place}", 0): place for place, letters in enumerate(answers) if letters}
    benchmark = benchmarks()["medmcqa"]()
    task = SimpleNamespace(benchmark=benchmark, samples=samples, examples=examples, default_filter="f")
    return SimpleNamespace(name=name, tasks={"t": task})


@each_row("doubted_labels")
def test_a_label_is_doubted_if_most_runs_agree_on_another_and_outweigh_those_of_the_label(
    name, targets, runs, filter_name, expected
):
    """By the formula at the head of the module; a row has the answers of each run to each example."""

    def doubted():
        fields = attrgetter("doc_id", "label", "answer", "support", "runs_for", "runs_for_label", "response")
        found, *_ = doubts([run_of(run, targets, answers) for run, answers in runs.items()], filter_name)
        return list(map(fields, found))

    assert at([[]], expected, doubted) == expected


def test_doubts_as_json_are_those_of_the_table(folder, tmp_path, capsys):
    rows = run(folder, tmp_path, "one", "two", "three", flags=["--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["items"] == len(documents_of(TASK))
    assert [{name: str(value) for name, value in doubt.items()} for doubt in told["doubts"]] == rows


def test_runs_of_one_model_are_a_warning(folder, tmp_path, capsys):
    (log,) = shutil.copytree(folder / "one", tmp_path / "again").rglob("samples_*")
    edit_lines(log, lambda lines: lines[:1])
    assert run(folder, tmp_path, "one", "two", tmp_path / "again") == [], "two answers are too few"
    assert "warning: 2 runs are of the same model, org/one: " in capsys.readouterr().err
    run(folder, tmp_path, "one", "two", "three")
    assert capsys.readouterr().err == ""


def test_imported_responses_count_as_flexible_extract_reads_them(tmp_path):
    """Imported runs have no signatures; of these responses, strict-match reads none."""
    first, *_ = documents_of(TASK)

    def answer(doc):
        letter = doc["answer_letter"]
        return f"The answer is {WRONG[letter] if doc['question'] == first['question'] else letter}."

    for name in "abc":
        results = save_run(tmp_path / name, answer, TASK, name)
        results.write_text(results.read_text().replace('"signature"', '"unsigned"'))
    assert [row["answer"] for row in run(tmp_path, tmp_path, *"abc")] == [WRONG[first["answer_letter"]]]


@each_row("shifted_labels")
def test_doubt_names_parts_whose_labels_fit_the_answers_of_other_rows(task, offset, parts, tmp_path, capsys):
    for specialty in SPECIALTIES:
        rows = explained_rows(specialty.stem, offset * (specialty.code == "CLS"))
        write_rows(rows, tmp_path / "medexqa" / f"{specialty.stem}_test.tsv", header=False)
    metadata = {"medtasks_data": str(tmp_path), "medexqa": {"use_explanations": False}}
    for name in "abc":
        save_run(tmp_path / name, lambda doc: f"The answer is {doc['explanation_1'][0].upper()}.", task, name, metadata)
    run(tmp_path, tmp_path, *"abc", flags=["--json"])
    shifted = json.loads(capsys.readouterr().out)["shifted"]
    assert {part: shift["offset"] for part, shift in shifted.items()} == parts


@each_row("doubt_mistakes")
def test_a_mistake_in_the_command_doubt_is_one_error_and_no_file(name, names, code, says, folder, tmp_path, capsys):
    assert exit_code(["doubt", *(folder / name for name in names), "-o", tmp_path / "doubts.csv"]) == code
    assert says in capsys.readouterr().err and not (tmp_path / "doubts.csv").exists()
