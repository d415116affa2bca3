"""Accuracy against a budget of tokens: what a run says of shorter replies is what a run that cuts them finds."""

import json

import pytest
from commanding import exit_code
from given import Row
from local_server import Answer, LocalServer, Request, completion
from scripts import draw, prompt_of

from medtasks_utils import load_runs
from medtasks_utils.filters import STRICT
from medtasks_utils.results import Sample, TaskRun
from medtasks_utils.results.budgets import budget_curve
from medtasks_utils.results.samples import SampleLog

WORDS = ["eval", "--data", "sample", "--tasks", "medmcqa_openmed,medhallu", "--log_samples", "--output_path"]


def of_length(body: Request) -> Answer:
    """A letter after some number of tokens, or none where there may not be so many."""
    chance = draw(prompt_of(body))
    needed = chance.choice([20, 90, 200, 700])
    tokens = min(needed, body["max_tokens"])
    answer = f"\\boxed{{{chance.choice('AB01')}}}" if chance.random() < 0.6 else "The answer is B."
    content, finish = ("Hm", "length") if tokens < needed else (answer, "stop")
    return {**completion(content, finish), "usage": {"completion_tokens": tokens}}


def test_the_budget_of_a_long_run_is_the_accuracy_of_a_short_one(tmp_path, capsys):
    with LocalServer(of_length) as server:
        for limit in (1024, 128, 64):
            flags = [str(tmp_path / str(limit)), *server.flags(), "--gen_kwargs", f"max_gen_toks={limit}"]
            assert exit_code([*WORDS, *flags]) == 0
    capsys.readouterr()
    (long_run,) = load_runs(tmp_path / "1024")
    for name, task in long_run.tasks.items():
        curve = budget_curve(task)
        assert curve is not None
        points = {point["tokens"]: point for point in curve["points"]}
        assert list(points) == [32, 64, 128, 256, 512, 700]
        for limit, point in ((1024, points[700]), (128, points[128]), (64, points[64])):
            (run,) = load_runs(tmp_path / str(limit))
            assert point["acc"] == pytest.approx(run.tasks[name].metrics["acc", STRICT].value)
            assert point["low"] <= point["acc"] <= point["high"]
        right = [sample for sample in task.samples if sample.metrics[STRICT]["acc"]]
        assert curve["almost_all"] == max(sample.tokens[0] or 0 for sample in right)
        total = sum(sample.tokens[0] or 0 for sample in task.samples)
        assert curve["per_right_answer"] == pytest.approx(total / len(right))
    folders = [str(tmp_path / limit) for limit in ("1024", "128")]
    assert exit_code(["compare", *folders, "--filter", "flexible-extract"]) == 0
    printed = capsys.readouterr().out
    for task in long_run.tasks.values():
        assert f", 700 {100 * task.metrics['acc', 'flexible-extract'].value:.2f}; 99 % of it with " in printed
    shown = []
    for command in (["compare"], ["report", "-o", str(tmp_path / "page.html")]):
        assert exit_code([*command, *folders, "--json"]) == 0
        shown.append(json.loads(capsys.readouterr().out))
    curves = shown[0]["a"]["token_budgets"]
    assert [curve["task"] for curve in curves] == list(long_run.tasks)
    assert curves in shown[1]["token_budgets"].values()


def test_the_budget_for_almost_all_keeps_99_of_100_right_answers():
    task = TaskRun("medhallu", "medhallu", {}, {})
    about: Row = {"doc": {}, "messages": [], "responses": [""], "target": "", "metrics": {STRICT: {"acc": 1.0}}}
    samples = [Sample(n, str(n), **about, details={STRICT: {"tokens": [n]}}) for n in range(1, 101)]
    task._log = SampleLog(samples, [])
    curve = budget_curve(task)
    assert curve is not None and curve["almost_all"] == 99
    samples[0].details[STRICT]["tokens"] = [None]
    assert budget_curve(task) is None, "a right reply of unknown length"
