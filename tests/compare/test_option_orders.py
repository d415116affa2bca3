"""Runs that differ only in the order of choices: which questions are equal, and what the order changes."""

from functools import partial

import pytest
from running import documents_of
from saved_runs import save_run

from medtasks_utils.compare import compare_runs, comparison_data, comparison_lines, one_run
from medtasks_utils.report.orders import orders_of

TASKS = {"medmcqa_openmed": "medmcqa", "medexqa_all": "medexqa", "medmarks_medmcqa": "medmarks_medmcqa"}


def chooses(letter, doc):
    """The choice at a letter or, without one, the choice whose text comes first in the alphabet."""
    letter = letter or "ABCD"[doc["options"].index(min(doc["options"]))]
    return f"\\boxed{{{letter}}} <answer>{letter}</answer>"


def compared(folder, task, letter):
    for name, seed in (("a", None), ("b", 7)):
        save_run(folder / name, partial(chooses, letter), task, metadata={TASKS[task]: {"order_seed": seed}})
    return compare_runs(one_run(folder / "a"), one_run(folder / "b"))


@pytest.mark.parametrize("task", TASKS)
def test_a_model_that_reads_the_choices_answers_the_same_in_every_order(task, tmp_path):
    comparison = compared(tmp_path, task, "")
    docs = zip(documents_of(task), documents_of(task, **{TASKS[task]: {"order_seed": 7}}), strict=True)
    moved = sum(one["options"] != other["options"] for one, other in docs)
    effect = comparison_data(comparison)["orders"][task]
    assert (effect["moved"], effect["changed"]["value"]) == (moved, 0.0)
    assert all(difference.contrast.difference == 0 for difference in comparison.differences)
    lines = "\n".join(comparison_lines(comparison))
    assert f"choices of {moved} of {effect['n']} questions in a different order" in lines and "choice 4" in lines


def test_a_model_that_always_says_a_is_right_where_the_first_choice_is(tmp_path):
    effect = comparison_data(compared(tmp_path, "medexqa_all", "A"))["orders"]["medexqa_all"]
    docs = zip(documents_of("medexqa_all"), documents_of("medexqa_all", medexqa={"order_seed": 7}), strict=True)
    changed = [one["options"][0] != other["options"][0] for one, other in docs if one["options"] != other["options"]]
    assert effect["changed"]["value"] == pytest.approx(sum(changed) / len(changed))
    assert [row[run]["value"] for row in effect["by_position"] for run in "ab"] == [1.0, 1.0, *[0.0] * 6]
    assert effect["changed"]["low"] is not None


def test_the_orders_of_one_run_are_compared_with_each_other(tmp_path):
    save_run(tmp_path, partial(chooses, "B"), "medmarks_medmcqa_all")
    run = one_run(tmp_path)
    assert [(effect["a"][1], effect["b"][1]) for effect in orders_of([run])] == [
        ("medmarks_medmcqa", "medmarks_medmcqa_1618"),
        ("medmarks_medmcqa", "medmarks_medmcqa_9331"),
        ("medmarks_medmcqa_1618", "medmarks_medmcqa_9331"),
    ]
    comparison = compare_runs(run, run, tasks=[("medmarks_medmcqa", "medmarks_medmcqa_1618")])
    assert not any("the run" in warning and "all differences" in warning for warning in comparison.warnings)
