"""The audit of the reading: what the LLM is asked, how its line is read, and whether the estimates cover the truth."""

import asyncio
import json
import re
from collections import Counter
from operator import itemgetter
from pathlib import Path

import numpy as np
import pytest
import scipy
from commanding import exit_code, one_line
from given import GENERATION_TASKS, each_row, table
from judge_server import faulty
from judging_cases import no_keys_and_no_waits
from local_server import HANG_UP, Fault, LocalServer
from places import as_its_row_says, at
from saved_runs import edit_lines, right_in, sample_file, save_run
from scripts import draw, whole

from medtasks_utils.audit.auditor import Auditor, Item
from medtasks_utils.audit.estimate import estimated
from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.extraction.think import final_text
from medtasks_utils.results import Sample, read_runs
from medtasks_utils.results.runs import audit_file

__all__ = ["no_keys_and_no_waits"]


test_a_function_of_the_audit_returns_what_its_row_says = as_its_row_says("functions_of_audit")


def share(found, read, responses):
    """The estimate of a share of responses, of which some are found among those that are read."""
    return estimated({"": Counter(found=found, read=read, responses=responses)}, "found")


def test_the_interval_of_an_audit_covers_the_true_share_if_most_responses_are_read():
    """Summed exactly for 200 of 294; the interval of Wilson covers some shares in 88.6 %."""
    shares = [share(found, 200, 294) for found in range(201)]
    low, high = (294 * np.array([each[end] for each in shares]) for end in ("low", "high"))
    for of_all in range(295):
        covered = (low - 1e-6 <= of_all) & (of_all <= high + 1e-6)
        assert scipy.stats.hypergeom(294, of_all, 200).pmf(np.arange(201))[covered].sum() >= 0.93


# ---- the line


def audited(kind, reply, response="So."):
    """What the auditor reads in the LLM's reply about an answer of a kind, and what it asked."""
    names = {"letter": "medmcqa", "verdict": "medhallu"}
    (example,) = table("audited_example")
    example |= {"judgement": kind, "labels": "physicians" if kind == "days" else ""}
    sample = Sample(0, "", example, [], [response], "")
    asked = []

    async def ask(messages, read, schema=None):
        asked.append(whole(messages))
        return read(reply)

    case = Item(benchmarks()[names.get(kind, "medcalc_bench")](), sample, 0)
    return asyncio.run(Auditor().judge(case, ask)).output["stated"], asked[0]


@each_row("audit_lines")
def test_an_auditor_s_reply_is_read_in_the_requested_form_only(kind, reply, read):
    assert at([[kind, reply], 0], read, audited) == read


@pytest.mark.parametrize("more", [0, 1])
def test_of_a_long_response_the_auditor_sees_the_end(more):
    response = "A" * more + "B" * 12_000
    _, asked = audited("letter", "STATED: B", f"<think>A?</think> {response} ")
    assert f"\n{'[…] ' * more}{'B' * 12_000}\n" in asked
    assert "[invalid]" not in asked


# ---- a run


def reads(request):
    """A perfect reader of the responses below, which checks that it is told nothing that it must not know."""
    text = whole(request["messages"])
    if '"ready"' in text:
        return '{"ready": true}'
    said = re.findall(r"<response>\n(.+?)\n</response>", text, re.DOTALL)[-1]
    found = re.search(r"\\boxed\{(.)\}|answer is (.)\.|<answer>(.*)</answer>", said)
    return f"STATED: {next(group for group in found.groups() if group)}" if found else "STATED: none"


def is_misread(request):
    text = whole(request["messages"])
    return '"ready"' not in text and draw(text).random() < 0.3


@pytest.fixture
def server():
    with LocalServer(reads) as server:
        yield server


@pytest.fixture
def audit(tmp_path, server):
    """The command on the test's run, with an LLM behind the server."""

    def run(*flags):
        words = ["audit", tmp_path / "run", "--model", "m", "--base", server.url]
        return exit_code([*words, "--cache", f"{tmp_path}/new/folder/c", *flags])

    return run


def test_an_audit_estimates_the_share_of_wrong_readings_from_those_that_are_drawn(tmp_path, server, audit):
    path = sample_file(save_run(tmp_path / "run", tasks="medhallu"), "medhallu")
    server.answer = lambda request: re.sub("[01]$", "2", str(reads(request))) if is_misread(request) else reads(request)
    for _ in range(2):
        assert audit("--sample", "10") == 0
        assert len(server.requests) == 1 + 10, "nothing is asked twice"
    assert [run.model for run in read_runs([tmp_path / "run"])] == ["org/model"], "the audit's file is no run"
    found = json.loads(audit_file(path).read_text())
    drawn = [row["doc_id"] for row in found["readings"]]
    assert len({*drawn}) == 10 and max(drawn) > 15  # not the first
    differ = [row for row in found["readings"] if row["differs"]]
    assert 0 < len(differ) == sum(map(is_misread, server.requests))
    for rates in found["filters"].values():
        assert rates["misread"] == share(len(differ), 10, 28) and rates["missed"]["value"] == 0


