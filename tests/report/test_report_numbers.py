"""Outcomes, who is first, and the baseline, from runs that are written here."""

from pathlib import Path

import pytest
from given import TASK, each_row
from hypothesis import given, settings
from hypothesis import strategies as st

from medtasks_utils.compare import compare_runs
from medtasks_utils.compare import comparison_data as compared_data
from medtasks_utils.errors import MedtasksError
from medtasks_utils.filters import FLEXIBLE, STRICT
from medtasks_utils.report import board
from medtasks_utils.report.board import board_of
from medtasks_utils.report.page import leaderboard_figure
from medtasks_utils.report.pair import pair_of
from medtasks_utils.report.summary import problems
from medtasks_utils.report.topics import topics_of
from medtasks_utils.report.view import View
from medtasks_utils.results import Run, Sample, as_run
from medtasks_utils.results.samples import SampleLog

BENCHMARKS = ["medhallu", "medmcqa", "medcalc_bench"]


def made(name, samples=(), benchmark="medhallu", values=None, folder=Path(), n=0):
    """A run of one task: its samples, and what the harness reported."""
    task = TASK[benchmark]
    config = {"metadata": {"benchmark": benchmark}}
    counts = {task: {"original": n, "effective": n}}
    content = {"model_name": name, "results": {task: values or {}}, "configs": {task: config}, "n-samples": counts}
    run = as_run(content, folder / name / "results.json", date=name)
    run.name = name
    run.tasks[task].__dict__["_log"] = SampleLog(list(samples), [])
    return run


def scored(place, strict, flexible=None, answers=("",), **doc):
    """A sample with scores by metric, a list each, under one or both filters."""
    scores = {name: own for name, own in ((STRICT, strict), (FLEXIBLE, flexible)) if own}
    doc |= {"question": place, "options": {}}
    sample = Sample(
        place, "", doc, [], [""], "1", answers={name: [*answers] for name in scores}, metrics={}, scores=scores
    )
    sample.metrics = {name: dict.fromkeys(own, 0.0) for name, own in scores.items()}  # scores go before them
    return sample


@each_row("outcomes")
def test_each_example_has_one_outcome_under_each_rule(strict, flexible, answered, unsure, cut, by_strict, by_flexible):
    of_flexible = {"acc": flexible, "answered": answered, "unsure_rate": unsure}
    topics = topics_of([made("a", [scored(0, strict and {"acc": strict, "cut": cut}, of_flexible)])])
    for rule, ended in ((STRICT, by_strict), (FLEXIBLE, by_flexible)):
        (column,) = board_of(topics, ["a"], rule).columns
        assert {kind: n for kind, n in column.outcomes["a"].items() if n} == ended


def test_a_label_is_contradicted_if_most_good_runs_give_the_same_other_answer():
    """Three runs are good; two of them agree on the last question but one, and all three on the last."""
    letters = {"a": "11100", "b": "11100", "c": "11120", "d": "00000"}
    runs = [
        made(name, [scored(i, {"acc": [float(letter == "1")]}, answers=[letter]) for i, letter in enumerate(of_run)])
        for name, of_run in letters.items()
    ]
    (column,) = board_of(topics_of(runs), [*letters], STRICT).columns
    assert column.contradicted == 2


@each_row("without_samples")
def test_an_interval_without_samples_is_that_of_its_standard_error_or_the_reason_is_said(
    benchmark, n, stderr, low, reason
):
    values = {f"acc,{STRICT}": 0.75, f"acc_stderr,{STRICT}": stderr}
    (topic,) = topics_of([made("a", benchmark=benchmark, values=values, n=n)])
    found = topic.in_runs(STRICT, "acc").estimates["a"]
    assert (found.value, found.n, found.low) == (0.75, n, low and pytest.approx(low, abs=2e-3))
    assert found.unreliable.partition(";")[0] == reason


def test_a_figure_has_the_benchmarks_whose_scores_are_shares():
    """A run without any is left out, and said to be."""
    run, unscored = made("a", values={f"acc,{STRICT}": 0.5}), made("b", values={"bypass,none": 999})
    run.tasks |= made("a", values={f"perplexity,{STRICT}": 9}, benchmark="medmcqa").tasks
    assert leaderboard_figure([run, unscored], ".md").startswith("| Model | MedHallu acc, % |\n|---|--:|\n| a | 50.0")
    with pytest.raises(MedtasksError, match="cannot draw the figure: no run has a score"):
        leaderboard_figure([unscored])
    assert problems([unscored]) == ["b: left out, since it has no scores (for example after --predict_only)"]


