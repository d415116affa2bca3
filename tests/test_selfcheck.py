"""``medtasks selfcheck``: passes on the sample, and fails when any score is off."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import load

from medtasks_utils import selfcheck
from medtasks_utils.__main__ import main
from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.base import Answer, Scores
from medtasks_utils.benchmarks.known_answers import BEHAVIOURS
from medtasks_utils.benchmarks.medhallu import benchmark as medhallu
from medtasks_utils.benchmarks.medhallu.benchmark import MedHallu
from medtasks_utils.benchmarks.medmcqa.benchmark import MedMCQA
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
    assert words.startswith(f"all {5 * len(rows)} scores are what they must be")
    answers = 5 * sum(
        len(load(task).eval_docs)
        for task in (
            "medmcqa_openmed",
            "medexqa_all",
            "medexqa_all",
            "medcalc_bench",
            "medcalc_bench_corrected",
            "medhallu",
        )
    )
    assert f"asked {answers} questions" in words
    assert len(words.splitlines()) <= 10
    assert [line for line in progress.splitlines() if " of 5: answering " in line]
    assert {row[0] for row in rows} >= {"medmcqa_openmed", "medexqa", "medexqa_all", "medcalc_bench", "medhallu"}
    for task, metric, filter_name, right, first, _, malformed, unsure in rows:
        assert filter_name in ("strict-match", "flexible-extract")
        if (task, metric) == ("medcalc_bench_corrected", "acc_unanswerable"):
            assert (right, first, malformed, unsure) == ("1", "0", "0", "1"), "to be unsure is to answer N/A"
        if (task, metric) == ("medcalc_bench_corrected", "na_rate"):
            assert (first, malformed, unsure) == ("0", "0", "1")
        if metric in ("acc", "f1", "recall", "macro_acc"):
            assert right == "1", (task, metric)
            assert malformed == "0", (task, metric)
        if (task, metric) == ("medhallu", "f1"):
            assert (first, unsure) == ("0", "0"), "the first option is: nothing is ever hallucinated"
        if (task, metric) == ("medhallu", "unsure_rate"):
            assert (right, unsure) == ("0", "1")
        if (task, metric) == ("medmcqa_openmed", "acc"):
            assert first == "0.25"
    assert {run.model for run in read_runs(tmp_path / "check" / "runs")} == set(BEHAVIOURS)
    assert words.splitlines()[-1].startswith("report: ")
    assert "<html" in (tmp_path / "check" / "report.html").read_text(encoding="utf-8")


def off_by_one_letter(self: Any, answer: Answer, example: dict[str, Any], options: Any) -> Scores:
    values: dict[str, Any] = {
        "acc": float(answer.value == "A"),
        "answered": float(answer.value is not None),
        "format": 1.0,
    }
    return Scores(values, None, None)


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
        pytest.param(MedMCQA, "score", off_by_one_letter, {"medmcqa_openmed"}, marks=pytest.mark.slow),
        (MedHallu, "flexible", wrong_extraction, {"medhallu"}),
        (medhallu, "ratios_of", twice, {"medhallu"}),
        (Aggregate, "__call__", largest, {"medmcqa_openmed", "medexqa", "medhallu"}),
    ],
    ids=["a score", "an extraction", "F1", "an aggregation"],
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
    assert main(["selfcheck", "--limit", "8"]) == 1
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
def test_the_data_directory_is_the_one_given(shared: Path, tmp_path: Path) -> None:
    checked = selfcheck.run(str(shared / "data"), 3, tmp_path, print)
    assert (checked.missed, checked.answers) == ([], 150)
    with pytest.raises(DataError):
        selfcheck.run(str(shared), 3, tmp_path, print)
