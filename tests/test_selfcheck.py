"""``medtasks selfcheck``: passes on the sample, and fails when any score is off."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from medtasks_utils import selfcheck
from medtasks_utils.__main__ import main
from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.base import Answer
from medtasks_utils.benchmarks.known_answers import BEHAVIOURS
from medtasks_utils.benchmarks.medhallu import benchmark as medhallu
from medtasks_utils.benchmarks.medhallu.benchmark import MedHallu
from medtasks_utils.errors import DataError
from medtasks_utils.results import read_runs
from medtasks_utils.statistics.aggregation import Aggregate


@pytest.fixture(autouse=True)
def _quiet_only_here() -> Iterator[None]:
    """The command silences the harness's log; the other tests read it."""
    logger = logging.getLogger("lm_eval")
    level = logger.level
    yield
    logger.setLevel(level)


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TQDM_DISABLE", "1")  # the command sets it; here it is unset again


@pytest.mark.slow
def test_on_the_sample_every_score_is_as_expected(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["selfcheck", "--table", "-o", "check"]) == 0
    output, progress = capsys.readouterr()
    table, words = output.split("\n\n")
    lines = table.splitlines()
    assert lines[0].split() == ["task", "metric", "filter", "right", "first", "random", "malformed", "unsure"]
    assert "MISS" not in output
    rows = [re.split("  +", line) for line in lines[1:]]
    assert words.startswith(f"all {5 * len(rows)} scores are what they must be") and len(words.splitlines()) <= 10
    assert [line for line in progress.splitlines() if " of 5: answering " in line]
    assert {row[0] for row in rows} >= {"medmcqa_openmed", "medexqa", "medexqa_all", "medcalc_bench", "medhallu"}
    found = {(task, metric): values for task, metric, _, *values in rows}
    for (_, metric), (right, *_, malformed, _) in found.items():
        assert metric not in ("acc", "f1", "recall", "macro_acc") or (right, malformed) == ("1", "0")
    for place, values in {
        ("medcalc_bench_corrected", "acc_unanswerable"): {0: "1", 1: "0", 3: "0", 4: "1"},  # to be unsure is N/A
        ("medcalc_bench_corrected", "na_rate"): {1: "0", 3: "0", 4: "1"},
        ("medhallu", "f1"): {1: "0", 4: "0"},  # the first option is: nothing is ever hallucinated
        ("medhallu", "unsure_rate"): {0: "0", 4: "1"},
        ("medmcqa_openmed", "acc"): {1: "0.25"},
    }.items():
        assert {number: found[place][number] for number in values} == values, place
    assert {run.model for run in read_runs(tmp_path / "check" / "runs")} == set(BEHAVIOURS)
    assert words.splitlines()[-1].startswith("report: ")
    assert "<html" in (tmp_path / "check" / "report.html").read_text(encoding="utf-8")


def wrong_extraction(self: Any, text: str, example: dict[str, Any], options: Any) -> Answer:
    return Answer("0", text)


def largest(self: Aggregate, items: Iterable[float | None]) -> float:
    return max((item for item in items if item is not None), default=0.0)


of_f1 = medhallu.ratios_of


def twice(target: int, predicted: int) -> dict[str, Any]:
    return {**of_f1(target, predicted), "f1": (float(2 * target * predicted), float(2 * target))}


@pytest.mark.parametrize(
    ("owner", "name", "replacement", "blamed"),
    [
        pytest.param(MedHallu, "flexible", wrong_extraction, {"medhallu"}, marks=pytest.mark.slow),
        pytest.param(medhallu, "ratios_of", twice, {"medhallu"}, marks=pytest.mark.slow),
        (Aggregate, "__call__", largest, {"medmcqa_openmed", "medexqa", "medhallu"}),
    ],
    ids=["an extraction", "F1", "an aggregation"],
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
    misses = re.findall(r"^MISS: (\S+) (\S+) (\S+) on (\S+) answers: (\S+), expected (\S+)$", output, re.MULTILINE)
    assert {re.sub("medexqa_.*", "medexqa", miss[0]) for miss in misses} == blamed
    assert output.startswith(f"{len(misses)} of ")


def test_a_directory_without_data_is_one_line_and_exit_code_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["selfcheck", "--data", str(tmp_path / "nowhere")]) == 1
    errors = capsys.readouterr().err.splitlines()
    assert len([line for line in errors if line.startswith("medtasks: error: ")]) == 1
    assert str(tmp_path / "nowhere") in errors[-1]
    assert "Traceback" not in "".join(errors)


# ---- the server


@pytest.mark.slow
def test_the_data_directory_is_the_one_given(shared: Path) -> None:
    checked = selfcheck.run(str(shared / "data"), limit=3)
    assert (checked.missed, checked.answers) == ([], 150)
    with pytest.raises(DataError):
        selfcheck.run(str(shared), limit=3)
