"""``medtasks selfcheck``: passes on the sample, and fails when any score is off."""

import json
import re
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import pytest
from given import each_row
from running import load

from medtasks_utils.__main__ import main
from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.base import Answer
from medtasks_utils.benchmarks.medexqa.benchmark import MedExQA
from medtasks_utils.benchmarks.medhallu.benchmark import MedHallu
from medtasks_utils.harness.aggregates import HarnessAggregation
from medtasks_utils.selfcheck.known_answers import KnownAnswer, expected_scores, known_answer
from medtasks_utils.selfcheck.selfcheck_result import CheckedScore, SelfcheckResult
from medtasks_utils.statistics.aggregation import Mean
from medtasks_utils.statistics.metrics import Metric
from medtasks_utils.statistics.ratio import Ratio


@pytest.fixture(autouse=True)
def _here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TQDM_DISABLE", "1")  # the command sets it; here it is unset again


def largest(self: HarnessAggregation, items: Iterable[float | None]) -> float:
    return max((item for item in items if item is not None), default=0.0)


def one_too_many(self: Ratio) -> float:
    return float(self.numerators.sum() / (self.denominators.sum() + 1))


def unread(self: Any, text: str, example: Any, options: Any) -> Answer:
    return Answer(None, text)


def checked(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let the check be of a few benchmarks alone."""
    few = SimpleNamespace(usable=lambda: [benchmarks()[name] for name in names], problems=[])
    monkeypatch.setattr("medtasks_utils.selfcheck.check.benchmarks", lambda: few)


@pytest.mark.parametrize(
    ("owner", "name", "replacement", "blamed"),
    [
        pytest.param(MedHallu, "strict", unread, {"medhallu"}, marks=pytest.mark.slow),
        (HarnessAggregation, "__call__", largest, {"medmcqa_openmed", "medexqa", "medhallu"}),
        (Ratio, "value", property(one_too_many), {"medmcqa_openmed", "medexqa", "medhallu"}),
    ],
    ids=["a reading", "the harness's aggregation", "the arithmetic of ours"],
)
def test_a_score_that_is_off_is_a_miss(
    monkeypatch,
    capsys,
    owner,
    name,
    replacement,
    blamed,
):
    monkeypatch.setattr(MedExQA, "checked_tasks", ("medexqa",))
    checked(monkeypatch, "medmcqa", "medexqa", "medhallu")
    monkeypatch.setattr(owner, name, replacement)
    assert main(["selfcheck", "--limit", "4"]) == 1
    output = capsys.readouterr().out
    filters = r"(?:strict-match|flexible-extract|none)"
    misses = re.findall(rf"^(\S+) +(\S+) +({filters}) +(\S+) +(\S+) +(\S+)$", output, re.MULTILINE)
    assert {re.sub("medexqa_.*", "medexqa", miss[0]) for miss in misses} == blamed
    assert output.startswith(f"{len(misses)} of ")


def test_scores_and_declarations_are_compared(monkeypatch, capsys):
    """A score that nothing declares, a metric that is never given."""
    scores = MedHallu.scores

    def misnamed(self, *arguments, **others):
        others["rewards"] = others.pop("reward")
        return scores(self, *arguments, **others)

    monkeypatch.setattr(MedHallu, "scores", misnamed)
    checked(monkeypatch, "medhallu")
    assert main(["selfcheck", "--limit", "2", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["runs"], found["report"]) == ("medtasks_selfcheck/runs", "medtasks_selfcheck/report.html")
    assert not found["passed"] and all(score["as_expected"] for score in found["scores"])
    assert found["problems"] == [
        "medhallu: score() returns rewards, but no metric of that name is declared",
        "medhallu: the metric reward is declared, but score() never returns it",
    ]


@each_row("ends_of_empty_replies")
def test_of_an_empty_reply_it_is_not_known_how_it_ended(texts, cut, finished):
    task = load("medhallu")
    examples = [(example, KnownAnswer(text, "")) for example, text in zip(task.eval_docs, texts, strict=False)]
    expected = expected_scores(task.benchmark, task.options, examples)
    assert (expected["cut"], expected["acc_finished"]) == (cut, finished)


def test_an_aggregation_of_another_distribution_is_taken_at_its_word(monkeypatch):
    class Largest(Mean):
        def value(self, scores):
            return max(scores.values)

    monkeypatch.setattr("medtasks_utils.selfcheck.known_answers.metric_of", lambda name, _: Metric(name, Largest()))
    task = load("medhallu")
    examples = [(example, KnownAnswer("", "1")) for example in task.eval_docs]
    assert expected_scores(task.benchmark, task.options, examples)["acc"] == 1.0


@each_row("known_answers")
def test_known_answers(name, behaviour, answer):
    benchmark = benchmarks()[name]
    known = known_answer(benchmark, behaviour, {benchmark.truth: "C"}, seed="s")
    assert known.answer == answer
    assert (benchmark.written % answer in known.text) == bool(answer)


def test_what_the_result_says(tmp_path):
    scores = [
        CheckedScore("medhallu", "acc", "strict-match", "right", 1.0, 1.0),
        CheckedScore("medhallu", "f1", "strict-match", "right", "N/A", None),
        CheckedScore("medhallu", "acc", "flexible-extract", "first", 0.5, 0.5 + 2e-9),
        CheckedScore("medhallu", "acc", "strict-match", "first", 0.5, 0.5 - 5e-10),
        CheckedScore("medmcqa_openmed", "acc", "strict-match", "unsure", 0.0, None),
        CheckedScore("medmcqa_openmed", "acc", "none", "unsure", "N/A", 0.0),
    ]
    result = SelfcheckResult(scores, ["a problem"], 1234, 2.04, tmp_path / "runs")
    lines = [" ".join(line.split()) for line in result.to_text().splitlines()]
    assert lines == [
        "3 of 6 scores are not as expected: lm_eval sent 1,234 prompts to a server with known answers (2.0 s)",
        "checked: 3 metrics of 2 tasks and groups, under both filters",
        "accuracy (strict-match) if answers are",
        "always right MedHallu 100.0",
        "always the first option MedHallu 50.0",
        "drawn at random",
        "missing, or reasoning that is cut off",
        "that the model is unsure MedMCQA 0.0",
        "task metric filter answers score expected",
        "medhallu acc flexible-extract first 0.5 0.500000002",
        "medmcqa_openmed acc strict-match unsure 0.0 None",
        "medmcqa_openmed acc none unsure N/A 0.0",
        "a problem",
        f"report: {tmp_path / 'report.html'} (open it in a browser)",
    ]
    assert [line.split()[0] for line in result.to_text(True).splitlines()[9:15]] == [score.task for score in scores]
    passed = SelfcheckResult(scores[:2], [], 1, 1, tmp_path / "runs")
    assert passed.to_text().startswith("all 2 scores are as expected: ")
    assert (passed.failed, result.failed, passed.to_data()["passed"]) == (False, True, True)
    assert [score["as_expected"] for score in result.to_data()["scores"]] == [True, True, False, True, False, False]
