"""A benchmark is checked when it is registered: what it lacks or contradicts is one line, and breaks nothing else."""

import json
import re
import shutil
from dataclasses import fields, replace
from operator import attrgetter
from pathlib import Path
from types import new_class

import pytest
from commanding import medtasks, one_line
from given import ROOT, TASKS, each_row, error_line, table
from places import alive
from running import load

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.base import Benchmark
from medtasks_utils.benchmarks.medhallu.benchmark import MedHallu
from medtasks_utils.benchmarks.options import About
from medtasks_utils.benchmarks.registered import OWN, Benchmarks, problems_of
from medtasks_utils.benchmarks.yaml_tasks import listings, place_of, tasks_named
from medtasks_utils.errors import DataError
from medtasks_utils.statistics.aggregation import MACRO
from medtasks_utils.statistics.metrics import ACC, REPEAT_METRICS, REPLY_METRICS, TOOL_METRICS, Metric


def changed(**attributes):
    """A benchmark like MedHallu but for some attributes, or some facts of its records."""
    for record in {"data", "report"} - attributes.keys():
        facts = getattr(MedHallu, record)
        known = attributes.keys() & {field.name for field in fields(facts)}
        attributes[record] = replace(facts, **{name: attributes.pop(name) for name in known})
    return type("Changed", (MedHallu,), attributes)


@each_row(
    "contradictions",
    ("metrics has acc 2 times", {"metrics": (ACC, *MedHallu.metrics)}),
    ("stratum is missing, but the metric mean", {"metrics": (*MedHallu.metrics, Metric("mean", MACRO))}),
)
def test_a_benchmark_with_missing_or_contradictory_facts_is_an_error_that_names_them(said, attributes):
    (problem,) = problems_of(changed(**alive(attributes)), "medhallu")
    assert said in problem


def test_several_mistakes_are_one_error_and_a_benchmark_from_elsewhere_needs_folders():
    assert problems_of(changed(), "medhallu") == []
    assert len(problems_of(changed(compared=("x", "f1"), headline=("y", "z")), "medhallu")) == 3
    lacking, no_folder = problems_of(changed(name="elsewhere", sample=Path(__file__)), "elsewhere")
    assert lacking.startswith("tasks.folder is missing; ")
    assert no_folder == f"data.sample is {__file__}, but there is no such folder"
    (problem,) = problems_of(MedHallu(), "medhallu")
    assert "not a class derived from medtasks_utils.benchmarks.base.Benchmark" in problem


def test_an_answer_is_one_of_those_listed_in_any_case():
    kind = changed(answers={"Yes": "it does", "No": "it does not"})
    assert [Benchmark.value(kind(), text, {}) for text in ("yes", "NO.", "perhaps")] == ["Yes", "No", None]
    of_any = changed(answers={})
    assert [Benchmark.value(of_any(), text, {}) for text in ("(perhaps).", " ")] == ["perhaps", None]


@pytest.mark.parametrize("brackets", ["MedHalluOptions", int])
def test_the_brackets_of_a_benchmark_take_only_a_class_of_options(brackets):
    base = Benchmark
    with pytest.raises(TypeError, match=r"Benchmark\[\.\.\.\] takes a class derived from Options, not"):
        new_class("Mine", (base[brackets],))


LACKING = "the benchmark declares the field label, but its examples have only question, "
FIELDS = {
    **dict.fromkeys(("truth", "cluster", "stratum", "told_apart_by"), "label"),
    **dict.fromkeys(("content", "shown"), ("question", "label")),
}


@pytest.mark.parametrize(
    ("fact", "value", "said"),
    [
        *((fact, value, LACKING) for fact, value in FIELDS.items()),
        ("known_issues", lambda self, examples: [[]], "known_issues returns 1 lists for 28 examples"),
    ],
)
def test_fields_that_examples_lack_are_an_error_when_they_are_loaded(fact, value, said, monkeypatch):
    monkeypatch.setattr(Benchmarks, "__getitem__", lambda self, name: changed(**{fact: value}))
    with pytest.raises(DataError, match=said):
        load("medhallu")


