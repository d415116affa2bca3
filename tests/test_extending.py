"""A benchmark, a metric, a judge, a tool and a command from another distribution: no file of this one is touched."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, clean_environment, saved_results
from judge_server import JudgeServer

TOY = ROOT / "tests" / "toy"


def medtasks(*arguments: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command line with the other distribution installed beside this one."""
    paths = f"{TOY}:{ROOT}"
    return subprocess.run(
        [sys.executable, "-m", "medtasks_utils.__main__", *map(str, arguments)],
        cwd=cwd,
        env=clean_environment({"PYTHONPATH": paths, "TQDM_DISABLE": "1", **environment}),
        capture_output=True,
        text=True,
        timeout=300,
    )


def evaluated(server: JudgeServer, folder: Path, *more: str) -> dict[str, Any]:
    """What a run of a model behind a server saves."""
    done = medtasks(
        *("eval", "--data", "sample", "--model", "local-chat-completions", "--apply_chat_template", "--log_samples"),
        *("--model_args", f"model={folder.name},base_url={server.chat}", "--output_path", str(folder), *more),
        cwd=folder.parent,
        OPENAI_API_KEY="none",
    )
    assert done.returncode == 0, done.stderr
    return saved_results(folder)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the toy benchmark by a server that answers ``yes.``"""
    folder = tmp_path_factory.mktemp("toy")
    with JudgeServer(lambda request: "yes. So it is.") as server:
        for model in ("a", "b"):
            evaluated(server, folder / model, "--tasks", "toybench", "--set", "toybench.politely=true")
        assert {request["messages"][-1]["content"] for request in server.requests} >= {"Is snow white? Please."}
    return folder


def test_a_fifth_benchmark_runs_and_is_scored(results: Path) -> None:
    found = saved_results(results / "a")
    scores = found["results"]["toybench"]
    assert (scores["acc,strict-match"], scores["answered,strict-match"]) == (0.0, 0.0)
    assert (scores["acc,flexible-extract"], scores["answered,flexible-extract"]) == (0.5, 1.0)
    assert scores["letters,strict-match"] == len("yes. So it is.")
    metadata = found["configs"]["toybench"]["metadata"]
    assert metadata["benchmark"] == "toybench"
    assert "opts:politely=true" in metadata["signature"]["strict-match"]


@pytest.mark.slow
def test_it_is_in_the_help_the_selfcheck_the_report_and_the_comparison(results: Path, tmp_path: Path) -> None:
    shown = medtasks("eval", "--help", cwd=tmp_path).stdout
    assert "toybench" in shown and "politely (false)" in shown
    checked = medtasks("selfcheck", "--limit", "4", "--table", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "toybench" in checked.stdout
    report = medtasks("report", results, "-o", tmp_path / "report.html", cwd=tmp_path)
    assert report.returncode == 0, report.stderr
    assert "ToyBench" in (tmp_path / "report.html").read_text(encoding="utf-8")
    compared = medtasks("compare", results / "a", results / "b", "--json", cwd=tmp_path)
    assert compared.returncode == 0, compared.stderr
    comparisons = json.loads(compared.stdout)["comparisons"]
    assert {line["task"] for line in comparisons} == {"toybench"}
    assert {line["breakdown"] for line in comparisons} == {None, "colour"}


def test_a_misspelt_option_of_it_is_one_clear_line(tmp_path: Path) -> None:
    done = medtasks("eval", "--tasks", "toybench", "--set", "toybench.politly=true", "--model", "dummy", cwd=tmp_path)
    assert done.returncode == 2
    assert "did you mean 'politely'?" in done.stderr.splitlines()[-1]


def test_a_metric_a_judge_and_a_command(tmp_path: Path) -> None:
    assert medtasks("greet", "you", cwd=tmp_path).stdout == "hello you\n"
    with JudgeServer(lambda request: "The answer is A, since so it is.") as server:
        settings = {
            "explanation_metrics": "words",
            "use_judge": "true",
            "judge_mode": "kind-judge",
            "judge_base_url": server.url,
            "judge_cache": str(tmp_path / "cache"),
            "judge_model": "j",
        }
        given = [word for name, value in settings.items() for word in ("--set", f"medexqa.{name}={value}")]
        saved = evaluated(server, tmp_path / "run", "--tasks", "medexqa_clinical_psychology", "--limit", "4", *given)
    scores = saved["results"]["medexqa_clinical_psychology"]
    right = scores["acc,strict-match"]
    assert 0 < right < 1, "the bundled sample has A among its answers"
    assert scores["explanation,strict-match"] == pytest.approx(99 * right)
    assert 0 < scores["words,strict-match"] < 100


def test_a_tool(tmp_path: Path) -> None:
    def caller(request: dict[str, Any]) -> str:
        said = " ".join(message["content"] for message in request["messages"])
        called = '<tool_call>{"name": "reverse", "arguments": {"text": "cba"}}</tool_call>'
        return "<answer>1</answer>" if "abc" in said.rpartition("<tool_response>")[2] else called

    with JudgeServer(caller) as server:
        words = ["--tasks", "medcalc_bench", "--limit", "2", "--set", "medcalc_bench.add_reverse_tool=true"]
        saved = evaluated(server, tmp_path / "run", *words)
        assert "returns a text backwards" in str(server.requests[-1])
    scores = saved["results"]["medcalc_bench"]
    assert (scores["tool_calls,strict-match"], scores["tool_errors,strict-match"]) == (1.0, 0.0)
    assert "reverse" in medtasks("tool", "none", cwd=tmp_path).stderr
