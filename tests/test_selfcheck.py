"""``medtasks selfcheck``: passes on the sample, and fails when any score is off."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from medtasks_utils.__main__ import main
from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.base import Answer
from medtasks_utils.statistics.aggregation import Aggregate


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TQDM_DISABLE", "1")  # the command sets it; here it is unset again


def largest(self: Aggregate, items: Iterable[float | None]) -> float:
    return max((item for item in items if item is not None), default=0.0)


def unread(self: Any, text: str, example: Any, options: Any) -> Answer:
    return Answer(None, text)


@pytest.mark.parametrize(
    ("owner", "name", "replacement", "blamed"),
    [
        pytest.param(type(benchmarks()["medhallu"]), "strict", unread, {"medhallu"}, marks=pytest.mark.slow),
        (Aggregate, "__call__", largest, {"medmcqa_openmed", "medexqa", "medhallu"}),
    ],
    ids=["a reading", "an aggregation"],
)
def test_a_score_that_is_off_is_a_miss(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    owner: Any,
    name: str,
    replacement: Any,
    blamed: set[str],
) -> None:
    few = {name: benchmark for name, benchmark in benchmarks().items() if name != "medcalc_bench"}
    monkeypatch.setattr(type(few["medexqa"]), "checked_tasks", ("medexqa",))
    monkeypatch.setattr("medtasks_utils.selfcheck.check.benchmarks", lambda: few)
    monkeypatch.setattr(owner, name, replacement)
    assert main(["selfcheck", "--limit", "4"]) == 1
    output = capsys.readouterr().out
    filters = r"(?:strict-match|flexible-extract|none)"
    misses = re.findall(rf"^(\S+) +(\S+) +({filters}) +(\S+) +(\S+) +(\S+)$", output, re.MULTILINE)
    assert {re.sub("medexqa_.*", "medexqa", miss[0]) for miss in misses} == blamed
    assert output.startswith(f"{len(misses)} of ")