def test_a_benchmark_that_cannot_be_imported_is_one_line_and_the_others_can_be_used():
    registry = Benchmarks()
    registry.data["pubmed"] = "nowhere.pubmed:BENCHMARK"
    problem = "benchmark pubmed cannot be imported from nowhere.pubmed:BENCHMARK: ModuleNotFoundError: No module named"
    assert error_line(DataError, registry.named, "pubmed", "x") == f"{problem} 'nowhere'"
    assert registry.problems == [f"{problem} 'nowhere'"]
    assert [kind.name for kind in registry.usable(leave_out=("medhallu",))] == [
        name for name in OWN if name != "medhallu"
    ]
    near = "mine: benchmark: there is no benchmark 'pubmd' (did you mean pubmed?); known: "
    assert error_line(DataError, registry.named, "pubmd", "mine: benchmark") == near + ", ".join([*OWN, "pubmed"])
    assert [name.startswith("medmarks_") for name in OWN] == sorted(name.startswith("medmarks_") for name in OWN)


def test_each_task_is_listed_with_the_first_line_of_its_file():
    listed = dict(listings())
    assert listed["medexqa_be"] == "the same as medexqa_biomedical_engineering"
    assert "medtasks *" in listed and all(text[0] not in "# " for text in listed.values())


# ---- from the command line

UNFINISHED = Path(__file__).with_name("unfinished")
"""A distribution with a benchmark that cannot be imported, one that contradicts itself, and a task of none."""


@pytest.mark.slow
def test_a_benchmark_that_cannot_be_used_is_one_line_and_breaks_nothing_else(tmp_path):
    shutil.copytree(ROOT / "tests" / "report" / "small" / "a", tmp_path / "saved")
    (results,) = (tmp_path / "saved").rglob("results_*.json")
    results.write_text(results.read_text().replace('"benchmark": "medhallu"', '"benchmark": "pubmed"'))
    rows = table("commands_beside_unfinished")
    words = [[word.format(unfinished=UNFINISHED) for word in command.split()] for command, *_ in rows]
    for told, (command, code, out, errors) in zip(
        medtasks(*words, cwd=tmp_path, PYTHONPATH=f"{UNFINISHED}:{ROOT}"), rows, strict=True
    ):
        assert (told.code, [text for text in out if text not in told.out]) == (code, []), command
        said = one_line(told.errors) if code else told.errors
        assert [text for text in errors if said.count(text) != 1] == [], command


# ---- what benchmarks declare


def facts_of(metric):
    return [metric.aggregation.name, metric.unit, metric.higher_is_better]


def declared(kind, fact):
    """A fact that a benchmark declares: one option, metric or breakdown, or an attribute."""
    what, _, name = fact.partition(" ")
    if what == "option":
        about = kind.options_class.about()[name]._replace(implied_by=(), other_name="")
        changed = {key: value for key, value in about._asdict().items() if value != getattr(About(), key)}
        words = {"needs": about.needs.words} if about.needs else {}
        return {"default": getattr(kind.options_class(), name), **changed, **words}
    if what == "metric":
        return next(facts_of(metric) for metric in kind.metrics if metric.name == name)
    if what == "breakdown":
        return next(each.metrics for each in kind.report.breakdowns if each.name == name)
    value = attrgetter(fact)(kind)
    return list(value) if fact == "blanks" else value


@each_row("declarations")
def test_a_benchmark_declares_this_option_metric_or_fact(benchmark, fact, value):
    assert json.loads(json.dumps(declared(benchmarks()[benchmark], fact))) == value


def test_tasks_of_any_benchmark_report_these_metrics():
    found = [[each.name, *facts_of(each)] for each in TOOL_METRICS + REPLY_METRICS + REPEAT_METRICS]
    assert found == table("metrics_of_any_task")


def test_a_task_s_own_file_has_the_last_word_over_those_that_it_includes():
    texts = (path.read_text("utf-8") for path in TASKS.rglob("[!_]*.yaml"))
    names = [found[1] for found in map(re.compile(r"^task: (\w+)$", re.MULTILINE).search, texts) if found]
    assert [[task["task"] for task in tasks_named(name)] for name in names] == [[name] for name in names]


def test_a_setting_has_its_place_in_the_file_that_states_it_or_in_one_that_this_includes(tmp_path):
    base, task = tmp_path / "_base.yaml", tmp_path / "task.yaml"
    base.write_text("a: 1\nb: 2\n")
    task.write_text("include: _base.yaml\nb: 3\n")
    assert [place_of(task, name) for name in ("b:", "a:", "c:")] == [f"{task}:2", f"{base}:1", str(task)]
