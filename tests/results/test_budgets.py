"""Accuracy against a budget of tokens: what a run says of shorter replies, as if those beyond a budget were cut."""

from typing import Any

import pytest

from medtasks_utils.filters import STRICT
from medtasks_utils.results import Sample, TaskRun
from medtasks_utils.results.budgets import budget_curve
from medtasks_utils.results.samples import SampleLog


def curve_of(tokens: Any, accs: Any) -> Any:
    """The curve of a run with these numbers of tokens and scores."""
    task = TaskRun("medhallu", "medhallu", {}, {})
    pairs = enumerate(zip(tokens, accs, strict=True))
    log = [
        Sample(n, str(n), {}, [], [""], "", metrics={STRICT: {"acc": acc}}, details={STRICT: {"tokens": [count]}})
        for n, (count, acc) in pairs
    ]
    task._log = SampleLog(log, [])
    return budget_curve(task)


def test_a_budget_has_the_accuracy_of_a_run_whose_longer_replies_are_cut():
    tokens, accs = [20, 90, 200, 700] * 10, [1.0, 0.0, 1.0, 1.0] * 10
    curve = curve_of(tokens, accs)
    expected = {limit: share / 4 for limit, share in zip((32, 64, 128, 256, 512, 700), (1, 1, 1, 2, 2, 3), strict=True)}
    assert {point["tokens"]: point["acc"] for point in curve["points"]} == expected
    assert all(point["low"] < point["acc"] < point["high"] for point in curve["points"])
    assert (curve["almost_all"], curve["per_right_answer"]) == (700, pytest.approx(sum(tokens) / 30))

    assert [point["tokens"] for point in curve_of([64] * 40, [1.0] * 40)["points"]] == [32, 64]


def test_the_budget_for_almost_all_keeps_99_of_100_right_answers():
    assert curve_of(range(1, 101), [1.0] * 100)["almost_all"] == 99
    assert curve_of([None, *range(2, 101)], [1.0] * 100) is None, "a right reply of unknown length"
