"""Accuracy against a budget of tokens: what a run says of shorter replies is what a run that cuts them finds."""

import json
from typing import Any

import pytest
from commanding import succeed
from given import Row
from local_server import Answer, LocalServer, Request, completion
from scripts import draw, prompt_of

from medtasks_utils import load_runs
from medtasks_utils.filters import STRICT
from medtasks_utils.results import Run, Sample, TaskRun
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
    runs: dict[int, Run] = {}
    with LocalServer(of_length) as server:
        for limit in (1024, 128, 64):
            folder = tmp_path / str(limit)
            succeed(*WORDS, folder, *server.flags(), "--gen_kwargs", f"max_gen_toks={limit}")
            (runs[limit],) = load_runs(folder)
    tasks = runs[1024].tasks
    for name, task in tasks.items():
        curve: Any = budget_curve(task)
        points = {point["tokens"]: point for point in curve["points"]}
        assert list(points) == [32, 64, 128, 256, 512, 700]
        for limit, run in runs.items():
            point = points[min(limit, 700)]
            assert point["acc"] == pytest.approx(run.tasks[name].metrics["acc", STRICT].value)
            assert point["low"] <= point["acc"] <= point["high"]
        tokens = [(sample.tokens[0] or 0, sample.metrics[STRICT]["acc"]) for sample in task.samples]
        right = [count for count, acc in tokens if acc]
        assert curve["almost_all"] == max(right)
        assert curve["per_right_answer"] == pytest.approx(sum(count for count, _ in tokens) / len(right))
    capsys.readouterr()
    said = []
    page = ["report", "-o", tmp_path / "r.html"]
    for command in (["compare", "--json"], [*page, "--json"]):
        succeed(*command, tmp_path / "1024", tmp_path / "128")
        said.append(capsys.readouterr().out)
    compared, reported = map(json.loads, said)
    curves = compared["a"]["token_budgets"]
    assert [curve["task"] for curve in curves] == list(tasks)
    assert curves in reported["token_budgets"].values()


def test_the_budget_for_almost_all_keeps_99_of_100_right_answers():
    task = TaskRun("medhallu", "medhallu", {}, {})
    about: Row = {"doc": {}, "messages": [], "responses": [""], "target": "", "metrics": {STRICT: {"acc": 1.0}}}
    samples = [Sample(n, str(n), **about, details={STRICT: {"tokens": [n]}}) for n in range(1, 101)]
    task._log = SampleLog(samples, [])
    curve: Any = budget_curve(task)
    assert curve["almost_all"] == 99
    samples[0].details[STRICT]["tokens"] = [None]
    assert budget_curve(task) is None, "a right reply of unknown length"