def right_in(metric, n, models):
    """Runs of models that are right in the first examples of a benchmark, so many; null: it has no samples.

    Some lack the first examples.
    """
    runs: dict[str, Run] = {}
    for name, right, benchmark, *lacks in models:
        samples = [scored(i, {metric: [float(i < right)]}) for i in range(sum(lacks), n if right is not None else 0)]
        run = made(name, samples, benchmark, None if samples else {f"{metric},{STRICT}": 0.5})
        runs.setdefault(name, run).tasks.update(run.tasks)
    return runs


@each_row("who_leads")
def test_who_is_best_and_which_runs_are_not_told_apart(case, metric, n, models, said):
    runs = right_in(metric, n, models)
    assert View(STRICT, board_of(topics_of([*runs.values()]), [*runs], STRICT), runs).lead == said, case


@each_row("boards")
def test_runs_are_ranked_on_what_all_of_them_have(case, n, models, ranked, unranked, questions, mean):
    """Those that are not have a reason; the mean has the value and the interval of each run."""
    runs = right_in("acc", n, models)
    board = board_of(topics_of([*runs.values()]), [*runs], STRICT)
    assert (board.ranked, [*map(list, board.unranked.items())]) == (ranked, unranked), case
    assert [column.questions for column in board.columns] == questions
    assert board.mean is None or board.mean.label == f"Mean of {len(questions)}"
    assert {run: [*score[:3]] for run, score in (board.mean.scores if board.mean else {}).items()} == {
        run: pytest.approx(numbers, abs=0.05) for run, numbers in mean.items()
    }


@settings(max_examples=8, deadline=None)
@given(st.tuples(*[st.tuples(*[st.integers(5, 40)] * len(BENCHMARKS))] * 2), st.sampled_from((1, 4)))
def test_a_pair_has_the_same_p_values_in_the_page_in_compare_and_in_json(models, repeats):
    """The corrected ones are Holm's over the benchmarks, by one metric each; models are right in so many examples."""
    a, b = (joined(str(place), model, repeats) for place, model in enumerate(models))
    pair = pair_of(a, b, board_of(topics_of([a, b]), ["0", "1"], STRICT), STRICT)
    lines = compared_data(compare_runs(a, b))["comparisons"]
    of_acc = {line["task"]: line for line in lines if line["metric"] == "acc"}
    assert [line["p_adjusted"] for line in lines if line not in of_acc.values()] == [None], "F1 has its own p alone"
    corrected = {task: line["p_adjusted"] for task, line in of_acc.items()}
    assert {row.column.topic.name: row.line.p for row in pair.rows if row.line} == corrected
    (alone,) = compare_runs(a, b, tasks=[(TASK["medhallu"],) * 2], metrics=["acc"]).differences
    assert alone.p_adjusted == corrected[TASK["medhallu"]]
    least = min(line["p"] for line in of_acc.values())
    assert min(corrected.values()) == pytest.approx(min(1.0, len(BENCHMARKS) * least))


def joined(name, right, repeats=1):
    """A run of several benchmarks: so many of 40 examples are right, one more in a generation; F1 is of pairs."""
    run = made(name)
    for benchmark, count in zip(BENCHMARKS, right, strict=True):
        places = [(7 * i + 9 * int(name)) % 40 for i in range(40)]  # so that other examples are right in each run
        extra = {"f1": [(2.0, 3.0)]} if benchmark == "medhallu" else {}
        scores = [[float(place < count + k) for k in range(repeats)] for place in places]
        run.tasks |= made(name, [scored(i, {"acc": acc, **extra}) for i, acc in enumerate(scores)], benchmark).tasks
    return run


# ---- parts of the page, from numbers alone


@each_row("reasons_not_ranked")
def test_a_run_over_other_questions_says_how_many(name, examples, ranked, says):
    assert board.other_questions(set(examples), set(ranked)) == says


def test_parts_of_fewer_than_thirty_questions_stand_apart_and_where_b_gains_most_is_first():
    parts = ["few"] * 29 + ["lost"] * 30 + ["won"] * 31
    right = {"a": "lost", "b": "won"}
    runs = [
        made(
            name,
            [scored(i, {"acc": [float(part == own)]}, subject_name=part) for i, part in enumerate(parts)],
            "medmcqa",
        )
        for name, own in right.items()
    ]
    (shown,) = pair_of(runs[0], runs[1], board_of(topics_of(runs), [*right], STRICT), STRICT).parts
    assert [[line.label for line in lines] for lines in (shown.lines, shown.few)] == [["won", "lost"], ["few"]]
