"""Means, failures and agreement out of rows whose results are worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import plain_stderr
from rescore_logs import response

from medtasks_utils.judging import Judgement, make_judge
from medtasks_utils.rescore.agreement import agree
from medtasks_utils.rescore.comparisons import compare
from medtasks_utils.rescore.rows import FAILED, JUDGED, SKIPPED, WRONG, Rater, row_of, row_without_call
from medtasks_utils.rescore.summary import Line, as_text, summarise
from medtasks_utils.rescore.table import JudgedRow

GEVAL = Rater(make_judge("g-eval"), "small")
FACTSCORE = Rater(make_judge("factscore"), "small")


def judged(number: int, score: float | None, rater: Rater = GEVAL, repeat: int = 0, **changed: Any) -> JudgedRow:
    judgement = Judgement(score) if score is not None else Judgement(None, "unreadable", "no JSON")
    return row_of(response(number, **changed), rater, repeat, judgement)


def wrong(number: int, **changed: Any) -> JudgedRow:
    return row_without_call(response(number, answer="A", **changed), GEVAL)


def skipped(number: int, **changed: Any) -> JudgedRow:
    return row_without_call(response(number, references=(), **changed), GEVAL)


def by_name(lines: list[Line]) -> dict[str, Line]:
    return {line.specialty: line for line in lines}


def test_a_wrong_answer_counts_zero_a_failure_as_the_judged_do_and_what_was_skipped_does_not_count() -> None:
    rows = [judged(0, 80.0), judged(1, 40.0), wrong(2), judged(3, None), skipped(4)]
    line = by_name(summarise(rows))["clinical_psychology"]
    assert line.score == pytest.approx(3 / 4 * (80 + 40) / 2), "accuracy times the mean over the judged"
    assert line.stderr == pytest.approx(plain_stderr([60 + 1.5 * 20, 60 - 1.5 * 20, 60, 0])), "pseudo-values"
    assert line.of_right == pytest.approx(60)
    assert line.examples == 5
    assert line.counts == {JUDGED: 2, WRONG: 1, FAILED: 1, SKIPPED: 1}
    assert line.failures == {"unreadable": 1}


def test_the_macro_average_gives_every_specialty_the_same_weight() -> None:
    rows = [judged(0, 90.0), judged(1, 60.0), wrong(2), judged(0, 20.0, specialty="occupational_therapy")]
    lines = by_name(summarise(rows))
    assert list(lines) == ["clinical_psychology", "occupational_therapy", "macro average of 2"]
    assert lines["macro average of 2"].score == pytest.approx((50 + 20) / 2)
    assert lines["macro average of 2"].of_right == pytest.approx((75 + 20) / 2)
    assert lines["macro average of 2"].counts == {JUDGED: 3, WRONG: 1}


def test_repeats_and_generations_are_averaged_within_their_example() -> None:
    rows = [
        judged(0, 100.0, repeat=0),
        judged(0, 80.0, repeat=1),
        judged(0, 30.0, generation=1, repeat=0),
        judged(1, 50.0, repeat=0),
        judged(1, None, repeat=1),
    ]
    line = by_name(summarise(rows))["clinical_psychology"]
    assert line.score == pytest.approx(((90 + 30) / 2 + 50) / 2)
    assert (line.examples, line.counts[JUDGED]) == (2, 4)


def test_the_same_example_under_two_tasks_is_one_example() -> None:
    rows = [judged(0, 60.0), judged(0, 60.0, task="medexqa_all"), judged(1, 0.0)]
    line = by_name(summarise(rows))["clinical_psychology"]
    assert (line.score, line.examples) == (30.0, 2)


def test_where_nothing_was_judged_there_is_no_number() -> None:
    line = by_name(summarise([judged(0, None), skipped(1)]))["clinical_psychology"]
    assert (line.score, line.stderr, line.of_right) == (None, None, None)


def test_runs_and_judges_are_summed_up_apart() -> None:
    rows = [judged(0, 10.0), judged(0, 20.0, run="other"), judged(0, 30.0, FACTSCORE)]
    found = {(line.judge, line.run): line.score for line in summarise(rows)}
    assert found == {
        (GEVAL.signature, "model 2026-01-02"): 10.0,
        (GEVAL.signature, "other"): 20.0,
        (FACTSCORE.signature, "model 2026-01-02"): 30.0,
    }


# ---- agreement


def test_a_judge_is_compared_with_itself_over_its_repeats() -> None:
    scores = [(80.0, 85.0), (20.0, 25.0), (50.0, 40.0)]
    rows = [
        judged(number, score, repeat=repeat) for number, pair in enumerate(scores) for repeat, score in enumerate(pair)
    ]
    (comparison,) = compare([*rows, wrong(7), wrong(8)])
    assert (comparison.judge, comparison.other) == (GEVAL.signature, "")
    assert comparison.agreement == agree(scores)
    assert comparison.agreement.examples == 3, "wrong answers, which nobody judged, are left out"


def test_two_judges_are_compared_by_their_means() -> None:
    geval, factscore = [(80.0, 90.0), (20.0, 30.0), (50.0, 60.0)], [70.0, 30.0, 50.0]
    rows = [judged(n, score, repeat=repeat) for n, pair in enumerate(geval) for repeat, score in enumerate(pair)]
    rows += [judged(n, score, FACTSCORE) for n, score in enumerate(factscore)]
    rows += [judged(9, 10.0, FACTSCORE)]  # not judged by the other
    comparisons = {comparison.other: comparison for comparison in compare(rows)}
    assert set(comparisons) == {"", FACTSCORE.signature}
    between = comparisons[FACTSCORE.signature]
    assert between.agreement == agree([(85, 70), (25, 30), (55, 50)])
    assert between.mean == pytest.approx(55) and between.mean_other == pytest.approx(50)


def test_agreement_is_told_per_run_and_over_all() -> None:
    rows = [
        judged(number, 10.0 * number + repeat, repeat=repeat, run=run)
        for run in ("one", "two")
        for number in range(4)
        for repeat in range(2)
    ]
    found = {comparison.run: comparison.agreement.examples for comparison in compare(rows)}
    assert found == {"one": 4, "two": 4, "all runs": 8}


def test_a_response_that_several_tasks_hold_enters_once() -> None:
    rows = [
        judged(number, 10.0 * number + repeat, repeat=repeat, task=task)
        for task in ("medexqa_all", "medexqa_clinical_psychology")
        for number in range(3)
        for repeat in range(2)
    ]
    (comparison,) = compare(rows)
    assert comparison.agreement.examples == 3


def test_one_judge_once_is_compared_with_nobody() -> None:
    assert compare([judged(0, 50.0), judged(1, 60.0), wrong(2)]) == []
    assert compare([judged(0, 50.0), judged(1, 60.0, FACTSCORE)]) == []


def test_a_comparison_without_an_alpha_says_why_in_its_row_and_on_the_terminal() -> None:
    rows = [judged(number, 50.0, repeat=repeat) for number in range(3) for repeat in range(2)]
    (comparison,) = compare(rows)
    row = comparison.as_row()
    assert (row["alpha"], row["low"], row["high"], row["examples"]) == ("", "", "", "3")
    assert "all ratings are the same" in row["note"]
    assert "all ratings are the same" in as_text([], [comparison])


# ---- on the terminal


def test_the_text_has_every_number_and_the_failures_by_kind() -> None:
    rows = [judged(0, 80.0), judged(1, 40.0), wrong(2), judged(3, None), skipped(4)]
    text = as_text(summarise(rows), [])
    assert text.startswith(f"{GEVAL.signature}\nmodel 2026-01-02\n")
    assert "nan" not in text
    (line,) = [line.split() for line in text.split("\n") if line.startswith("clinical_psychology")]
    assert line == ["clinical_psychology", "45.00", "19.36", "60.00", "5", "2", "1", "1", "1", "(1", "unreadable)"]


def test_judges_are_named_in_short_where_that_tells_them_apart() -> None:
    rows = [judged(n, 10.0 * n, rater) for n in range(3) for rater in (GEVAL, FACTSCORE)]
    assert "g-eval by small, factscore by small" in as_text([], compare(rows))
    covering = Rater(make_judge("factscore", use_coverage=True), "small")
    rows = [judged(n, 10.0 * n, rater) for n in range(3) for rater in (covering, FACTSCORE)]
    assert f"{covering.signature}, {FACTSCORE.signature}" in as_text([], compare(rows))
