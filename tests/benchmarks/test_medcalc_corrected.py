"""``medcalc_bench_corrected``: rows, reading, judgement and metrics; the real file where it is at hand."""

from collections import Counter
from typing import Any

import pytest
from given import BY_CALCULATOR, each_row, sample_rows, table
from running import documents_of, evaluate, reader

from medtasks_utils.benchmarks.medcalc_bench.rows import example_of
from medtasks_utils.errors import DataError

PLAIN, TASK = "medcalc_bench", "medcalc_bench_corrected"
FILTERS = ("strict-match", "flexible-extract")


def values(answer: Any, filter_name: str = "strict-match", task: str = TASK, **settings: Any) -> dict[str, Any]:
    results = evaluate(task, answer if callable(answer) else lambda doc: answer, **settings)["results"][task]
    return {name.split(",")[0]: value for name, value in results.items() if name.endswith(f",{filter_name}")}


# ---- rows


def test_rows_are_judged_as_their_calculator_says():
    for doc in documents_of(TASK):
        assert doc["judgement"] == ("days" if doc["calculator_id"] == 69 else BY_CALCULATOR[doc["calculator_id"]].name)
        assert (doc["ground_truth"] == "N/A") == (int(doc["row_number"]) >= 12)
    given = {"dataset_version": "corrected"}
    assert documents_of(PLAIN, medcalc_bench=given) == documents_of(TASK)
    row = {**sample_rows("medcalc_bench/corrected.csv")[0], "Calculator Name": "Estimated of Conception"}
    assert example_of(True, {**row, "Ground Truth Answer": "N/A"})["calculator_id"] == 68, "the first release's name"


def test_few_shot_examples_are_not_the_corrected_rows_themselves():
    with pytest.raises(DataError, match=r"has no file train\.|train.*missing column 'Unique ID'"):
        evaluate(PLAIN, num_fewshot=1, metadata={PLAIN: {"dataset_version": "corrected"}})


# ---- reading, judgement, metrics


@each_row("gestational_ages")
def test_a_gestational_age_is_judged_in_days(answer, strict, flexible):
    task = reader(TASK)
    doc = task.eval_docs[5]
    assert (doc["judgement"], doc["ground_truth"]) == ("days", "56")
    read = [task.extract(name, f"<answer>{answer}</answer>", doc) for name in FILTERS]
    assert [task.score(doc, each)["acc"] for each in read] == [strict, flexible]
    assert task.extract("flexible-extract", "So it is 56.", doc).value == 56


@pytest.mark.parametrize("filter_name", FILTERS)
def test_answerable_and_unanswerable_rows_have_metrics_of_their_own(filter_name):
    """By responses to all examples, in which ``value`` is the true value, or 1 where there is none."""
    for response, expected in table("metrics_of_abstaining"):

        def answer(doc, response=response):
            return response.format(value="1" if doc["ground_truth"] == "N/A" else doc["shown_truth"])

        found = values(answer, filter_name)
        assert {name: found[name] for name in expected} == pytest.approx(expected)
    plain = values("<answer>N/A</answer>", filter_name, PLAIN)
    assert not {"acc_answerable", "acc_unanswerable", "na_rate"} & plain.keys()
    assert (plain["acc"], plain["answered"]) == (0, 0)


@pytest.mark.parametrize("answer_format", ["xml", "boxed"])
def test_not_available_is_read_in_words_by_flexible_and_as_requested_by_strict(answer_format):
    metadata = {PLAIN: {"answer_format": answer_format}}
    said = "The note gives no weight. Therefore the value cannot be calculated."
    assert values(said, metadata=metadata)["answered"] == 0
    assert values(said, "flexible-extract", metadata=metadata)["acc_unanswerable"] == 1
    assert values("\\boxed{\\text{N/A}}", metadata=metadata)["acc_unanswerable"] == (answer_format == "boxed")


def test_with_tools_na_ends_a_conversation():
    tools = {"add_calculator_tool": True}
    for name in (TASK, PLAIN):
        ends = reader(name, medcalc_bench=tools).benchmark.has_final_answer
        assert [ends(f"<answer>{said}</answer>") for said in ("N/A", "…")] == [name == TASK, False]
    assert values("<answer>N/A</answer>", metadata={PLAIN: tools})["turns"] == 1


# ---- the real files


def test_of_the_real_rows_69_have_no_answer_and_20_are_judged_in_days(shared):
    docs = documents_of(TASK, shared / "data")
    assert (len(docs), sum(doc["ground_truth"] == "N/A" for doc in docs)) == (887, 69)
    assert Counter(doc["judgement"] for doc in docs)["days"] == 20
