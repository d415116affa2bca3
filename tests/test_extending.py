"""A benchmark, a metric, a judge, a tool and a command from another distribution: no file of this one is touched."""

import json
import re
import shutil

import pytest
from commanding import medtasks
from given import ROOT, csv_rows, each_row, table
from judge_server import JudgeServer
from places import at
from running import saved_results
from saved_runs import drawn
from scripts import whole

TOY = ROOT / "tests" / "toy"


BESIDE = {"PYTHONPATH": f"{TOY}:{ROOT}"}
"""The environment that has the other distribution installed beside this one."""

RESPONSES = table("toy_responses")
"""Questions with what a model says, what a careful reader reads in it, and what a judge makes of it: right in a box,
right without one, abstaining, wrong, abstaining rightly, and no answer."""


def response_to(request):
    asked = request["messages"][-1]["content"]
    return next(response for question, response, *_ in RESPONSES if asked.startswith(question))


def auditor(request):
    """A careful reader, of the question that it is shown."""
    text = whole(request["messages"])
    if '"ready"' in text:
        return '{"ready": true}'
    assert "one of: yes, no, maybe" in text
    return next(f"STATED: {stated}" for question, _, stated, _ in RESPONSES if question in text)


def caller(request):
    said = " ".join(message["content"] for message in request["messages"])
    called = '<tool_call>{"name": "reverse", "arguments": {"text": "cba"}}</tool_call>'
    return "<answer>1</answer>" if "abc" in said.rpartition("<tool_response>")[2] else called


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("toy")


@pytest.fixture(scope="module")
def said(folder):
    """What the commands of the table say, by name."""
    with (
        JudgeServer(response_to) as answering,
        JudgeServer(auditor) as reading,
        JudgeServer() as judging,
        JudgeServer(lambda request: "The answer is A, since so it is.") as explaining,
        JudgeServer(caller) as calling,
    ):
        servers = {"answering": answering, "reading": reading, "judging": judging, "explaining": explaining}
        places = {**servers, "calling": calling, "toy": TOY}
        names, _, commands, _ = zip(*table("commands_beside"), strict=True)
        words = [[word.format(**places) for word in command.split()] for command in commands]
        found = dict(zip(names, medtasks(*words, cwd=folder, **BESIDE), strict=True))
        asked_of_model = {request["messages"][-1]["content"] for request in answering.requests}
        assert any(text.startswith("Is snow white? Please. End with") for text in asked_of_model)
        assert "returns a text backwards" in str(calling.requests[-1])
    return found


@each_row("commands_beside")
def test_a_command_ends_and_speaks_with_what_the_other_distribution_adds(name, code, command, says, said):
    told = said[name]
    assert told.code == code, told
    assert [text for text in says if text not in told.out + told.errors] == []


@pytest.fixture(scope="module")
def made(said, folder):
    """What the commands have saved, by run, and what they have printed, by command."""
    results = {run: saved_results(folder / run) for run in ("a", "metric", "tool")}
    printed = {name: json.loads(said[name].out) for name in ("compare", "audit")}
    page, judged = drawn((folder / "report.html").read_text()), csv_rows(folder / "judged_geval.csv")
    return {**results, **printed, "page": page, "judged": judged}


@each_row("made_beside")
def test_what_the_other_distribution_adds_is_in_what_commands_make(name, place, expected, made):
    assert at(place, expected, made) == expected


@pytest.mark.slow
def test_the_selfcheck_runs_a_fifth_benchmark(tmp_path):
    (checked,) = medtasks(["selfcheck", "--limit", "4", "--table"], cwd=tmp_path, **BESIDE)
    assert checked.code == 0 and "toybench" in checked.out, checked


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


def test_the_guide_s_first_command_reads_a_box_under_both_filters(guided):
    first = "import io, sys\nsys.stdin = io.StringIO('So \\\\boxed{Yes}')"
    (told,) = medtasks(["extract", "--task", "pubmedqa"], cwd=guided, first=first, PYTHONPATH=str(guided))
    assert told.out.splitlines() == ["strict-match: yes (box)", "flexible-extract: yes (box)"], told.errors


@pytest.mark.slow
def test_the_selfcheck_runs_the_benchmark_of_the_guide(guided):
    (checked,) = medtasks(["selfcheck", "--limit", "3", "--table"], cwd=guided, PYTHONPATH=str(guided))
    assert checked.code == 0 and "pubmedqa" in checked.out, checked
