"""Samples in the page: packed without loss, without a character that means anything to HTML, and whole."""

import math
import string
import unicodedata
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_numbers import unpacked
from saved_runs import save_run, save_two

from medtasks_utils.report.packed_samples import pack_samples
from medtasks_utils.report.packing import pack
from medtasks_utils.report.text import visible
from medtasks_utils.results import read_runs

BASE64 = set(string.ascii_letters + string.digits + "+/=")
ANY_TEXT = st.text(st.characters(codec=None, categories=None))  # lone surrogates too
TEXT = st.text(st.characters(codec="utf-8"))  # as samples are read
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


def records(chunks: Iterable[str]) -> list[Any]:
    return [record for chunk in chunks for record in unpacked(chunk)]


# ---- stores


@given(st.lists(JSON, max_size=12), st.integers(1, 300))
def test_records_come_back_as_they_were(values, chunk):
    packed_ones, starts = pack(values, chunk)
    chunks = list(packed_ones)
    assert records(chunks) == values
    for start, packed in zip(starts, chunks, strict=True):
        assert set(packed) <= BASE64
        here = unpacked(packed)
        assert here and values[start : start + len(here)] == here


def test_numbers_that_are_none_become_null():
    value = {"a": math.nan, "b": [math.inf, 1.5], "c": (-math.inf,)}
    assert records(pack([value])[0]) == [{"a": None, "b": [None, 1.5], "c": [None]}]


# ---- text


@given(ANY_TEXT)
def test_visible_text_acts_on_nothing(text):
    shown = visible(text)
    shown.encode("utf-8")
    controls = {c for c in shown if unicodedata.category(c) in ("Cc", "Zl", "Zp")}
    assert controls <= {"\n", "\t"}
    assert not {c for c in shown if unicodedata.bidirectional(c) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI")}


def test_plain_text_stays_as_it_is():
    text = "Größe ≤ 5 µmol/L — « naïve » 漢字 עברית\n\tx"
    assert visible(text) == text
    assert visible("a\x00b\u202ec\ud800") == "a‹U+0000›b‹U+202E›c\ufffd"


# ---- samples


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two runs of all benchmarks on the bundled sample."""
    return read_runs(save_two(tmp_path_factory.mktemp("runs")))


def test_documents_are_stored_once_and_samples_beside_each_other(runs):
    packed = pack_samples(runs)
    (index,) = map(unpacked, packed["index"])
    documents, samples = records(packed["documents"]), records(packed["samples"])
    tasks = runs[0].tasks
    assert len(samples) == sum(len(task.samples) for run in runs for task in run.tasks.values())
    assert len(documents) == len(samples) // 2
    assert index["runs"] == ["first", "second"] and [task["name"] for task in index["tasks"]] == list(tasks)
    assert set(index["facets"]) == {
        "subject",
        "specialty",
        "category",
        "calculator",
        "difficulty",
        "kind",
        "label",
        "style",
    }
    for number, (document, run) in enumerate(zip(index["samples"]["document"], index["samples"]["run"], strict=True)):
        task = index["tasks"][index["documents"]["task"][document]]
        (sample,) = (s for s in runs[run].tasks[task["name"]].samples if s.doc_id == index["documents"]["id"][document])
        assert samples[number]["responses"] == sample.responses and "prompt" not in samples[number]
        assert documents[document]["prompt"] == sample.messages
        for name in index["facets"]:
            assert (index["documents"][name][document] is not None) <= (name in task["facets"])


def test_long_responses_are_whole(tmp_path):
    long = "\\boxed{0}" + "x y\n" * 100_000 + "END"
    save_run(tmp_path, lambda doc: long if doc["row"] == "0" else "\\boxed{0}", tasks="medhallu", limit=4)
    runs = read_runs(tmp_path)
    packed = pack_samples(runs)
    assert [record["responses"][0] for record in records(packed["samples"])].count(long) == 2
    assert {*unpacked(*packed["index"])["samples"]["columns"]["length"]} == {len(long), 9}