def test_the_file_of_an_audit_has_each_reading_and_what_follows_from_all(tmp_path, server, audit):
    """The table has two replies to each of four questions with what the LLM says of them, and then the file.

    The first question was shown with its choices in another order at first. A mark says nothing of two responses.
    """
    replies, expected = table("whole_audit")
    texts, says = iter(reply for reply, _ in replies), {reply.strip(): line for reply, line in replies}
    options = {"medmcqa": {"repeats": 2}}
    results = save_run(tmp_path / "run", lambda doc: next(texts), "medmcqa_openmed", metadata=options, limit=4)
    path = sample_file(results, "medmcqa_openmed")
    orders = b'"doc_id": 0, "shown_as": ["DCBA", "ABCD"]'
    edit_lines(path, lambda lines: [line.replace(b'"doc_id": 0', orders) for line in lines])
    length = len(replies[0][0])
    (tmp_path / "marks.csv").write_text(f"run,task,id,length,states\nmodel,medmcqa_openmed,0,{length},D\n")
    server.answer = lambda request: next(
        (line for reply, line in says.items() if reply and f"\n{final_text(reply)}\n</" in whole(request["messages"])),
        '{"ready": true}',
    )
    assert audit("--marks", tmp_path / "marks.csv", "--task", "medmcqa_openmed") == 0
    found = json.loads(audit_file(path).read_text())
    found["readings"].sort(key=itemgetter("doc_id", "generation"))
    assert found == {"run": "model", "signature": f"{Auditor.signature}|model:m", **expected}


def test_the_readings_of_a_person_stand_beside_the_llm_s(tmp_path, server, audit, capsys):
    """Of five replies that say A the LLM reads none in one; a mark may be empty, or of an older response."""
    results = save_run(tmp_path / "run", lambda doc: f"\\boxed{{A}} {doc['id']}", "medmcqa_openmed", limit=5)
    path = sample_file(results, "medmcqa_openmed")
    texts = [sample.responses[0] for sample in read_runs([tmp_path / "run"])[0].tasks["medmcqa_openmed"].samples]
    rows = ["run,task,id,length,mark,states,note", f"model,medhallu,0,{len(texts[0])},reading wrong,none,"]
    for number, states in enumerate(["'A", "none", "", "A", "A"]):
        length = len(texts[number]) + (number == 4)
        rows.append(f"model,medmcqa_openmed,{number},{length},reading wrong,{states},")
    (tmp_path / "marks.csv").write_text("\ufeff" + "\r\n".join(rows))
    server.answer = lambda request: "?" if texts[3] in whole(request["messages"]) else reads(request)
    assert audit("--marks", tmp_path / "marks.csv") == 0
    assert audit("--marks", path) == 2
    printed = capsys.readouterr()
    assert "the LLM read the same answer as a person in 1 of 2 marked responses" in printed.out
    problem = f"--marks {path} is not a CSV file of marks saved by the report's page (it has no 'run')"
    assert one_line(printed.err[-len(problem) - 40 :]) == problem
    found = json.loads(audit_file(path).read_text())["readings"]
    marks = {row["doc_id"]: (row["person"], row["person_agrees"]) for row in found}
    assert marks == {0: ("A", True), 1: ("none", False), 2: (None, None), 3: ("A", None), 4: (None, None)}


def test_an_audit_of_all_benchmarks_counts_the_replies_that_fail(tmp_path, server, audit, capsys):
    results = save_run(tmp_path / "run", right_in(0.6))
    failures = ("The response states C.", Fault(400), Fault(401))
    server.answer = faulty([(0.04, failure) for failure in failures], reads)
    assert audit("--json", "--doubtful", "1", "--sample", "2") == 0
    for each in json.loads(capsys.readouterr().out):
        assert [stratum["drawn"] for stratum in each["strata"].values()] == [1, 2]
    assert audit("--json", "--max_retries", "0") == 0
    audits = {each.pop("path"): each for each in json.loads(capsys.readouterr().out)}
    assert {str(audit_file(sample_file(results, task))) for task in GENERATION_TASKS} == audits.keys()
    kinds = Counter[str]()
    for path, each in audits.items():
        assert json.loads(Path(path).read_text()) == each
        failed = Counter(row["failure"] for row in each["readings"] if row["stated"] is None)
        kinds += failed
        assert each["responses"] - failed.total() == sum(stratum["read"] for stratum in each["strata"].values())
    assert kinds["http_400"] and kinds["unreadable"]


def test_an_unknown_task_no_server_or_no_label_ends_an_audit_in_one_line(tmp_path, server, audit, capsys):
    path = sample_file(save_run(tmp_path / "run", tasks=["medmcqa_openmed", "medhallu"], limit=5), "medmcqa_openmed")
    assert audit("--task", "medmcqa_openmd") == 1
    assert "nothing to audit in the task medmcqa_openmd: name runs" in capsys.readouterr().err.splitlines()[-1]
    server.answer = lambda body: HANG_UP
    assert audit() == 1
    assert len(server.requests) == 3
    assert "is the server running" in capsys.readouterr().err.splitlines()[-1]
    edit_lines(path, lambda lines: [line.replace(b'"answer_letter"', b'"letter"') for line in lines] + [b"{"])
    assert audit("--task", "medmcqa_openmed") == 1
    problem = "nothing to audit in the task medmcqa_openmed: name runs of this package's generation tasks, saved with "
    said = capsys.readouterr().err
    assert f"{problem}--log_samples; {path.name}: " in said, "no response has a label, and a line is damaged"
