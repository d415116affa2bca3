"""The table that holds any text, and takes no other file's place."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from medtasks_utils.rescore.table import TableError, check_place, write_table

COLUMNS = ("name", "text", "more")
text = st.text(
    st.one_of(st.sampled_from("\",\r\n=\t' "), st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    max_size=30,
)
rows = st.lists(st.fixed_dictionaries(dict.fromkeys(COLUMNS, text)), min_size=1, max_size=5)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows, rows)
def test_any_text_comes_back_as_it_was(
    tmp_path: Path, first: list[dict[str, str]], second: list[dict[str, str]]
) -> None:
    path = tmp_path / "table.csv"
    for given_rows in (first, second):
        check_place(path, COLUMNS)
        write_table(path, COLUMNS, given_rows)
        with path.open(encoding="utf-8", newline="") as file:
            assert list(csv.DictReader(file)) == given_rows
    assert [each.name for each in tmp_path.iterdir()] == ["table.csv"]


def test_what_no_file_can_hold_is_replaced(tmp_path: Path) -> None:
    write_table(tmp_path / "t.csv", ("text",), [{"text": "a\0b\ud800c"}])
    assert (tmp_path / "t.csv").read_text(encoding="utf-8") == "text\na\ufffdb\ufffdc\n"


@pytest.mark.parametrize("content", [b"a,b\r\n1,2", b"name,text,more\n1,2,3\n", b"\xff\xfe"])
def test_a_file_that_is_no_such_table_is_one_clear_line_and_stays_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(TableError, match="is not a table of this version of medtasks rescore") as error:
        check_place(path, COLUMNS)
    assert "\n" not in str(error.value) and str(path) in str(error.value)
    assert path.read_bytes() == content


def test_a_place_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    for path in (tmp_path / "file" / "t.csv", tmp_path):
        with pytest.raises(TableError, match="cannot be written"):
            check_place(path, COLUMNS)
        with pytest.raises(TableError, match="cannot be written"):
            write_table(path, COLUMNS, [])
