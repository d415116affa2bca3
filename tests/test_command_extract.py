"""``medtasks extract``: answers read by hand, and the evidence for them."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from saved_runs import save_run

from medtasks_utils import __main__ as cli


def extract(monkeypatch: pytest.MonkeyPatch, text: str, *arguments: str) -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    return cli.main(["extract", *arguments])


def test_both_filters_say_what_they_read_and_how(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert extract(monkeypatch, "The answer is C.", "--task", "medmcqa_openmed") == 0
    assert capsys.readouterr().out == "strict-match: [invalid] (none)\nflexible-extract: C (letter)\n"


def test_candidates_are_shown_with_their_evidence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "The total is 4 points (5-9: high risk). Wait, age counts double: the total is 5 points."
    assert extract(monkeypatch, text, "--task", "medcalc_bench", "--kind", "integer", "--explain") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "flexible-extract: 5.0 (statement)"
    candidates = [line.split()[1] for line in lines[2:] if "…" in line]
    assert {"4.0", "5.0"} <= set(candidates)
    assert any("-" in line.split("…")[0] for line in lines[2:]), "evidence against one of them"
    assert "range" in next(line for line in lines if "  9.0  " in line)


def test_saved_samples_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_run(tmp_path, tasks="medhallu", limit=2)
    assert cli.main(["extract", "--task", "medhallu", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 6
    assert lines[0].endswith("medhallu 0, right: 0")
    assert cli.main(["extract", "--task", "medmcqa_openmed", str(tmp_path)]) == 2
    capsys.readouterr()
    assert cli.main(["extract", "--task", "medcalcbench"]) == 2
    error = capsys.readouterr().err
    assert "medcalcbench" in error and error.count("\n") == 1


@pytest.mark.parametrize("arguments", [["--task", "medtasks"], ["--task", "mmlu"], ["--task", "medexqa_logits"]])
def test_wrong_usage_is_one_line(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert extract(monkeypatch, "1", *arguments) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
