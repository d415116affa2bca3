"""``medcalc_bench_corrected``: judgement in days, metrics; the real file where it is at hand."""

from collections import Counter

import pytest
from given import each_row
from running import documents_of, evaluate, reader

TASK = "medcalc_bench_corrected"
FILTERS = ("strict-match", "flexible-extract")


@each_row("gestational_ages")
def test_a_gestational_age_is_judged_in_days(answer, strict, flexible):
    task = reader(TASK)
    doc = task.eval_docs[5]
    read = [task.extract(name, f"<answer>{answer}</answer>", doc) for name in FILTERS]
    assert [task.score(doc, each)["acc"] for each in read] == [strict, flexible]
    assert task.extract("flexible-extract", "So it is 56.", doc).value == 56


@each_row("metrics_of_abstaining")
def test_answerable_and_unanswerable_rows_have_metrics_of_their_own(response, expected):
    """By responses to all examples, in which ``value`` is the true value, or 1 where there is none."""

    def answer(doc):
        return response.format(value="1" if doc["ground_truth"] == "N/A" else doc["shown_truth"])

    results = evaluate(TASK, answer)["results"][TASK]
    for name in FILTERS:
        assert {metric: results[f"{metric},{name}"] for metric in expected} == pytest.approx(expected)


def test_of_the_real_rows_69_have_no_answer_and_20_are_judged_in_days(shared):
    docs = documents_of(TASK, shared / "data")
    assert (len(docs), sum(doc["ground_truth"] == "N/A" for doc in docs)) == (887, 69)
    assert Counter(doc["judgement"] for doc in docs)["days"] == 20
