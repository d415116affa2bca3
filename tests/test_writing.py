"""Files that take the place of others: whole, or not at all."""

import errno
import os
import re
from pathlib import Path
from unittest.mock import Mock

import pytest
from given import ROOT, each_row

from medtasks_utils import writing
from medtasks_utils.errors import MedtasksError, install
from medtasks_utils.writing import Secrets, write_whole


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
    is_full = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr("pathlib.Path.replace", Mock(side_effect=is_full))
    with pytest.raises(MedtasksError, match=rf"{path} cannot be written: No space left on device$"):
        write_whole(path, "never")
    assert page.read_text() == "later é"
    assert {*tmp_path.rglob("*")} == {page, path.parent, path}


def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(pipe, "text")
    assert os.read(reader, 9) == b"text"


def test_a_missing_folder_is_created(tmp_path):
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
        assert secrets.shown("\x1b[2J\u2028sk-abcd\t.\n") == "\ufffd[2J\ufffd[secret]\t.\n", "as it is printed"


def test_an_extra_is_installed_from_the_clone_or_else_from_the_repository(monkeypatch):
    assert install("hf") == f"pip install -e '{ROOT}[hf]'"
    (source,) = re.findall(r'^Source = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    monkeypatch.setattr("pathlib.Path.exists", lambda path: False)
    assert install("hf") == f"pip install 'medtasks[hf] @ git+{source}'"


@each_row("written_texts")
def test_a_text_is_written_so_that_no_terminal_acts_on_it_and_no_spreadsheet_takes_it_for_a_formula(kind, given, text):
    assert getattr(writing, kind)(*given) == text


@each_row("settings_with_secrets")
def test_values_of_settings_that_hold_keys_are_scrubbed(settings, text, scrubbed, monkeypatch):
    monkeypatch.setenv("JUDGE_API_KEY", "from-outside")
    secrets = Secrets()
    secrets.learn({}, settings)
    given = {"a": [f"{text} from-outside", 1]}
    assert secrets.scrub(given) == {"a": [f"{scrubbed} [secret]", 1]}
