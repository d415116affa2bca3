"""N/A and a number with a caveat, told apart: labelled texts, texts that are neither, and hostile ones."""

import pytest
from given import table
from hostile_texts import texts
from running import reader

LACKS, CAVEATS = texts("lacks"), texts("caveats")


@pytest.fixture(scope="module")
def task():
    return reader("medcalc_bench_corrected")


def test_each_text_is_told_apart(task):
    """All but those of the table, by the filter that errs: whoever reads one more takes it out."""
    erring: list[list[str]] = []
    for text in (*LACKS, *CAVEATS):
        wanted = {"strict-match": text in LACKS and "</answer>" in text, "flexible-extract": text in LACKS}
        found = {name: task.extract(name, text, task.eval_docs[0]).value == "N/A" for name in wanted}
        erring += [[name, text] for name in wanted if found[name] != wanted[name]]
    assert erring == table("abstaining_not_read")


@pytest.mark.parametrize("filter_name", ["strict-match", "flexible-extract"])
def test_saying_nothing_is_no_answer(task, filter_name):
    assert {task.extract(filter_name, text, task.eval_docs[0]).value for text in texts("nothing")} == {None}
