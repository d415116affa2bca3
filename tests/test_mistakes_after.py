"""Mistakes with what is there after a run: extract, report, compare, publish, rescore; nothing is ignored."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import table
from saved_runs import save_run

from medtasks_utils import __main__ as cli


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


@pytest.mark.parametrize(("arguments", "message"), table("mistakes_after"))
def test_what_would_be_ignored_is_wrong_usage(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(*arguments) == 2
    output, errors = capsys.readouterr()
    assert output == "" and errors.count("\n") == 1
    assert re.search(message, errors)
