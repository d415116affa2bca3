"""CSV files with a judge's rows, written whole."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from medtasks_utils.errors import MedtasksError
from medtasks_utils.extraction.printable import printable
from medtasks_utils.writing import WriteError, write_whole

_WAY_OUT = "name another place as --out_csv_prefix"

JudgedRow = dict[str, str]


class TableError(MedtasksError):
    """A table that cannot be written, or would take another file's place."""


def check_place(path: Path, columns: Sequence[str]) -> None:
    """See that a table can be written, before anything is judged.

    Raises:
        TableError: if the place cannot be written, or holds a file that is no such table.
    """
    header = f"{','.join(columns)}\r\n".encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        there = path.exists()
        with path.open("ab+") as file:
            file.seek(0)
            found = file.read(len(header))
        if not there:
            path.unlink()
    except OSError as error:
        raise TableError(f"{path} cannot be written: {error.strerror or error}: {_WAY_OUT}") from None
    if found and found != header:
        raise TableError(
            f"{path} is not a table of this version of medtasks rescore, or another program has saved it since: name "
            "another --out_csv_prefix"
        )


def write_table(path: Path, columns: Sequence[str], rows: Iterable[JudgedRow]) -> None:
    """Write a table whole. What UTF-8 or CSV cannot hold becomes U+FFFD.

    Raises:
        TableError: if it cannot be written.
    """
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns)
    writer.writeheader()
    writer.writerows({name: writable(cell) for name, cell in row.items()} for row in rows)
    try:
        write_whole(path, text.getvalue())
    except WriteError as error:
        raise TableError(f"{error}: {_WAY_OUT}") from None


def writable(text: str) -> str:
    """The text without what UTF-8 or CSV cannot hold: lone surrogates and NUL become U+FFFD."""
    return printable(text).replace("\0", "\ufffd")
