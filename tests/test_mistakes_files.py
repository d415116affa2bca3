"""Mistakes with files: of rows, of answers kept, of pages and tables written. One line with the way out."""

from __future__ import annotations

import errno
import gzip
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from conftest import clean_environment, evaluate, load, medmcqa_rows, write_rows
from openai_server import openai_server
from test_mistakes import CHAT, TASKS, at, run, the_line

from medtasks_utils.errors import DataError
from medtasks_utils.harness.saving import try_cache
from medtasks_utils.report.summary import problems
from medtasks_utils.results import as_run
from medtasks_utils.writing import WriteError, write_whole


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with openai_server() as (address, _):
        yield address


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "LMEVAL_LOG_LEVEL", "MEDTASKS_DATA"):
        monkeypatch.delenv(name, raising=False)


# ---- standard output and error


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is Linux's")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [["--help"], ["compare", "--plan", "3", "--discordance", "0.2"]])
def test_output_that_cannot_be_written_is_one_line(arguments: list[str], unbuffered: str) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "medtasks_utils", *arguments],
            stdout=full, stderr=subprocess.PIPE, text=True, env=clean_environment({"PYTHONUNBUFFERED": unbuffered}),
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == "medtasks: error: standard output cannot be written: No space left on device\n"


def test_scores_that_are_not_saved_are_shown_where_they_can_be(
    server: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*text: object, file: object = None, **settings: object) -> None:
        if file is None:
            raise OSError(errno.ENOSPC, "No space left on device")
        print(*text, file=file, **settings)  # type: ignore[call-overload]

    monkeypatch.setattr("medtasks_utils.commands.evaluate.print", refuse, raising=False)
    with pytest.raises(OSError, match="No space"):  # capsys takes all
        run(*TASKS, *CHAT, *at(server))
    assert "f1" in capsys.readouterr().err


def test_a_closed_standard_error_is_no_error(monkeypatch: pytest.MonkeyPatch, server: str) -> None:
    monkeypatch.setattr("sys.stderr", None)
    assert run(*TASKS, *CHAT, *at(server)) == 0


# ---- rows


def test_what_is_missing_is_the_split_that_is_read(data: Path) -> None:
    with pytest.raises(DataError, match=r"has no file validation\.parquet\|jsonl\|csv\|tsv or dev\..*it has nothing$"):
        load("medmcqa_openmed", data)


def test_a_split_out_of_train_is_marked_wherever_results_are_read(
    data: Path, warnings_of_harness: Callable[[], list[str]]
) -> None:
    write_rows(medmcqa_rows(40), data / "medmcqa" / "train.jsonl")
    results = evaluate("medmcqa_openmed", data=data)
    said = "there is no validation split: the rows are a tenth held out of train"
    assert [line for line in warnings_of_harness() if said in line]
    assert results["configs"]["medmcqa_openmed"]["metadata"]["remarks"] == [said]
    assert any(said in problem for problem in problems([as_run(results, Path("run"))]))
    write_rows(medmcqa_rows(8), data / "medmcqa" / "validation.jsonl")
    assert "remarks" not in load("medmcqa_openmed", data).config.metadata


def test_a_packed_file_is_to_be_unpacked(data: Path) -> None:
    path = data / "medexqa" / "test" / "clinical_psychologist_test.tsv.gz"
    path.parent.mkdir()
    path.write_bytes(gzip.compress(b"rows"))
    with pytest.raises(DataError, match=r"it has test/clinical_psych\S*\.tsv\.gz; unpack test/clinical_psych\S*\.gz"):
        load("medexqa_clinical_psychology", data)


def test_of_two_formats_one_is_read_and_said(data: Path, warnings_of_harness: Callable[[], list[str]]) -> None:
    for suffix in ("csv", "jsonl"):
        write_rows(medmcqa_rows(), data / "medmcqa" / f"validation.{suffix}")
    load("medmcqa_openmed", data)
    (warning,) = warnings_of_harness()
    assert warning.endswith("validation.jsonl is read, and not the same in .csv beside it")


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [("validation.jsonl", '{}\n\n"a row"\n', "line 3"), ("validation.json", "[{}, 5]", "row 2")],
)
def test_a_row_that_is_no_object_is_named(data: Path, name: str, text: str, place: str) -> None:
    (data / "medmcqa" / name).write_text(text)
    with pytest.raises(DataError, match=f"{name}: {place} is no JSON object"):
        load("medmcqa_openmed", data)


# ---- where answers and results are kept


