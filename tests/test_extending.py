"""A benchmark, a metric, a judge, a tool and a command from another distribution: no file of this one is touched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Said, medtasks, saved_results
from judge_server import JudgeServer

TOY = ROOT / "tests" / "toy"


BESIDE = {"PYTHONPATH": f"{TOY}:{ROOT}"}
"""The environment that has the other distribution installed beside this one."""


def evaluated(server: JudgeServer, folder: Path, *more: str) -> list[str]:
    """The words of a run of a model behind a server."""
    words = ["eval", "--data", "sample", "--log_samples", "--output_path", str(folder)]
    return [*words, *server.flags(model=folder.name), *more]


def caller(request: dict[str, Any]) -> str:
    said = " ".join(message["content"] for message in request["messages"])
    called = '<tool_call>{"name": "reverse", "arguments": {"text": "cba"}}</tool_call>'
    return "<answer>1</answer>" if "abc" in said.rpartition("<tool_response>")[2] else called


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("toy")


@pytest.fixture(scope="module")
def said(folder: Path) -> dict[str, Said]:
    """All that is done with the other distribution, by name."""
    judged = {
        "explanation_metrics": "words",
        "use_judge": "true",
        "judge_mode": "kind-judge",
        "judge_cache": str(folder / "cache"),
        "judge_model": "j",
    }
    with (
        JudgeServer(lambda request: "yes. So it is.") as polite,
        JudgeServer(lambda request: "The answer is A, since so it is.") as explaining,
        JudgeServer(caller) as calling,
    ):
        judged["judge_base_url"] = explaining.url
        sets = [word for name, value in judged.items() for word in ("--set", f"medexqa.{name}={value}")]
        toybench = ["--tasks", "toybench", "--set", "toybench.politely=true"]
        calls = ["--tasks", "medcalc_bench", "--limit", "2", "--set", "medcalc_bench.add_reverse_tool=true"]
        psychology = ["--tasks", "medexqa_clinical_psychology", "--limit", "4"]
        commands = {
            "benchmark": evaluated(polite, folder / "a", *toybench),
            "again": evaluated(polite, folder / "b", *toybench),
            "misspelt": ["eval", "--tasks", "toybench", "--set", "toybench.politly=true", "--model", "dummy"],
            "command": ["greet", "you"],
            "metric": evaluated(explaining, folder / "metric", *psychology, *sets),
            "tool": evaluated(calling, folder / "tool", *calls),
            "tools": ["tool", "none"],
            "report": ["report", str(folder), "-o", str(folder / "report.html")],
            "compare": ["compare", str(folder / "a"), str(folder / "b"), "--json"],
            "help": ["eval", "--help"],
        }
        found = dict(zip(commands, medtasks(*commands.values(), cwd=folder, **BESIDE), strict=True))
        assert {request["messages"][-1]["content"] for request in polite.requests} >= {"Is snow white? Please."}
        assert "returns a text backwards" in str(calling.requests[-1])
    failed = {name: told for name, told in found.items() if told.code != 2 * (name in ("misspelt", "tools"))}
    assert not failed
    return found


def test_a_fifth_benchmark_runs_and_is_scored(said: dict[str, Said], folder: Path) -> None:
    found = saved_results(folder / "a")
    scores = found["results"]["toybench"]
    assert (scores["acc,strict-match"], scores["answered,strict-match"]) == (0.0, 0.0)
    assert (scores["acc,flexible-extract"], scores["answered,flexible-extract"]) == (0.5, 1.0)
    assert scores["letters,strict-match"] == len("yes. So it is.")
    metadata = found["configs"]["toybench"]["metadata"]
    assert metadata["benchmark"] == "toybench"
    assert "opts:politely=true" in metadata["signature"]["strict-match"]


def test_it_is_in_the_help_the_report_and_the_comparison(said: dict[str, Said], folder: Path) -> None:
    assert "toybench" in said["help"].out and "politely (false)" in said["help"].out
    assert "ToyBench" in (folder / "report.html").read_text(encoding="utf-8")
    comparisons = json.loads(said["compare"].out)["comparisons"]
    assert {line["task"] for line in comparisons} == {"toybench"}
    assert {line["breakdown"] for line in comparisons} == {None, "colour"}


@pytest.mark.slow
def test_the_selfcheck_runs_it(tmp_path: Path) -> None:
    (checked,) = medtasks(["selfcheck", "--limit", "4", "--table"], cwd=tmp_path, **BESIDE)
    assert checked.code == 0 and "toybench" in checked.out, checked


def test_a_misspelt_option_of_it_is_one_clear_line(said: dict[str, Said]) -> None:
    assert "did you mean 'politely'?" in said["misspelt"].errors.splitlines()[-1]


def test_a_metric_a_judge_and_a_command(said: dict[str, Said], folder: Path) -> None:
    assert said["command"].out == "hello you\n"
    scores = saved_results(folder / "metric")["results"]["medexqa_clinical_psychology"]
    right = scores["acc,strict-match"]
    assert 0 < right < 1, "the bundled sample has A among its answers"
    assert scores["explanation,strict-match"] == pytest.approx(99 * right)
    assert 0 < scores["words,strict-match"] < 100


def test_a_tool(said: dict[str, Said], folder: Path) -> None:
    scores = saved_results(folder / "tool")["results"]["medcalc_bench"]
    assert (scores["tool_calls,strict-match"], scores["tool_errors,strict-match"]) == (1.0, 0.0)
    assert "reverse" in said["tools"].errors
