"""Samples in the page: packed without loss, without a character that means anything to HTML, and whole."""

import math
import string
import unicodedata
from itertools import accumulate, chain

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


@settings(max_examples=25)
@given(st.lists(JSON, max_size=12), st.sampled_from((10, 100, 300)))
def test_records_come_back_as_they_were_but_for_null_in_place_of_no_number(values, size):
    packer = Packer(size)
    for value in values:
        packer.add([value, math.nan, -math.inf])
    found = [*map(unpacked, chunks := packer.finish())]
    assert [*chain(*found)] == [[value, None, None] for value in values]
    assert {*chain(*chunks)} <= BASE64 and (size > 10 or len(found) == len(values))
    assert packer.starts == [*accumulate(map(len, found[:-1]), initial=0)][: len(found)]


@given(ANY_TEXT)
def test_visible_text_acts_on_nothing(text):
    shown = visible(text)
    shown.encode("utf-8")
    controls = {c for c in shown if unicodedata.category(c) in ("Cc", "Zl", "Zp")}
    assert controls <= {"\n", "\t"}
    assert not {c for c in shown if unicodedata.bidirectional(c) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI")}
