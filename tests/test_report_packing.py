"""Samples in the page: packed without loss, without a character that means anything to HTML, within the limits."""

from __future__ import annotations

import base64
import json
import math
import random
import string
import unicodedata
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from saved_runs import right_in, save_run

from medtasks_utils.report.packing import Store, cut, lengths, limit_for, pack, to_json
from medtasks_utils.report.samples import Packed, pack_samples
from medtasks_utils.report.text import shortened, visible
from medtasks_utils.results import Run, read_runs

BASE64 = set(string.ascii_letters + string.digits + "+/=")
ANY_TEXT = st.text(st.characters(codec=None, categories=None))  # lone surrogates too
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=20,
)


def unpack(chunk: str) -> Any:
    return json.loads(zlib.decompress(base64.b64decode(chunk)))


def records(store: Store) -> list[Any]:
    return [record for chunk in store.chunks for record in unpack(chunk)]


# ---- stores


@given(st.lists(JSON, max_size=12), st.integers(1, 300))
def test_records_come_back_as_they_were(values: list[Any], chunk: int) -> None:
    store = pack(values, chunk)
    assert records(store) == values
    assert len(store.starts) == len(store.chunks)
    for start, packed in zip(store.starts, store.chunks, strict=True):
        assert set(packed) <= BASE64
        here = unpack(packed)
        assert here and values[start : start + len(here)] == here
    assert store.size == sum(map(len, store.chunks))


def test_chunks_hold_what_fits_and_long_records_stand_alone() -> None:
    store = pack(["a" * 40, "b" * 40, "c" * 500, "d" * 40], chunk=100)
    assert store.starts == [0, 2, 3]
    assert pack([]).chunks == []


def test_numbers_that_are_none_become_null() -> None:
    value = {"a": math.nan, "b": [math.inf, 1.5], "c": (-math.inf,)}
    assert json.loads(to_json(value)) == {"a": None, "b": [None, 1.5], "c": [None]}


# ---- limits on length


@given(st.lists(st.integers(0, 5000), min_size=1, max_size=60), st.integers(0, 100_000))
def test_the_limit_is_the_largest_that_keeps_the_total(all_lengths: list[int], total: int) -> None:
    limit = limit_for(all_lengths, total, least=1)

    def spent(limit: int) -> int:
        return sum(min(length, limit) for length in all_lengths)

    assert limit == 1 or spent(limit) <= total
    assert limit >= max(all_lengths) or spent(limit + 1) > total or limit == 1


