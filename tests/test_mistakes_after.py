"""Mistakes with what is there after a run: extract, report, compare, publish, rescore; nothing is ignored."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import evaluate
from saved_runs import save_run

from medtasks_utils import __main__ as cli
from medtasks_utils.report.short import as_text, lines_of
from medtasks_utils.results import as_run

RESCORE = ["rescore", "--input_glob", "x", "--out_csv_prefix", "y"]
PLAN = ["compare", "--plan", "3", "--discordance", "0.2"]


@pytest.fixture
def cut_short(tmp_path: Path) -> Path:
    """A run whose log ends in the middle of its second sample."""
    save_run(tmp_path / "run", tasks="medhallu", limit=4)
    (log,) = tmp_path.rglob("samples_*.jsonl")
    lines = log.read_text().splitlines()
    log.write_text("\n".join([*lines[:2], lines[2][:200]]))
    return tmp_path / "run"


def main(*arguments: str) -> int:
    try:
        return cli.main(arguments)
    except SystemExit as exit:
        return int(exit.code or 0)


def test_a_log_that_is_cut_short_is_said(cut_short: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main("extract", "--task", "medhallu", str(cut_short)) == 0
    output, errors = capsys.readouterr()
    assert len(output.splitlines()) == 6
    assert re.search(r"^warning: .*samples_medhallu\S* ?.*$", errors, re.MULTILINE)
    assert "warning: model: medhallu: 2 of 4 samples are in its log" in errors


def test_what_the_page_warns_of_is_said_on_standard_error(
    cut_short: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main("report", str(cut_short), "-o", str(tmp_path / "page.html"), "--json") == 0
    output, errors = capsys.readouterr()
    problems = json.loads(output)["problems"]
    assert problems and [f"warning: {problem}" for problem in problems] == [
        line for line in errors.splitlines() if line.startswith("warning: ")
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["extract", "--task", "medhallu", "--kind", "date"], "--kind is of MedCalc-Bench, and medhallu is not"),
        (["extract", "--task", "medcalc_bench", "--kind", "date", "--row", "1"], "--kind goes without --row"),
        (["extract", "--task", "medcalc_bench", "--row", "1", "run"], "--row goes with text on standard input"),
        ([*PLAN, "--task", "foo"], "--task: of no use to --plan"),
        ([*PLAN, "--force", "--common"], "--common, --force: of no use to --plan"),
        (["compare", "a", "b", "--plan", "3", "--show", "2"], "--show: of no use to --plan"),
        ([*RESCORE, "--judge", "geval", "--use_coverage"], "--use_coverage is of FActScore: add --judge factscore"),
        ([*RESCORE, "--judge", "geval", "--max_tokens", "many"], "'many' is not a whole number of 1 or more"),
        ([*RESCORE, "--judge", "geval", "--concurrency", "0"], "'0' is not a whole number of 1 or more"),
        (["publish", "run", "--model_repo", "org/na me"], "--model_repo: Repo id must use .*'org/na me'"),
        (["publish", "run", "--model_repo", "../x"], "--model_repo: Repo id must"),
        (["publish", "run", "--model_repo", "name"], "--model_repo takes ORG/NAME, not 'name'"),
    ],
)
def test_what_would_be_ignored_is_wrong_usage(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(*arguments) == 2
    output, errors = capsys.readouterr()
    assert output == "" and errors.count("\n") == 1
    assert re.search(message, errors)


def test_metrics_that_no_run_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in "ab":
        save_run(tmp_path / name, tasks="medhallu", limit=4)
    runs = [str(tmp_path / name) for name in "ab"]
    assert main("compare", *runs, "--metric", "acc", "--metric", "bogus") == 1
    assert re.search("neither run has a metric bogus; there are .*acc", capsys.readouterr().err)


def test_the_sample_is_not_said_to_be_publishable(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in "ab":
        save_run(tmp_path / name, tasks="medhallu", limit=4)
    assert main("publish", str(tmp_path / "a"), "--model_repo", "org/name") == 1
    assert capsys.readouterr().err.endswith("the rows are the bundled sample\n")
    assert main("publish", str(tmp_path), "--model_repo", "org/name") == 1
    assert "holds 2 runs, and one is needed; name a file: " in capsys.readouterr().err


def test_an_interval_that_cannot_be_given_is_marked() -> None:
    results = evaluate("medhallu", lambda doc: "\\boxed{2}", limit=4)
    text = as_text(lines_of(as_run(results, Path("run"))), 120)
    assert "0.0 (–)" in text
    assert text.endswith("(–) no interval: the examples that count are too few, or too much alike, for one")
    results = evaluate("medmcqa_openmed")
    assert "(–)" not in as_text(lines_of(as_run(results, Path("run"))), 120)