def test_names_that_are_too_long_leave_nothing_behind(
    server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long = "1" * 240
    for more in (
        [*at(server, f"m/{long * 2}"), "--output_path", "res", "--log_samples"],
        [*at(server), "--output_path", f"res/{long}.json"],
        [*at(server), "--use_cache", f"res/{long}"],
    ):
        assert run(*TASKS, *CHAT, *more) == 1
        assert re.search(r"File name too long\), so the model is not asked; name a shorter one", the_line(capsys))
        assert not list(tmp_path.iterdir())


def _truncated(whole: bytes) -> bytes:
    return whole[: len(whole) // 2]


def _garbage_after_the_head(whole: bytes) -> bytes:
    return whole[:100] + b"garbage" * 2000


def _overwritten(whole: bytes) -> bytes:
    middle = len(whole) // 2
    return whole[:middle] + b"?" * 3000 + whole[middle + 3000 :]


def _odd_answers(whole: bytes) -> bytes:
    return whole.replace(b"\x80\x05", b"\x80\x63")


@pytest.mark.parametrize("damage", [_truncated, _garbage_after_the_head, _overwritten, _odd_answers])
def test_a_damaged_cache_is_named_before_the_model_is_asked(
    damage: Callable[[bytes], bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cache = tmp_path / "c_rank0.db"
    with openai_server() as (address, asked):
        arguments = [*TASKS[:4], "--limit", "20", *CHAT, *at(address), "--use_cache", "c"]
        assert run(*arguments) == 0
        calls = len(asked)
        whole = cache.read_bytes()
        cache.write_bytes(damage(whole))
        capsys.readouterr()
        assert run(*arguments) == 1
        assert re.search(r"--use_cache: \S*c_rank0\.db is damaged \(.+\): move it away", the_line(capsys))
        cache.write_bytes(whole)
        assert run(*arguments) == 0
        assert len(asked) == calls + 1, "the cheap question; the whole cache is as good as before"


def test_a_cache_that_another_run_writes_to_is_no_mistake(server: str, tmp_path: Path) -> None:
    arguments = [*TASKS, *CHAT, *at(server), "--use_cache", "c"]
    assert run(*arguments) == 0
    with closing(sqlite3.connect(tmp_path / "c_rank0.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        try_cache("c")
        other.execute("ROLLBACK")


def test_a_disk_that_fills_up_during_a_run(
    server: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def is_full(*arguments: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("sqlitedict.SqliteDict.__setitem__", is_full)
    assert run(*TASKS, *CHAT, *at(server), "--use_cache", "c") == 1
    message = r"c_rank\*\.db takes no more answers \(database or disk is full\): make room, .* goes on where it stopped"
    assert re.search(message, the_line(capsys))


# ---- files that are replaced


@pytest.mark.parametrize("is_link", [False, True])
def test_a_file_is_written_whole_or_not_at_all(is_link: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.html"
    page.write_text("earlier")
    page.chmod(0o640)
    named = tmp_path / "elsewhere" / "link.html"
    named.parent.mkdir()
    if is_link:
        named.symlink_to(page)
    path = named if is_link else page
    write_whole(path, "later é")
    assert page.read_bytes() == "later é".encode()
    assert page.stat().st_mode & 0o777 == 0o640
    assert named.is_symlink() is is_link

    def is_full(self: object, path: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", is_full)
    with pytest.raises(WriteError, match=rf"{path} cannot be written: No space left on device$"):
        write_whole(path, "never")
    assert page.read_text() == "later é"
    assert {*tmp_path.rglob("*")} == {page, named.parent, *([named] if is_link else [])}


def test_what_is_no_file_or_has_no_room_beside_it_is_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_whole(Path(os.devnull), "text")
    assert not Path(os.devnull).is_file()
    path = tmp_path / "page.html"
    path.write_text("earlier")
    inode = path.stat().st_ino
    monkeypatch.setattr("os.access", lambda path, mode: not os.path.isdir(path))
    write_whole(path, "later")
    assert (path.read_text(), path.stat().st_ino) == ("later", inode)
    monkeypatch.setattr("os.access", lambda path, mode: os.path.isdir(path))
    with pytest.raises(WriteError, match="Permission denied"):
        write_whole(path, "never")
    assert path.read_text() == "later"


def test_a_file_in_no_folder(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file.txt"
    with pytest.raises(WriteError, match="No such file or directory"):
        write_whole(path, "text")
    write_whole(path, b"bytes\r\n", make_folder=True)
    assert path.read_bytes() == b"bytes\r\n"
