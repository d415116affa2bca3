"""Outcomes, who is first, and the baseline, from runs that are written here."""

from pathlib import Path
from typing import Any

import pytest
from given import TASK, each_row

from medtasks_utils.errors import MedtasksError
from medtasks_utils.filters import FLEXIBLE, STRICT
from medtasks_utils.report.leaderboard import leaderboard
from medtasks_utils.report.outcomes import OUTCOMES, outcomes
from medtasks_utils.report.page import leaderboard_figure
from medtasks_utils.report.summary import problems
from medtasks_utils.report.topics import topics_of
from medtasks_utils.results import Run, Sample, as_run, with_baseline_first
from medtasks_utils.results.samples import SampleLog


def made(name, samples=(), benchmark="medhallu", values=None, folder=Path(), signature=None, n=0) -> Run:
    """A run of one task: its samples, and what the harness reported."""
    task = TASK[benchmark]
    config = {"metadata": {"benchmark": benchmark, "signature": signature}}
    counts = {task: {"original": n, "effective": n}}
    content = {"model_name": name, "results": {task: values or {}}, "configs": {task: config}, "n-samples": counts}
    run = as_run(content, folder / name / "results.json")
    run.name = name
    run.tasks[task].__dict__["_log"] = SampleLog(list(samples), [])
    return run


def scored(place, strict, flexible=None) -> Sample:
    """A sample with scores by metric, a list each, under one or both filters."""
    scores = {STRICT: strict, **({FLEXIBLE: flexible} if flexible else {})}
    means: Any = {name: dict.fromkeys(own, 0.0) for name, own in scores.items()}  # scores go before them
    answers = {name: [""] for name in scores}
    return Sample(place, "", {"question": place}, [], [""], "1", answers=answers, metrics=means, scores=scores)


@each_row("outcomes")
def test_each_example_has_one_outcome(strict, flexible, answered, unsure, cut, found):
    of_flexible = {"acc": flexible, "answered": answered, "unsure_rate": unsure}
    (topic,) = topics_of([made("a", [scored(0, {"acc": strict, "cut": cut}, of_flexible)])])
    assert outcomes(topic.results["a"]) == {**dict.fromkeys(OUTCOMES, 0.0), **found}


@each_row("without_samples")
def test_an_interval_without_samples_needs_independent_examples(benchmark, n, low):
    values = {f"acc,{STRICT}": 0.75, f"acc_stderr,{STRICT}": (0.75 * 0.25 / 39) ** 0.5}
    (topic,) = topics_of([made("a", benchmark=benchmark, values=values, n=40)])
    found = topic.values[STRICT, "acc"].estimates["a"]
    assert (found.value, found.n, found.low) == (0.75, n, low and pytest.approx(low, abs=2e-3))


@each_row("best_of_a_column")
def test_a_column_says_whether_less_is_better(metric, values, said):
    """So a better run that is not comparable is named."""
    prompts = ({STRICT: f"medhallu|prompt:{prompt}"} for prompt in "ppq")
    named = zip("abc", values, prompts, strict=True)
    runs = [made(name, values={f"{metric},{STRICT}": value}, signature=signature) for name, value, signature in named]
    board = leaderboard(topics_of(runs), runs, [STRICT])
    (column,) = board["columns"][STRICT]
    assert (column.metric, column.ascending) == (metric, metric == "unsure_rate")
    assert column.chance == (50 if metric == "acc" else None)
    assert column.reasons == {2: "the prompts differ"} and column.ranks == [None] * 3
    assert f"c is not comparable in MedHallu{said}: the prompts differ." in board["sentences"][STRICT]
    best_first = sorted(zip(values, "abc", strict=True), key=lambda pair: pair[0], reverse=not column.ascending)
    rows = leaderboard_figure(runs, ".md").splitlines()[2:5]
    assert [row[2] for row in rows] == [name for _, name in best_first]


def test_a_run_without_scores_is_left_out_and_said():
    with pytest.raises(MedtasksError, match="cannot draw the figure: no run has a score"):
        leaderboard_figure([run := made("a", values={"bypass,none": 999})])
    assert problems([run]) == ["a: left out, since it has no scores (for example after --predict_only)"]


@each_row("who_leads")
def test_who_leads_who_shares_the_first_place_and_where_there_are_too_few_examples(case, metric, n, models, said):
    """A run leads if no other may have its rank; a model is right in so many examples of a benchmark."""
    runs = [
        made(name, [scored(i, {metric: [float(i < right)]}) for i in range(n)], benchmark)
        for name, right, benchmark in models
    ]
    assert leaderboard(topics_of(runs), runs, [STRICT])["sentences"][STRICT] == said, case


def test_the_baseline_is_named_by_name_model_or_folder(tmp_path):
    runs = [made(name, folder=tmp_path / folder) for name, folder in (("a", "x"), ("b", "y"), ("c", "y"))]
    runs[2].model = "org/c"
    for name, named in (("b", "bac"), ("org/c", "cab"), (str(tmp_path / "x"), "abc")):
        assert "".join(run.name for run in with_baseline_first(runs, name)) == named
    for name, count in (("nobody", 0), (str(tmp_path / "y"), 2)):
        with pytest.raises(MedtasksError, match=f"^{count} runs match '{name}'; .*--compare must name one of a, b, c$"):
            with_baseline_first(runs, name)
