"""N/A and a number with a caveat, told apart: labelled texts, texts that are neither, and hostile ones."""

from typing import Any

import pytest
from given import table
from hostile_texts import texts
from running import reader

from medtasks_utils.benchmarks.medcalc_bench.absence import states_not_available

LACKS, CAVEATS = texts("lacks"), texts("caveats")


@pytest.fixture(scope="module")
def task():
    return reader("medcalc_bench_corrected")


def is_not_available(task: Any, filter_name: str, text: str) -> bool:
    return bool(task.extract(filter_name, text, task.eval_docs[0]).value == "N/A")


def test_each_text_is_told_apart(task):
    """All but those of the table, by the filter that errs: whoever reads one more takes it out."""
    erring: list[list[str]] = []
    for text in (*LACKS, *CAVEATS):
        wanted = {"strict-match": text in LACKS and "</answer>" in text, "flexible-extract": text in LACKS}
        erring += [[name, text] for name in wanted if is_not_available(task, name, text) != wanted[name]]
    assert erring == table("abstaining_not_read")


@pytest.mark.parametrize("filter_name", ["strict-match", "flexible-extract"])
def test_saying_nothing_is_no_answer(task, filter_name):
    values = {text: task.extract(filter_name, text, task.eval_docs[0]).value for text in texts("nothing")}
    assert values == dict.fromkeys(values)


def test_a_value_and_then_none_is_none():
    assert states_not_available("The score is 4, but the rate cannot be calculated.")
    assert not states_not_available("The rate cannot be calculated from this alone, but the score is 4.")
