"""Runs of the real harness compared: what is paired, what is refused, what is found, and what is printed."""

import json
import math
import re
import shutil
from collections.abc import Callable, Mapping
from itertools import cycle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from given import GENERATION_TASKS, Row, each_row, table
from places import at
from saved_runs import edit_lines, right_in, sample_file, save_run, save_two

from medtasks_utils import __main__ as cli
from medtasks_utils.compare import compare_runs, comparison_data, comparison_lines, one_run
from medtasks_utils.compare.comparing import Comparison
from medtasks_utils.compare.difference_plan import lines_of, plan
from medtasks_utils.compare.verdicts import compare_verdicts
from medtasks_utils.errors import MedtasksError
from medtasks_utils.filters import STRICT
from medtasks_utils.report.pair import compared
from medtasks_utils.results import Sample
from medtasks_utils.statistics.sequential import expected_clusters
from medtasks_utils.writing import WIDTH


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Two models on everything: in ``a`` the weaker one, in ``b`` the stronger."""
    return save_two(tmp_path_factory.mktemp("saved"), (0.5, 0.8), tasks=["medtasks", "medexqa"])


@pytest.fixture(scope="module")
def found(saved):
    """Their comparison."""
    return comparison(saved)


@pytest.fixture
def pair_of_runs(saved, tmp_path):
    """Copies of both, to damage; the results files."""
    shutil.copytree(saved, tmp_path, dirs_exist_ok=True)
    (a,), (b,) = ((tmp_path / name).glob("**/results_*.json") for name in "ab")
    return a, b


def comparison(saved: Path, other: str = "b", **settings: Any) -> Comparison:
    return compare_runs(one_run(saved / "a"), one_run(saved / other), **settings)


def save(folder: Path, **runs: Mapping[str, Any]) -> None:
    """Runs by folder, of MedHallu unless their settings say otherwise."""
    for name, settings in runs.items():
        save_run(folder / name, **{"tasks": "medhallu", **settings})


def refused(*runs: Any, says: str, **settings: Any) -> None:
    """A comparison that is an error which says so."""
    with pytest.raises(MedtasksError, match=says):
        comparison(*runs, **settings)


def printed(found: Comparison, points: float) -> list[str]:
    """The lines of a comparison and of a plan for these points."""
    lines = "\n".join([*comparison_lines(found), *lines_of(points, [*plan(found, points)])]).split("\n")
    assert max(map(len, lines)) <= WIDTH
    return lines


def edit_results(path: Path, edit: Callable[[Row], object]) -> None:
    content = json.loads(path.read_text())
    edit(content)
    path.write_text(json.dumps(content))


# ---- what is found


@each_row("functions_of_compare")
def test_a_function_of_comparisons_returns_what_its_row_says(name, place, expected):
    assert at(place, expected) == expected


def test_repeated_generations_are_compared(tmp_path):
    for name, repeats in (("a", 3), ("b", 3), ("more", 2)):
        models = cycle(right_in(0.6, name + salt) for salt in "123")

        def answer(doc, models=models):
            return next(models)(doc)

        save_run(tmp_path / name, answer, tasks="medhallu", metadata={"medhallu": {"repeats": repeats}})
    found = comparison(tmp_path)
    assert printed(found, 20) == table("comparison_of_repeats")
    fewer = comparison(tmp_path, "more")
    assert {line.metric.name for line in fewer.differences} == {"f1", "acc"}, "of 3 and of 2 they are other things"


def test_a_plan_for_part_of_a_benchmark_says_how_many_examples_exist(tmp_path):
    save_two(tmp_path, tasks="medmcqa_openmed", limit=12)
    one, other = one_run(tmp_path / "a"), one_run(tmp_path / "b")
    one.tasks["medmcqa_openmed"].available = 4000
    found = compare_runs(one, other, metrics=["acc"])
    (need,) = plan(found, 10)
    assert (need["n"], need["of"]) == (12, 4000)
    deviation = (found.differences[0].contrast.stderr or 0) * math.sqrt(12)
    assert need["until_decided"] == round(expected_clusters(0.1, deviation, 4000, 0.02)) < 4000
    one.tasks["medmcqa_openmed"].asked = 0
    (need,) = plan(compare_runs(one, other, metrics=["acc"]), 10)
    assert need["of"] is need["until_decided"] is None


# ---- what is paired


def test_different_examples_are_an_error_with_a_way_out(tmp_path):
    others, none = ({"samples": {"medhallu": numbers}} for numbers in ([4, 5, 6, 7, 8], [10, 11]))
    save(tmp_path, a={"limit": 6}, b=others, c=none)
    refused(tmp_path, force=True, says=r"\(A 6, B 5; 2 in both\); --common compares only those in both")
    found = comparison(tmp_path, common=True)
    assert found.differences[0].contrast.n == 2 and "2 in both" in found.warnings[0]
    refused(tmp_path, "c", common=True, says="no common example")
    save(tmp_path, d={"limit": 4}, e={"metadata": {"medhallu": {"difficulty": "hard"}}})
    part, hard = (compare_runs(*map(one_run, map(tmp_path.joinpath, pair)), common=True) for pair in ("da", "ee"))
    shown = "\n".join(comparison_lines(part))
    assert "questions in both" in shown and "MedHallu  4 in both" in shown, "though A has no others"
    assert "difficulty" not in {line.breakdown for line in hard.differences}, "all are of one"
    for limit, words in table("against_six"):
        save(tmp_path, **{words: {"limit": limit}})
        refused(tmp_path, words, says=words)


def test_examples_in_another_order_are_paired_by_what_they_are(found, pair_of_runs):
    for task in GENERATION_TASKS:
        edit_lines(sample_file(pair_of_runs[1], task), lambda lines: lines[::-1])
    after = compare_runs(*map(one_run, pair_of_runs)).differences
    assert [line.contrast for line in after] == [line.contrast for line in found.differences]


def test_a_group_is_compared_whole_or_not_at_all(pair_of_runs):
    a, b = map(one_run, pair_of_runs)
    b.groups["medexqa"].tasks.pop()
    assert "medexqa" not in {line.task for line in compare_runs(a, b).differences}, "another group of this name"
    del b.tasks["medhallu"]
    assert "medtasks" not in {line.task for line in compare_runs(a, b).differences}


# ---- what is refused, and what is warned of


@each_row("other_measurements")
def test_results_of_other_settings_are_compared_only_with_force(name, settings, words, tmp_path):
    save(tmp_path, a={"limit": 4}, b={"limit": 4, **settings})
    refused(tmp_path, common=True, says=f"not comparable: {words} .*--force")
    assert words in comparison(tmp_path, force=True).warnings[0]


def test_explanation_metrics_matter_to_explanations_alone(tmp_path):
    for name, metrics in (("a", ["rougeL"]), ("b", ["rougeL", "bleu"])):
        metadata = {"medexqa": {"use_explanations": True, "explanation_metrics": metrics}}
        save_run(tmp_path / name, right_in(0.7, name), tasks="medexqa_all", metadata=metadata)
    refused(tmp_path, says="explanation metrics or judges")
    (need,) = plan(explained := comparison(tmp_path, force=True, metrics=["rougeL"]), 5)
    (again,) = plan(explained, need["detectable"])
    assert again["examples"] == pytest.approx(need["n"], abs=1), "in points of whatever is the highest score"
    found = comparison(tmp_path, metrics=["acc", "macro_acc"])
    on_the_page, _ = compared(found.a, found.b, STRICT)
    assert not found.warnings
    for each in (found, on_the_page):
        assert each and {line.metric.name for line in each.differences} == {"acc", "macro_acc"}


def test_runs_without_signatures_are_compared_with_a_warning(pair_of_runs):
    def edited(content: Row) -> None:
        for task in content["configs"].values():
            del task["metadata"]["signature"]
            task["metadata"]["remarks"] = ["which concerns no comparison"]

    for path in pair_of_runs:
        edit_results(path, edited)
        (warning,) = compare_runs(*map(one_run, pair_of_runs)).warnings
        assert "no signature" in warning and all(task in warning for task in GENERATION_TASKS)
    pair_of_runs[1].unlink()
    warnings = compare_runs(one_run(pair_of_runs[0]), one_run(pair_of_runs[1].parent)).warnings
    assert "the samples have no results file" in " ".join(warnings)


@pytest.mark.parametrize("lost", [1, 2])
def test_examples_with_a_missing_value_are_left_out_of_both_runs(tmp_path, lost):
    """One value of twenty may be missing, but not two: a line that is gone, and a value that is no number."""
    save_two(tmp_path, tasks="medcalc_bench", limit=20)

    def damaged(lines):
        strict = [place for place, line in enumerate(lines) if b'"filter": "strict-match"' in line]
        lines[strict[1]] = re.sub(rb'"acc": [\d.]+', b'"acc": NaN', lines[strict[1]])
        return [line for place, line in enumerate(lines) if place not in strict[: lost - 1]]

    (results,) = (tmp_path / "b").glob("**/results_*.json")
    edit_lines(sample_file(results, "medcalc_bench"), damaged)
    if lost == 2:
        refused(tmp_path, says=r"acc: 2 of 20 examples .* lack a value")
    found = comparison(tmp_path, force=lost == 2)
    whole = found.differences[0].contrast
    assert (whole.left_out, whole.n) == (lost, 20 - lost)
    assert f"acc: {lost} of 20 examples" in " ".join(found.warnings)


def test_one_cut_reply_more_of_28_is_warned_of(pair_of_runs):
    for path, first in zip(pair_of_runs, "01", strict=True):
        log = sample_file(path, "medhallu")
        known = re.sub('(?<="cut": )null', "0", log.read_text())
        log.write_text(known.replace('"cut": 0', f'"cut": {first}', 1))
    (warning,) = compare_runs(*map(one_run, pair_of_runs)).warnings
    assert warning.startswith("medhallu: 0.0 % of the replies in A and 3.6 % in B were cut")


def test_a_task_without_samples_is_an_error(pair_of_runs):
    sample_file(pair_of_runs[1], "medhallu").unlink()
    with pytest.raises(MedtasksError, match=r"\b0 (samples )?in B.*--log_samples"):
        compare_runs(*map(one_run, pair_of_runs))


def test_runs_without_a_common_filter_are_not_compared(pair_of_runs):
    a, b = map(one_run, pair_of_runs)
    for run, name in ((a, "strict-match"), (b, "flexible-extract")):
        for task in run.tasks.values():
            task.metrics = {key: value for key, value in task.metrics.items() if key[1] == name}
    with pytest.raises(MedtasksError, match="filters in both: none"):
        compare_runs(a, b)


def test_tasks_of_one_run_alone_are_named(tmp_path):
    both = {"tasks": ["medhallu", "medmcqa_openmed"], "limit": 4}
    save(tmp_path, a=both, b={"limit": 4}, c={"tasks": "medexqa", "limit": 4})
    a, b = one_run(tmp_path / "a"), one_run(tmp_path / "b")
    for pair in ((a, b), (b, a)):
        assert "medmcqa_openmed: left out, since only one" in " ".join(compare_runs(*pair).warnings)
    assert [*one_run(tmp_path, ["medexqa"]).groups] == ["medexqa"]
    assert one_run(tmp_path, ["medmcqa_openmed"]).tasks.keys() == {"medmcqa_openmed", "medhallu"}
    with pytest.raises(MedtasksError, match="has 2 runs"):
        one_run(tmp_path, ["medhallu"])
    with pytest.raises(MedtasksError, match="no common task of this package"):
        compare_runs(one_run(tmp_path / "b"), one_run(tmp_path / "c"))


def test_tasks_of_other_packages_are_compared_on_request(pair_of_runs):
    other = {"process_results": "other.score", "metadata": {}}
    for path in pair_of_runs:
        edit_results(path, lambda content: content["configs"]["medhallu"].update(other))
    a, b = map(one_run, pair_of_runs)
    assert "medhallu: left out" in " ".join(compare_runs(a, b).warnings)
    asked = compare_runs(a, b, tasks=[("medhallu", "medhallu")])
    assert [line.metric.name for line in asked.differences] == ["acc"]


@each_row("not_there")
def test_a_missing_run_task_metric_or_filter_is_an_error(name, settings, message, saved):
    refused(saved, says=message, **settings)


# ---- what is printed


def test_compare_prints_exactly_these_lines(found):
    """Every task, group and breakdown with its values, tests and counts; then a plan."""
    assert printed(found, 5) == table("comparison")


KEYS = """task filter metric breakdown group n clusters a b p_adjusted detectable left_out note few
    difference stderr low high p test"""
FLIPS = "task filter both_right both_wrong n_gained n_lost"


def test_the_json_of_a_comparison_has_everything_under_stable_keys(found):
    content = json.loads(json.dumps(comparison_data(found), allow_nan=False))
    assert list(content) == ["version", "a", "b", "comparisons", "flips", "warnings"] and content["version"] == 2
    assert set(content["a"]) == {"name", "model", "date", "path", "signatures", "token_budgets"}
    assert content["a"]["signatures"] == {name: task.signatures for name, task in found.a.tasks.items()}
    assert len(content["comparisons"]) == len(found.differences)
    wholes = [line for line in content["comparisons"] if not line["breakdown"]]
    tested = {(line["task"], line["metric"]) for line in wholes if line["p_adjusted"] is not None}
    main = {line["task"]: line["metric"] for line in reversed(wholes)}
    assert tested == {*main.items()}, "by the main metric"
    (mean,) = (line for line in wholes if line["task"] == "medtasks")
    assert mean["p_adjusted"] == mean["p"], "a mean over benchmarks is tested by itself"
    for name, keys in (("comparisons", KEYS), ("flips", FLIPS)):
        assert {*map(frozenset, content[name])} == {frozenset(keys.split())}


def test_a_plan_is_for_the_points_that_are_named(saved, found, monkeypatch, capsys):
    monkeypatch.chdir(saved)
    assert cli.main(["compare", "a", "b", "--plan", "2.5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"version": 1, "points": 2.5, "needs": [*plan(found, 2.5)]}


@each_row("commands")
def test_compare_prints_what_was_asked_for_and_ends_with_its_code(name, words, code, said, saved, monkeypatch, capsys):
    monkeypatch.chdir(saved)
    assert cli.main(["compare", *words.split()]) == code
    assert re.search(said, "".join(capsys.readouterr()), re.DOTALL)


# ---- our verdicts beside those of the harness that a run comes from


def sample(place: int, acc: float, found_by: str | None = None, **theirs: float) -> Sample:
    own: dict[str, Any] = {"answers": {"f": [f"read {place}"]}, "metrics": {"f": {"acc": acc}}}
    ways = {"f": [found_by]} if found_by else {}
    return Sample(place, "", {}, [], [""], "A", **own, details={"f": {"other_scores": theirs}}, found_by=ways)


def test_verdicts_are_counted_by_score_and_by_how_the_answer_was_found():
    """Each row of the table: our score and the way to its answer, their scores, and the verdicts on them."""
    cases = table("verdicts")
    samples = [sample(place, acc, way, **theirs) for place, (acc, way, theirs, _) in enumerate(cases)]
    run: Any = SimpleNamespace(path="imported", tasks={"t": SimpleNamespace(task="t", samples=samples)})
    verdicts = compare_verdicts(run, "f", [])
    told: list[Any] = [[] for _ in cases]
    for one in verdicts:
        told[one["doc_id"]].append([one["score"], one["verdict"], one["found_by"]])
    assert told == [expected for *_, expected in cases]
    assert verdicts[0].items() >= {"task": "t", "filter": "f", "answers": ["read 0"], "target": "A"}.items()
    with pytest.raises(MedtasksError, match="imported has no other; name a second run"):
        compare_verdicts(run, "f", ["other"])
