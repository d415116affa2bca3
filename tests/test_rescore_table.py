"""The table that a kill at any byte leaves usable, and that holds any text."""

from __future__ import annotations

import csv
import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from multiprocessing.context import SpawnProcess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from medtasks_utils.rescore.table import Table, TableError, read_table

COLUMNS = ("name", "text", "more")
text = st.text(
    st.one_of(st.sampled_from("\",\r\n=\t' "), st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    max_size=30,
)
rows = st.lists(st.fixed_dictionaries(dict.fromkeys(COLUMNS, text)), min_size=1, max_size=5)
several_examples_per_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def row(name: str, content: str = "") -> dict[str, str]:
    return {"name": name, "text": content, "more": ""}


def names(path: Path) -> list[str]:
    return [each["name"] for each in read_table(path)]


@several_examples_per_folder
@given(rows)
def test_any_text_comes_back_as_it_was(tmp_path: Path, given_rows: list[dict[str, str]]) -> None:
    path = tmp_path / "table.csv"
    path.unlink(missing_ok=True)
    for each in given_rows:
        with Table(path, COLUMNS) as table:
            table.append(each)
    assert read_table(path) == given_rows
    with path.open(encoding="utf-8", newline="") as file:
        assert list(csv.DictReader(file)) == given_rows, "for any reader of CSV"


@several_examples_per_folder
@given(rows, st.data())
def test_a_file_cut_anywhere_keeps_its_whole_rows_and_takes_more(
    tmp_path: Path, given_rows: list[dict[str, str]], data: st.DataObject
) -> None:
    path = tmp_path / "table.csv"
    path.unlink(missing_ok=True)
    ends = []
    with Table(path, COLUMNS) as table:
        header = path.stat().st_size
        for each in given_rows:
            table.append(each)
            ends.append(path.stat().st_size)
    cut = data.draw(st.one_of(st.just(0), st.integers(header, ends[-1])))  # the header is written in one step
    os.truncate(path, cut)
    whole = sum(end <= cut for end in ends)
    with Table(path, COLUMNS) as table:
        assert table.rows == given_rows[:whole]
        table.append(row("new", "after the kill"))
    assert read_table(path) == [*given_rows[:whole], row("new", "after the kill")]
    assert header <= path.stat().st_size


def test_long_cells_are_read_too(tmp_path: Path) -> None:
    with Table(tmp_path / "t.csv", COLUMNS) as table:
        table.append(row("long", "x" * 500_000))
    assert len(read_table(tmp_path / "t.csv")[0]["text"]) == 500_000


def test_a_row_is_in_the_file_when_append_returns(tmp_path: Path) -> None:
    with Table(tmp_path / "t.csv", COLUMNS) as table:
        for count in range(1, 4):
            table.append(row(str(count)))
            assert names(tmp_path / "t.csv") == [str(number) for number in range(1, count + 1)]


def test_dropped_rows_are_gone_and_the_table_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    with Table(path, COLUMNS) as table:
        for name in "abc":
            table.append(row(name))
        table.keep(lambda each: each["name"] != "b")
        table.append(row("d"))
        assert [each["name"] for each in table.rows] == ["a", "c", "d"]
    assert names(path) == ["a", "c", "d"]
    assert os.listdir(tmp_path) == ["t.csv"]


def test_a_failure_while_dropping_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise OSError("no space left")

    path = tmp_path / "t.csv"
    with Table(path, COLUMNS) as table:
        table.append(row("a"))
        table.append(row("b"))
        monkeypatch.setattr(os, "replace", refuse)
        with pytest.raises(TableError, match="no space left"):
            table.keep(lambda each: False)
    assert names(path) == ["a", "b"]


def hold(path: Path, ready: str) -> None:
    with Table(path, COLUMNS) as table:
        table.append(row("first", "of another process"))
        Path(ready).touch()
        time.sleep(60)


@pytest.fixture
def other_process(tmp_path: Path) -> Iterator[SpawnProcess]:
    """A process that has the table open."""
    ready = tmp_path / "ready"
    process = multiprocessing.get_context("spawn").Process(target=hold, args=(tmp_path / "t.csv", str(ready)))
    process.start()
    while not ready.exists():
        assert process.is_alive()
        time.sleep(0.02)
    yield process
    process.kill()
    process.join()


def test_one_process_writes_at_a_time_and_a_killed_one_blocks_nobody(
    tmp_path: Path, other_process: SpawnProcess
) -> None:
    path = tmp_path / "t.csv"
    with pytest.raises(TableError, match=r"another process is writing .*t\.csv"), Table(path, COLUMNS):
        pass
    assert names(path) == ["first"]
    assert other_process.pid is not None
    os.kill(other_process.pid, signal.SIGKILL)
    other_process.join()
    with Table(path, COLUMNS) as table:
        table.append(row("second"))
    assert names(path) == ["first", "second"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,b\r\n1,2", "is not a table of this version of medtasks rescore"),
        (b"name,text,more\n1,2,3\n", "another program has saved it"),
        (b"name,text,more\r\n1,2\r\n", "row 1 has too few or too many cells"),
        (b"name,text,more\r\n1,2,3,4\r\n", "row 1 has too few or too many cells"),
        (b"name,text,more\r\n\xff\xfe,2,3\r\n", "cannot be read"),
    ],
)
def test_a_file_that_is_no_such_table_is_one_clear_line_and_stays_as_it_is(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(TableError, match=message) as error, Table(path, COLUMNS):
        pass
    assert "\n" not in str(error.value) and str(path) in str(error.value)
    assert path.read_bytes() == content


def test_a_place_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    for path in (tmp_path / "file" / "t.csv", tmp_path):
        with pytest.raises(TableError, match="cannot be written"), Table(path, COLUMNS):
            pass
