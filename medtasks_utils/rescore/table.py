"""A CSV file that grows by whole rows and survives a kill at any moment."""

from __future__ import annotations

import contextlib
import csv
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO

from filelock import FileLock, Timeout

from medtasks_utils.errors import MedtasksError
from medtasks_utils.extraction.printable import printable

Row = dict[str, str]

_MAX_CELL = 100_000_000  # characters; csv's own limit of 131,072 is shorter than some responses


class TableError(MedtasksError):
    """A table that cannot be read or written."""


class Table:
    """The rows of a CSV file, and the way to add more; a context manager, under which no other process writes.

    A last row that a killed writer left unfinished is cut off when the file is opened. All other rows are kept.

    Args:
        path: the file; made, with its folder, if it is not there.
        columns: its columns.

    Raises:
        TableError: if the file is no such table, another process has it, or it cannot be written.

    Attributes:
        rows: all rows, those that the file had and those added since.
    """

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        self.path = path
        self.columns = list(columns)
        self.rows: list[Row] = []
        self._lock = FileLock(f"{path}.lock")
        self._file: IO[str] | None = None

    def __enter__(self) -> Table:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(timeout=0)
        except Timeout:
            raise TableError(
                f"another process is writing {self.path}: wait for it, or name another --out_csv_prefix"
            ) from None
        except OSError as error:
            raise self._unwritable(error) from None
        try:
            self._open()
        except BaseException:
            self._release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._file:
            self._file.close()
        self._release()

    def append(self, row: Row) -> None:
        """Add a row; it is in the file when this returns. Characters that no file can hold become U+FFFD."""
        assert self._file is not None, "the table is not open"
        row = {name: writable(cell) for name, cell in row.items()}
        try:
            csv.DictWriter(self._file, self.columns).writerow(row)
            self._file.flush()
        except OSError as error:
            raise self._unwritable(error) from None
        self.rows.append(row)

    def keep(self, wanted: Callable[[Row], bool]) -> None:
        """Drop all other rows, in one step: a kill leaves the file as it was, or as it will be."""
        kept = [row for row in self.rows if wanted(row)]
        if len(kept) == len(self.rows):
            return
        assert self._file is not None, "the table is not open"
        self._file.close()
        try:
            write_atomically(self.path, self.columns, kept)
            self._file = self._opened_at_end()
        except OSError as error:
            raise self._unwritable(error) from None
        self.rows = kept

    def _open(self) -> None:
        try:
            if self.path.exists() and self.path.stat().st_size:
                self._check_header()
                self._cut_off_unfinished_row()
            else:
                write_atomically(self.path, self.columns, [])
            self.rows = read_table(self.path)
            self._file = self._opened_at_end()
        except OSError as error:
            raise self._unwritable(error) from None

    def _check_header(self) -> None:
        """Before anything is changed: the file may be another's."""
        header = f"{','.join(self.columns)}\r\n".encode()
        with self.path.open("rb") as file:
            if file.read(len(header)) != header:
                raise TableError(
                    f"{self.path} is not a table of this version of medtasks rescore, or another program has saved it "
                    "since: name another --out_csv_prefix"
                )

    def _cut_off_unfinished_row(self) -> None:
        """Cut the file after its last line break outside quotes. A doubled quote inside quotes counts as two."""
        complete, position, quotes = 0, 0, 0
        with self.path.open("rb+") as file:
            for line in file:
                position += len(line)
                quotes += line.count(b'"')
                if line.endswith(b"\n") and quotes % 2 == 0:
                    complete = position
            if complete < position:
                file.truncate(complete)

    def _opened_at_end(self) -> IO[str]:
        return self.path.open("a", encoding="utf-8", newline="")

    def _unwritable(self, error: OSError) -> TableError:
        return TableError(
            f"{self.path} cannot be written ({error.strerror or error}): name another place as --out_csv_prefix"
        )

    def _release(self) -> None:
        self._lock.release()
        with contextlib.suppress(OSError):
            os.unlink(self._lock.lock_file)


def writable(text: str) -> str:
    """The text without what UTF-8 or CSV cannot hold: lone surrogates and NUL become U+FFFD."""
    return printable(text).replace("\0", "\ufffd")


def read_table(path: Path) -> list[Row]:
    """The rows of a table, by column.

    Raises:
        TableError: if it cannot be read.
    """
    csv.field_size_limit(_MAX_CELL)
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise TableError(f"{path} cannot be read: {error}") from None
    bad = next((number for number, row in enumerate(rows, start=1) if None in row or None in row.values()), None)
    if bad is not None:
        raise TableError(f"{path}: row {bad} has too few or too many cells: mend it, or name another --out_csv_prefix")
    return rows


def write_atomically(path: Path, columns: Sequence[str], rows: Iterable[Row]) -> None:
    """Write a whole table beside its place and move it there in one step."""
    beside = path.with_name(f".{path.name}.part")
    with beside.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)
