"""Files that take the place of others: whole, or not at all."""

import errno
import os
from pathlib import Path

import pytest
from given import each_row

from medtasks_utils.errors import MedtasksError
from medtasks_utils.writing import Secrets, counted, csv_of, plain, printable, shortened, write_whole


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    page = tmp_path / "page.html"
    page.write_text("earlier")
    page.chmod(0o640)
    path = tmp_path / "elsewhere" / "link.html"
    path.parent.mkdir()
    path.symlink_to(page)
    write_whole(path, "later é")
    assert page.read_bytes() == "later é".encode()
    assert page.stat().st_mode & 0o777 == 0o640 and path.is_symlink()

    def is_full(self, path):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", is_full)
    with pytest.raises(MedtasksError, match=rf"{path} cannot be written: No space left on device$"):
        write_whole(path, "never")
    assert page.read_text() == "later é"
    assert {*tmp_path.rglob("*")} == {page, path.parent, path}


def test_what_is_no_file_is_written_to(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(pipe, "text")
    assert os.read(reader, 9) == b"text"


def test_a_folder_that_is_not_there_is_made(tmp_path):
    path = tmp_path / "new" / "folder" / "file.txt"
    write_whole(path, b"bytes\r\n")
    assert path.read_bytes() == b"bytes\r\n"
    with pytest.raises(MedtasksError, match="Not a directory"):
        write_whole(Path(os.devnull) / "folder" / "file.txt", "text")


def test_a_secret_that_begins_another_leaves_nothing_of_it():
    for order in (1, -1):
        secrets = Secrets()
        for key in ["sk-abcd", "sk-abcd-and-more"][::order]:
            secrets.learn({"api_key": key})
        assert secrets.scrub(["sk-abcd-and-more", {"a": "sk-abcd."}]) == ["[secret]", {"a": "[secret]."}]


def test_what_would_control_a_terminal_is_replaced():
    assert plain("a\x1b[1m\nb \u202eé") == "a\ufffd[1m\ufffdb \ufffdé"


@each_row("cells")
def test_no_spreadsheet_takes_a_cell_for_a_formula(cell, written):
    assert csv_of("a", [[cell]]) == f"a\r\n{written}\r\n"


def test_texts_of_one_line():
    assert [counted(1, "run"), counted(1200, "run"), counted(2, "try", "tries")] == ["1 run", "1,200 runs", "2 tries"]
    assert [shortened(text, 5) for text in ("abcde", "abc defg", "abcdefg")] == ["abcde", "abc…", "abcd…"]
    assert printable("a\ud83d\ude00\ud800") == "a😀\ufffd"


@each_row("settings_with_secrets")
def test_what_is_learned_as_a_secret(settings, text, scrubbed, monkeypatch):
    monkeypatch.setenv("JUDGE_API_KEY", "from-outside")
    secrets = Secrets()
    secrets.learn({}, settings)
    given = {"a": [f"{text} from-outside", 1]}
    assert secrets.scrub(given) == {"a": [f"{scrubbed} [secret]", 1]}