@given(JSON, st.integers(1, 50))
def test_cutting_keeps_both_ends_and_what_is_short(value: Any, limit: int) -> None:
    def check(before: Any, after: Any) -> None:
        if isinstance(before, str):
            if len(before) <= limit:
                assert after == before
            else:
                assert "characters left out" in after and after.endswith(before[-(limit - limit * 3 // 5) :])
                assert after.startswith(before[: limit * 3 // 5])
        elif isinstance(before, dict):
            assert list(before) == list(after)
            for key in before:
                check(before[key], after[key])
        elif isinstance(before, list):
            for pair in zip(before, after, strict=True):
                check(*pair)
        else:
            assert after == before

    check(value, cut(value, limit))


def test_lengths_are_those_of_every_string_but_not_of_names() -> None:
    assert lengths({"name": ["abc", {"x": "de"}, 5, None, ("f",)]}) == [3, 2, 1]


# ---- text


@given(ANY_TEXT)
def test_visible_text_acts_on_nothing(text: str) -> None:
    shown = visible(text)
    shown.encode("utf-8")
    controls = {c for c in shown if unicodedata.category(c) in ("Cc", "Zl", "Zp")}
    assert controls <= {"\n", "\t"}
    assert not {c for c in shown if unicodedata.bidirectional(c) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI")}


def test_plain_text_stays_as_it_is() -> None:
    text = "Größe ≤ 5 µmol/L — « naïve » 漢字 עברית\n\tx"
    assert visible(text) == text
    assert visible("a\x00b\u202ec\ud800") == "a‹U+0000›b‹U+202E›c\ufffd"


@given(ANY_TEXT, st.integers(2, 60))
def test_shortened_text_is_one_line_that_fits(text: str, length: int) -> None:
    line = shortened(text, length)
    assert len(line) <= length and "\n" not in line


# ---- samples


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """Two runs of all benchmarks on the bundled sample."""
    folder = tmp_path_factory.mktemp("runs")
    save_run(folder / "a", right_in(0.7, "a"), model="org/first")
    save_run(folder / "b", right_in(0.4, "b"), model="org/second")
    return read_runs([folder / "a", folder / "b"])


def test_documents_are_stored_once_and_samples_by_run(runs: list[Run]) -> None:
    packed = pack_samples(runs)
    index = unpack(packed.index)
    documents, samples = records(packed.documents), records(packed.samples)
    tasks = runs[0].tasks
    assert packed.count == len(samples) == sum(len(task.samples) for run in runs for task in run.tasks.values())
    assert len(documents) == sum(len(task.samples) for task in tasks.values()) == packed.count // 2
    assert index["runs"] == ["first", "second"] and [task["name"] for task in index["tasks"]] == list(tasks)
    assert packed.notes == []
    for number, (document, run) in enumerate(zip(index["samples"]["document"], index["samples"]["run"], strict=True)):
        task = index["tasks"][index["documents"]["task"][document]]["name"]
        doc_id = index["documents"]["id"][document]
        (sample,) = (s for s in runs[run].tasks[task].samples if s.doc_id == doc_id)
        record = samples[index["samples"]["record"][number]]
        assert record["responses"] == sample.responses and "prompt" not in record
        assert documents[document]["prompt"] == sample.messages
        for filter_name in index["filters"]:
            assert index["samples"]["acc"][filter_name][number] == sample.metrics[filter_name]["acc"]
            assert index["samples"]["unanswered"][filter_name][number] == 1 - sample.metrics[filter_name]["answered"]
            way = index["found_by"][index["samples"]["found_by"][filter_name][number]]
            assert [way] == sample.found_by[filter_name]


def test_facets_are_the_benchmarks_breakdowns(runs: list[Run]) -> None:
    index = unpack(pack_samples(runs).index)
    assert set(index["facets"]) == {"subject", "specialty", "category", "calculator", "difficulty", "kind"}
    by_task = {task["name"]: task["facets"] for task in index["tasks"]}
    assert by_task["medhallu"] == ["difficulty", "kind"] and by_task["medmcqa_openmed"] == ["subject"]
    for number, task in enumerate(index["documents"]["task"]):
        for name in index["facets"]:
            code = index["documents"][name][number]
            assert (code >= 0) <= (name in index["tasks"][task]["facets"])
    levels = index["facets"]["difficulty"]["values"]
    assert set(levels) == {"easy", "medium", "hard"}


def test_too_many_samples_leave_an_even_part_the_same_for_all_runs(runs: list[Run]) -> None:
    packed = pack_samples(runs, max_samples=50)
    index = unpack(packed.index)
    assert packed.count <= 50 and len(records(packed.samples)) == packed.count
    assert index["samples"]["run"].count(0) == index["samples"]["run"].count(1)
    assert len(set(index["documents"]["task"])) == 4
    assert "every" in packed.notes[0]


def test_long_responses_are_cut_no_more_than_it_takes(tmp_path: Path) -> None:
    noise = "".join(random.Random(0).choices(string.ascii_letters, k=300_000))

    def answer(doc: dict[str, Any]) -> str:
        return f"\\boxed{{0}}{noise}END" if doc["row"] == "0" else "\\boxed{0}"

    save_run(tmp_path, answer, tasks="medhallu")
    runs = read_runs(tmp_path)
    whole = pack_samples(runs)
    assert whole.notes == [] and size(whole) > 60_000
    small = pack_samples(runs, max_packed=size(whole) // 3)
    assert size(small) <= size(whole) // 3
    (note,) = small.notes
    assert "cut in the middle" in note
    responses = [record["responses"][0] for record in records(small.samples)]
    long = [response for response in responses if "characters left out" in response]
    assert len(long) == 2 and all(response.endswith("END") and len(response) > 1000 for response in long)
    assert all(response == "\\boxed{0}" for response in responses if response not in long)
    assert {record["lengths"][0] for record in records(small.samples)} == {9, 300_012}


def size(packed: Packed) -> int:
    return packed.documents.size + packed.samples.size
