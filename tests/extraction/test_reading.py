"""The flexible reading: abstentions, texts that state nothing, the judged corpus, and what must change no reading."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from given import TASK_OF, each_row, table
from hostile_texts import texts
from hypothesis import given
from hypothesis import strategies as st
from judged import CORPUS, judged, outcome
from running import reader
from scripts import draw

from medtasks_utils.extraction import nothing

LOADED = {benchmark: reader(name) for benchmark, name in TASK_OF.items()}
ROWS = [*judged(), *judged(CORPUS / "later")]


# ---- N/A and a number with a caveat

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


# ---- nothing from nothing


@given(st.text(alphabet="abcdefgh", min_size=30, max_size=80), st.integers(9, 40))
def test_a_text_that_says_the_same_over_and_over_loops(sentence, times):
    assert nothing.loops(f"{sentence}. " * times)
    assert not nothing.loops(f"{sentence}. ")


@given(st.sampled_from(["and the", "which is", "3 +", "so that", "of"]), st.integers(1, 9))
def test_a_text_that_ends_within_a_sentence_breaks_off(end, sentences):
    text = "The pulse adds two. " * sentences
    assert nothing.whole_until(f"{text}It is {end}") == len(text)
    assert nothing.whole_until(text) == len(text)


# ---- the judged corpus


def found(rows: list[dict[str, Any]], rewrite: Callable[[str], str] = str) -> list[Any]:
    """What the flexible filters read of rows, rewritten or not."""
    return [LOADED[row["benchmark"]].flexible(rewrite(row["response"]), row).value for row in rows]


def test_the_corpus_is_read_as_its_readers_did():
    """All but the responses of the table, by what became of them: whoever reads one more takes it out."""
    outcomes = {row["id"]: outcome(row, value) for row, value in zip(ROWS, found(ROWS), strict=True)}
    assert {key: each for key, each in outcomes.items() if each != "right"} == dict(table("corpus_not_read"))


@each_row("rewritings")
def test_a_response_that_is_written_in_another_way_is_read_alike(name, pattern, replacement, unless):
    """Each way on a part of the responses, but not on those with a text that it would give another meaning."""
    part = draw(name).sample(ROWS, len(ROWS) // 12)
    chosen = [row for row in part if not (unless and unless in row["response"])]
    others = found(chosen, lambda text: re.sub(pattern, replacement, text, flags=re.MULTILINE))
    assert [row["id"] for row, one, other in zip(chosen, found(chosen), others, strict=True) if one != other] == []
