"""A benchmark, a metric, a judge, a tool and a command from another distribution: no file of this one is touched."""

import json
import re
import shutil
import subprocess
import sys
from typing import Any

import pytest
from commanding import clean_environment, medtasks
from given import ROOT, csv_rows, table
from judge_server import JudgeServer
from running import saved_results
from saved_runs import drawn
from scripts import whole

TOY = ROOT / "tests" / "toy"


BESIDE = {"PYTHONPATH": f"{TOY}:{ROOT}"}
"""The environment that has the other distribution installed beside this one."""

RESPONSES = table("toy_responses")
"""Questions with what a model says, what a careful reader reads in it, and what a judge makes of it: right in a box,
right without one, abstaining, wrong, abstaining rightly, and no answer."""


def response_to(request: dict[str, Any]) -> Any:
    asked = request["messages"][-1]["content"]
    return next(response for question, response, *_ in RESPONSES if asked.startswith(question))


def auditor(request: dict[str, Any]) -> str:
    """A careful reader, of the question that it is shown."""
    text = whole(request["messages"])
    if '"ready"' in text:
        return '{"ready": true}'
    assert "one of: yes, no, maybe" in text
    return next(f"STATED: {stated}" for question, _, stated, _ in RESPONSES if question in text)


def caller(request: dict[str, Any]) -> str:
    said = " ".join(message["content"] for message in request["messages"])
    called = '<tool_call>{"name": "reverse", "arguments": {"text": "cba"}}</tool_call>'
    return "<answer>1</answer>" if "abc" in said.rpartition("<tool_response>")[2] else called


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("toy")


@pytest.fixture(scope="module")
def said(folder):
    """What the commands of the table say, by name, each with the exit code that it has there."""
    with (
        JudgeServer(response_to) as answering,
        JudgeServer(auditor) as reading,
        JudgeServer() as judging,
        JudgeServer(lambda request: "The answer is A, since so it is.") as explaining,
        JudgeServer(caller) as calling,
    ):
        servers = {"answering": answering, "reading": reading, "judging": judging, "explaining": explaining}
        places = {**servers, "calling": calling, "toy": TOY}
        names, codes, commands = zip(*table("commands_beside"), strict=True)
        words = [[word.format(**places) for word in command.split()] for command in commands]
        found = dict(zip(names, medtasks(*words, cwd=folder, **BESIDE), strict=True))
        asked_of_model = {request["messages"][-1]["content"] for request in answering.requests}
        assert any(text.startswith("Is snow white? Please. End with") for text in asked_of_model)
        assert "returns a text backwards" in str(calling.requests[-1])
    failed = {name: told for (name, told), code in zip(found.items(), codes, strict=True) if told.code != code}
    assert not failed
    return found


# ---- a benchmark


def test_a_fifth_benchmark_runs_and_is_scored(said, folder):
    found = saved_results(folder / "a")
    scores = found["results"]["toybench"]
    for name, expected in (
        ("strict-match", [2 / 6, 3 / 6, 1 / 6, 1 / 2]),
        ("flexible-extract", [3 / 6, 5 / 6, 2 / 6, 2 / 3]),
    ):
        metrics = ("acc", "answered", "maybe_rate", "acc_decided")
        assert [scores[f"{metric},{name}"] for metric in metrics] == pytest.approx(expected)
    assert scores["acc_decided_stderr,strict-match"] > 0
    metadata = found["configs"]["toybench"]["metadata"]
    assert metadata["benchmark"] == "toybench"
    assert "opts:politely=true" in metadata["signature"]["strict-match"]


def test_a_fifth_benchmark_is_in_the_help_the_report_and_the_comparison(said, folder):
    assert "toybench" in said["help"].out and "politely (false)" in said["help"].out
    assert "did you mean 'politely'?" in said["misspelt"].errors.splitlines()[-1]
    page = drawn((folder / "report.html").read_text())
    assert "ToyBench" in page and "decided: yes or no" in page and "says maybe decides nothing." in page
    assert "F1 of decided answers" not in page, "MedHallu's own table"
    comparisons = json.loads(said["compare"].out)["comparisons"]
    assert {line["task"] for line in comparisons} == {"toybench"}
    assert {line["metric"] for line in comparisons if line["breakdown"] is None} == {"acc_decided", "acc"}
    assert {line["group"] for line in comparisons if line["breakdown"] == "colour"} == {"white", "green", "black"}


