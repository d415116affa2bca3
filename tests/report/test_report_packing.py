"""Samples in the page: packed without loss, without a character that means anything to HTML, and whole."""

import math
import string
import unicodedata
from collections.abc import Iterable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from page_numbers import unpacked

from medtasks_utils.report.packing import Packer
from medtasks_utils.report.text import visible

BASE64 = set(string.ascii_letters + string.digits + "+/=")
ANY_TEXT = st.text(st.characters(codec=None, categories=None))  # lone surrogates too
TEXT = st.text(st.characters(codec="utf-8"))  # as samples are read
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


def packed(values: Iterable[Any], chunk: int = 200_000) -> Packer:
    packer = Packer(chunk)
    for value in values:
        packer.add(value)
    packer.finish()
    return packer


def records(chunks: Iterable[str]) -> list[Any]:
    return [record for chunk in chunks for record in unpacked(chunk)]


@settings(max_examples=25)
@given(st.lists(JSON, max_size=12), st.integers(1, 300))
def test_records_come_back_as_they_were(values, chunk):
    packer = packed(values, chunk)
    assert records(packer.chunks) == values
    for start, packed_one in zip(packer.starts, packer.chunks, strict=True):
        assert set(packed_one) <= BASE64
        here = unpacked(packed_one)
        assert here and values[start : start + len(here)] == here


def test_numbers_that_are_none_become_null():
    value = {"a": math.nan, "b": [math.inf, 1.5], "c": (-math.inf,)}
    assert records(packed([value]).chunks) == [{"a": None, "b": [None, 1.5], "c": [None]}]


@given(ANY_TEXT)
def test_visible_text_acts_on_nothing(text):
    shown = visible(text)
    shown.encode("utf-8")
    controls = {c for c in shown if unicodedata.category(c) in ("Cc", "Zl", "Zp")}
    assert controls <= {"\n", "\t"}
    assert not {c for c in shown if unicodedata.bidirectional(c) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI")}
