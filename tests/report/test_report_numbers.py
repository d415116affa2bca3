"""Outcomes, who is first, and the baseline, from runs that are written here."""

from pathlib import Path
from typing import Any

import pytest
from given import TASK, each_row
from hypothesis import given, settings
from hypothesis import strategies as st

from medtasks_utils.compare import compare_runs
from medtasks_utils.compare import comparison_data as compared_data
from medtasks_utils.errors import MedtasksError
from medtasks_utils.filters import FLEXIBLE, STRICT
from medtasks_utils.report.comparison import _p_value, comparison_data
from medtasks_utils.report.leaderboard import leaderboard
from medtasks_utils.report.outcomes import OUTCOMES, outcomes
from medtasks_utils.report.page import leaderboard_figure
from medtasks_utils.report.summary import problems
from medtasks_utils.report.topics import topics_of
from medtasks_utils.results import Run, Sample, as_run, with_baseline_first
from medtasks_utils.results.samples import SampleLog

BENCHMARKS = ["medhallu", "medmcqa", "medcalc_bench"]


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
def test_an_interval_without_samples_is_that_of_its_standard_error_or_the_reason_is_said(
    benchmark, n, stderr, low, reason
):
    values = {f"acc,{STRICT}": 0.75, f"acc_stderr,{STRICT}": stderr}
    (topic,) = topics_of([made("a", benchmark=benchmark, values=values, n=n)])
    found = topic.values[STRICT, "acc"].estimates["a"]
    assert (found.value, found.n, found.low) == (0.75, n, low and pytest.approx(low, abs=2e-3))
    assert found.unreliable.partition(";")[0] == reason


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
        made(name, values={f"{metric},{STRICT}": 0.5}, benchmark=benchmark)
        if right is None
        else made(name, [scored(i, {metric: [float(i < right)]}) for i in range(n)], benchmark)
        for name, right, benchmark in models
    ]
    assert leaderboard(topics_of(runs), runs, [STRICT])["sentences"][STRICT] == said, case


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(*[st.integers(5, 40)] * len(BENCHMARKS)), min_size=2, max_size=4), st.data())
def test_a_pair_has_the_same_p_values_in_the_page_in_compare_and_in_json_whatever_else_is_shown(models, data):
    """The corrected ones are Holm's over the benchmarks, by one metric each; models are right in so many examples."""
    runs = [joined(str(place), model, data.draw(st.sampled_from((1, 4)))) for place, model in enumerate(models)]
    pair = data.draw(st.sampled_from(comparison_data(runs, [STRICT])))
    on_page = {(line["task"], line["metric"]): line["cells"][-3:-1] for line in pair["lines"]}
    a, b = (runs[place] for place in pair["runs"])
    whole = {
        (line["task"], line["metric"]): (line["p"], line["p_adjusted"])
        for line in compared_data(compare_runs(a, b))["comparisons"]
    }
    assert on_page == {key: [p and _p_value(p) for p in values] for key, values in whole.items()}
    task = TASK[data.draw(st.sampled_from(BENCHMARKS))]
    (alone,) = compare_runs(a, b, tasks=[(task, task)], metrics=["acc"]).differences
    assert (alone.contrast.p, alone.p_adjusted) == whole[task, "acc"]
    family = sorted(p for p, p_adjusted in whole.values() if p_adjusted is not None)
    assert len(family) == len(BENCHMARKS) == len(whole) - 1, "F1 of MedHallu has its own p alone"
    least = min(p_adjusted for _, p_adjusted in whole.values() if p_adjusted is not None)
    assert least == pytest.approx(min(1.0, len(family) * family[0]))
    for column in leaderboard(topics_of([a, b]), [a, b], [STRICT])["columns"][STRICT]:
        of_a, of_b = (rank and rank[2] for rank in column.ranks)
        assert (of_a == of_b) == (whole[column.topic, "acc"][0] >= 0.05), "two runs are ranked by their own p"


def joined(name: str, right: tuple[int, ...], repeats: int = 1) -> Run:
    """A run of several benchmarks: so many of 40 examples are right, one more in a generation; F1 is of pairs."""
    run = made(name)
    for benchmark, count in zip(BENCHMARKS, right, strict=True):
        extra = {"f1": [(2.0, 3.0)]} if benchmark == "medhallu" else {}
        places = [(7 * i + 9 * int(name)) % 40 for i in range(40)]  # so that other examples are right in each run
        right_in = {place: [float(place < count + k) for k in range(repeats)] for place in places}
        samples = [scored(i, {"acc": right_in[place], **extra}) for i, place in enumerate(places)]
        run.tasks |= made(name, samples, benchmark).tasks
    return run


def test_the_baseline_is_named_by_name_model_or_folder(tmp_path):
    runs = [made(name, folder=tmp_path / folder) for name, folder in (("a", "x"), ("b", "y"), ("c", "y"))]
    runs[2].model = "org/c"
    for name, named in (("b", "bac"), ("org/c", "cab"), (str(tmp_path / "x"), "abc")):
        assert "".join(run.name for run in with_baseline_first(runs, name)) == named
    for name, count in (("nobody", 0), (str(tmp_path / "y"), 2)):
        with pytest.raises(MedtasksError, match=f"^{count} runs match '{name}'; .*--compare must name one of a, b, c$"):
            with_baseline_first(runs, name)