def test_an_auditor_is_asked_for_its_answers_and_readings_are_compared(said):
    (audit,) = json.loads(said["audit"].out)
    found = [[own["missed"]["value"], own["accuracy"]] for own in audit["filters"].values()]
    assert found == [pytest.approx([2 / 6, 2 / 6]), pytest.approx([0.0, 3 / 6])]
    assert audit["accuracy_as_read"]["value"] == pytest.approx(3 / 6)


def test_readings_are_shown_with_their_evidence(said):
    told = said["extract"].out
    assert "strict-match: [invalid] (none)\n  flexible-extract: no (statement)" in told
    assert "answer +70" in told and "therefore +60" in told


def test_explanations_of_a_fifth_benchmark_are_judged(said, folder):
    rows = csv_rows(folder / "judged_geval.csv")
    assert {row["question"]: row["status"] for row in rows} == {question: status for question, *_, status in RESPONSES}
    assert {(row["A"], row["B"], row["C"], row["D"]) for row in rows} == {("yes", "no", "maybe", "")}


@pytest.mark.slow
def test_the_selfcheck_runs_a_fifth_benchmark(tmp_path):
    (checked,) = medtasks(["selfcheck", "--limit", "4", "--table"], cwd=tmp_path, **BESIDE)
    assert checked.code == 0 and "toybench" in checked.out, checked


# ---- a metric, a judge, a tool and a command


def test_a_metric_a_judge_and_a_command_of_another_distribution_are_used(said, folder):
    assert said["command"].out == said["replaced"].out == "hello you\n"
    scores = saved_results(folder / "metric")["results"]["medexqa_clinical_psychology"]
    assert scores["acc,strict-match"] == 1 / 4, "one of four answers in the sample is A"
    assert scores["explanation,strict-match"] == pytest.approx(99 / 4)
    assert scores["words,strict-match"] == pytest.approx(100 * 2 / 8 / 4), "two of its eight words"


def test_a_tool_of_another_distribution_is_called_and_counted(said, folder):
    scores = saved_results(folder / "tool")["results"]["medcalc_bench"]
    assert (scores["tool_calls,strict-match"], scores["tool_errors,strict-match"]) == (1.0, 0.0)
    assert "reverse" in said["tools"].errors


# ---- the benchmark that CONTRIBUTING.md leads through


@pytest.fixture(scope="module")
def guided(tmp_path_factory):
    """A copy of the package with the files that the guide shows, each in a block below the line that names it."""
    folder = tmp_path_factory.mktemp("guided")
    for name in ("medtasks_utils", "tasks"):
        shutil.copytree(ROOT / name, folder / name, symlinks=True)
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    files = dict(re.findall(r"^`([\w/.]+/pubmedqa/[\w.]+)`.*?```\w+\n(.*?)```", guide, re.MULTILINE | re.DOTALL))
    assert [len(files[name].splitlines()) <= most for name, most in zip(files, (50, 18), strict=False)] == [True, True]
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "medtasks_utils/benchmarks/pubmedqa/__init__.py").touch()
    return folder


def test_a_benchmark_of_boxes_is_read_alike_under_both_filters(guided):
    words = [sys.executable, "-m", "medtasks_utils", "extract", "--task", "pubmedqa"]
    environment = clean_environment({"PYTHONPATH": str(guided)})
    for text, read in ((r"So \boxed{Yes}", "yes (box)"), ("Yes.", "[invalid] (none)")):
        told = subprocess.run(words, input=text, env=environment, cwd=guided, capture_output=True, text=True)
        assert told.stdout.splitlines() == [f"strict-match: {read}", f"flexible-extract: {read}"], told.stderr


@pytest.mark.slow
def test_the_selfcheck_runs_the_benchmark_of_the_guide(guided):
    (checked,) = medtasks(["selfcheck", "--limit", "3", "--table"], cwd=guided, PYTHONPATH=str(guided))
    assert checked.code == 0 and "pubmedqa" in checked.out, checked
