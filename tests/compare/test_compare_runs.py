"""Runs of the real harness compared: what is paired, what is refused, what is found, and what is printed."""

import json
import re
import shutil
from itertools import cycle

import pytest
from given import GENERATION_TASKS, each_row, error_line, table
from places import as_its_row_says, at
from saved_runs import edit_files, edit_lines, right_in, sample_file, save_run, save_two

from medtasks_utils import __main__ as cli
from medtasks_utils.compare import compare_runs, comparison_data, comparison_lines, one_run
from medtasks_utils.compare.difference_plan import lines_of, plan
from medtasks_utils.errors import MedtasksError
from medtasks_utils.filters import STRICT
from medtasks_utils.report import pair
from medtasks_utils.writing import WIDTH


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Two models on everything: in ``a`` the weaker one, in ``b`` the stronger."""
    return save_two(tmp_path_factory.mktemp("saved"), (0.5, 0.8), tasks=["medtasks", "medexqa"])


@pytest.fixture(scope="module")
def found(saved):
    """Their comparison."""
    return compared(saved)


def compared(folder, other="b", **settings):
    return compare_runs(one_run(folder / "a"), one_run(folder / other), **settings)


def facts(folder, settings):
    """A comparison, and what is printed of it."""
    found = compared(folder, **settings)
    return {"found": found, "printed": "\n".join(comparison_lines(found))}


def printed(found, points):
    """The lines of a comparison and of a plan for these points."""
    lines = "\n".join([*comparison_lines(found), *lines_of(points, [*plan(found, points)])]).split("\n")
    assert max(map(len, lines)) <= WIDTH
    return lines


# ---- what is found


test_a_function_of_comparisons_returns_what_its_row_says = as_its_row_says("functions_of_compare")


def test_repeated_generations_are_compared(tmp_path):
    for name, repeats in (("a", 3), ("b", 3), ("more", 2)):
        models = cycle(right_in(0.6, name + salt) for salt in "123")

        def answer(doc, models=models):
            return next(models)(doc)

        save_run(tmp_path / name, answer, tasks="medhallu", metadata={"medhallu": {"repeats": repeats}})
    assert printed(compared(tmp_path), 20) == table("comparison_of_repeats")
    fewer = compared(tmp_path, "more")
    assert {line.metric.name for line in fewer.differences} == {"f1", "acc"}, "of 3 and of 2 they are other things"


# ---- what is paired, what is refused, and what is warned of


@each_row("pairs_of_runs")
def test_two_runs_are_compared_or_refused_as_their_row_says(name, a, b, settings, place, expected, tmp_path):
    """Of each run, its settings; by default, it is of MedHallu."""
    for folder, of_run in (("a", a), ("b", b)):
        save_run(tmp_path / folder, **{"tasks": "medhallu", **of_run})
    assert at([[tmp_path, settings], *place], expected, facts) == expected


@each_row("edited_runs")
def test_runs_whose_files_were_edited_are_compared_or_refused(name, edits, settings, place, expected, saved, tmp_path):
    shutil.copytree(saved, tmp_path, dirs_exist_ok=True)
    edit_files(tmp_path, edits)
    assert at([[tmp_path, settings], *place], expected, facts) == expected


def test_examples_in_another_order_are_paired_by_what_they_are(saved, found, tmp_path):
    (results,) = shutil.copytree(saved / "b", tmp_path / "b").glob("*/results_*")
    for task in GENERATION_TASKS:
        edit_lines(sample_file(results, task), lambda lines: lines[::-1])
    after = compare_runs(found.a, one_run(results)).differences
    assert [line.contrast for line in after] == [line.contrast for line in found.differences]


def test_a_plan_for_explanations_is_in_points_of_the_highest_score_of_both(tmp_path):
    for name, metrics in (("a", ["rougeL"]), ("b", ["rougeL", "bleu"])):
        metadata = {"medexqa": {"use_explanations": True, "explanation_metrics": metrics}}
        save_run(tmp_path / name, right_in(0.7, name), tasks="medexqa_all", metadata=metadata)
    (need,) = plan(explained := compared(tmp_path, force=True, metrics=["rougeL"]), 5)
    (again,) = plan(explained, need["detectable"])
    assert again["examples"] == pytest.approx(need["n"], abs=1)
    on_the_page, _ = pair.compared(explained.a, explained.b, STRICT)
    assert {line.metric.name for line in on_the_page.differences} == {"acc", "macro_acc"}, "other judges"


def test_of_a_folder_the_run_of_the_named_tasks_is_compared(tmp_path):
    for tasks in (["medhallu", "medmcqa_openmed"], ["medhallu"], ["medexqa"]):
        save_run(tmp_path / tasks[-1], tasks=tasks, limit=1)
    assert [*one_run(tmp_path, ["medexqa"]).groups] == ["medexqa"]
    assert one_run(tmp_path, ["medmcqa_openmed"]).tasks.keys() == {"medmcqa_openmed", "medhallu"}
    assert "has 2 runs" in error_line(MedtasksError, one_run, tmp_path, ["medhallu"])


# ---- what is printed


def test_compare_prints_exactly_these_lines(found):
    """Every task, group and breakdown with its values, tests and counts; then a plan."""
    assert printed(found, 5) == table("comparison")


@each_row("facts_of_a_comparison")
def test_the_json_of_a_comparison_has_everything_under_stable_keys(name, place, expected, found):
    content = json.loads(json.dumps(comparison_data(found), allow_nan=False))
    assert at(place, expected, content) == expected


@each_row("commands")
def test_compare_prints_what_was_asked_for_and_ends_with_its_code(name, words, code, said, saved, monkeypatch, capsys):
    monkeypatch.chdir(saved)
    assert cli.main(["compare", *words.split()]) == code
    assert re.search(said, "".join(capsys.readouterr()), re.DOTALL)
