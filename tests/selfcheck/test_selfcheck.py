"""``medtasks selfcheck``: passes on the sample, and fails when any score is off."""

import json
import re
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import pytest
from running import load

from medtasks_utils.__main__ import main
from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.base import Answer
from medtasks_utils.benchmarks.medexqa.benchmark import MedExQA
from medtasks_utils.benchmarks.medhallu.benchmark import MedHallu
from medtasks_utils.harness.aggregates import HarnessAggregation
from medtasks_utils.selfcheck.known_answers import KnownAnswer, expected_scores


@pytest.fixture(autouse=True)
def _here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TQDM_DISABLE", "1")  # the command sets it; here it is unset again


def largest(self: HarnessAggregation, items: Iterable[float | None]) -> float:
    return max((item for item in items if item is not None), default=0.0)


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
    ],
    ids=["a reading", "an aggregation"],
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
    assert not found["passed"] and all(score["as_expected"] for score in found["scores"])
    assert found["problems"] == [
        "medhallu: score() returns rewards, but no metric of that name is declared",
        "medhallu: the metric reward is declared, but score() never returns it",
    ]


@pytest.mark.parametrize(("texts", "cut", "finished"), [(("", ""), None, None), (("", "<think>"), 0.0, 0.0)])
def test_of_an_empty_reply_it_is_not_known_how_it_ended(texts, cut, finished):
    task = load("medhallu")
    examples = [(example, KnownAnswer(text, "")) for example, text in zip(task.eval_docs, texts, strict=False)]
    expected = expected_scores(task.benchmark, task.options, examples)
    assert (expected["cut"], expected["acc_finished"]) == (cut, finished)
