"""``medtasks selfcheck``: passes on the sample, and fails when any score is off."""

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from commanding import exit_code
from places import as_its_row_says

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.answers import Answer
from medtasks_utils.benchmarks.medexqa.benchmark import MedExQA
from medtasks_utils.benchmarks.medhallu.benchmark import MedHallu
from medtasks_utils.harness.aggregates import HarnessAggregation
from medtasks_utils.statistics.ratio import Ratio


@pytest.fixture(autouse=True)
def _here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TQDM_DISABLE", "1")  # the command sets it; here it is unset again


def largest(self, items):
    return max((item for item in items if item is not None), default=0.0)


def one_too_many(self):
    return float(self.numerators.sum() / (self.denominators.sum() + 1))


def unread(self, text, example):
    return Answer(None, text)


def checked(monkeypatch, *names):
    """Let the self-check use only a few benchmarks."""
    few = SimpleNamespace(usable=lambda: [benchmarks()[name] for name in names], problems=["broken"])
    monkeypatch.setattr("medtasks_utils.selfcheck.check.benchmarks", lambda: few)


ALL = {"medexqa", "medexqa_*", "medhallu"}


@pytest.mark.parametrize(
    ("owner", "name", "replacement", "blamed"),
    [
        pytest.param(MedHallu, "strict", unread, {"medhallu"}, marks=pytest.mark.slow),
        (HarnessAggregation, "__call__", largest, ALL),
        pytest.param(Ratio, "value", property(one_too_many), ALL, marks=pytest.mark.slow),
    ],
    ids=["a reading", "the harness's aggregation", "the arithmetic of ours"],
)
def test_a_score_that_is_off_is_a_miss(owner, name, replacement, blamed, monkeypatch, capsys):
    monkeypatch.setattr(MedExQA, "tasks", replace(MedExQA.tasks, checked=("medexqa",)))
    checked(monkeypatch, "medexqa", "medhallu")
    monkeypatch.setattr("medtasks_utils.selfcheck.check.BEHAVIOURS", {"right": "right", "random": "drawn"})
    monkeypatch.setattr(owner, name, replacement)
    assert exit_code(["selfcheck", "--limit", "4"]) == 1
    output = capsys.readouterr().out
    misses = re.findall(r"^(\S+)\s+\S+ +(?:strict-match|flexible-extract|none)(?: +\S+){3}$", output, re.MULTILINE)
    assert {re.sub("medexqa_.*", "medexqa_*", task) for task in misses} == blamed
    assert output.startswith(f"{len(misses)} of ") and "sent 48 prompts" in output


def test_scores_and_declarations_are_compared(monkeypatch, capsys):
    """The cases: an undeclared score, a metric without scores, and right answers that count as wrong."""
    scores = MedHallu.scores

    def misnamed(self, answer, example):
        found = scores(self, answer, example)
        found["rewards"] = found.pop("reward")
        return {**found, "acc": 0.0}

    monkeypatch.setattr(MedHallu, "scores", misnamed)
    checked(monkeypatch, "medhallu")
    (earlier := Path("medtasks_selfcheck/runs/right/results_1.json")).mkdir(parents=True)
    assert exit_code(["selfcheck", "--limit", "2", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["runs"], found["report"]) == ("medtasks_selfcheck/runs", "medtasks_selfcheck/report.html")
    assert len([*Path(found["runs"]).glob("*/samples_*")]) == 5 and not earlier.exists()
    assert {score["filter_name"] for score in found["scores"]} == {"strict-match", "flexible-extract"}
    missed = [(score["metric"], score["behaviour"]) for score in found["scores"] if not score["as_expected"]]
    assert missed == [("acc", "right")] * 2
    assert found["problems"] == [
        "broken",
        "medhallu: scores() returns rewards, but no metric of that name is declared",
        "medhallu: the metric reward is declared, but scores() never returns it",
    ]


def test_the_data_directory_that_is_named_is_used(capsys):
    assert exit_code(["selfcheck", "--data", "/nowhere"]) == 1
    assert "/nowhere" in capsys.readouterr().err


test_a_function_of_the_selfcheck_returns_what_its_row_says = as_its_row_says("functions_of_selfcheck")
