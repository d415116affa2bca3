"""Read the rows of a split from its files."""

import csv
import gzip
import io
import itertools
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from medtasks_utils.errors import DataError, reason_of

Row = Mapping[str, Any]
Made = TypeVar("Made")

SUFFIXES = (".parquet", ".jsonl", ".json", ".csv", ".tsv")
"""Suffixes of readable files, in order of preference."""

_SHARD = re.compile(r"(?P<name>.*?)(?P<number>\d+)(?:-of-(?P<count>\d+)(?:-[0-9a-f]+)?)?")

_COPY = r"([ _-]+copy.*| \((.* )?copy.*\)| \(\d+\))?"
"""Suffixes that file managers and browsers add to the name of a copy."""


@dataclass(frozen=True)
class Table:
    """The rows of a split, with the path of their file or of the folder of their shards (None for rows in memory)."""

    rows: Sequence[Any]
    path: Path | None = None

    def made(self, make: Callable[[Any], Made]) -> list[Made]:
        """Return ``make(row)`` for each row.

        Raises:
            DataError: if there are no rows, or if ``make`` raises ValueError, TypeError for a cell of the wrong type,
                or KeyError for a missing column; the message names the row if the table has a path.
        """
        if not self.rows:
            raise DataError(f"{self.path} has no rows")
        results = []
        for index, row in enumerate(self.rows):
            try:
                results.append(make(row))
            except (KeyError, ValueError, TypeError) as error:
                place = "the row" if self.path is None else f"{self.path}, row {index + 1}"
                is_missing = isinstance(error, KeyError)
                problem = f"missing column {error}; the columns are {', '.join(row)}" if is_missing else error
                raise DataError(f"{place}: {problem}") from None
        return results


def text_of(cell: Any) -> str:
    """Return a cell as text; None and NaN become an empty string, and bytes are decoded.

    Raises:
        ValueError: for bytes that are not UTF-8.
    """
    if isinstance(cell, bytes):
        return cell.decode()
    is_missing = cell is None or (isinstance(cell, float) and math.isnan(cell))
    return "" if is_missing else str(cell)


def find_split(folder: Path, *splits: str) -> list[Path]:
    """Return the files of the first of ``splits`` that has files; an empty list if none has.

    Recognised names for the split ``test`` are ``test.csv``, ``test_data.csv`` and ``test-00000-of-00002.parquet``, in
    the folder or in ``data/``, and a folder ``test/`` of shards. The first of :data:`SUFFIXES` with files is used.

    Args:
        folder: the folder with the files.
        splits: names of splits, each ``split`` or ``config/split``.

    Raises:
        DataError: for more than one file, unless the files are one complete set of shards. The same file in a
            different format counts as a further file. The message lists the files.
    """
    for split in splits:
        config, _, name = split.rpartition("/")
        stem = re.compile(rf"{re.escape(name)}(_data)?(-\d+-of-\d+(-[0-9a-f]+)?)?{_COPY}", re.IGNORECASE)
        base = folder / config
        for place, names in ((base, stem), (base / "data", stem), (base / name, re.compile(".*"))):
            for suffix in SUFFIXES:
                files = [path for path in sorted(place.glob(f"[!.]*{suffix}")) if names.fullmatch(path.stem)]
                if files:
                    # A file in a different format may contain different rows; it would be unclear which to read.
                    twins = itertools.starmap(Path.with_suffix, itertools.product(files, SUFFIXES))
                    _check_whole([twin for twin in twins if twin.is_file()])
                    return files
    return []


def _check_whole(files: Sequence[Path]) -> None:
    """Check that there is a single file or a complete set of shards, numbered from 0 or from 1.

    Raises:
        DataError: if a shard is missing, or there is an extra file, such as a copy or a shard of a different set.
    """
    shards = [_SHARD.fullmatch(file.stem) for file in files]
    sets = {shard and (shard["name"], shard["count"]) for shard in shards}
    numbers = sorted(int(shard["number"]) for shard in shards if shard)
    count = max(len(files), *(int(shard["count"] or 0) for shard in shards if shard), 1)
    is_whole = len(sets) == 1 and numbers in ([*range(count)], [*range(1, count + 1)])
    if count > 1 and not is_whole:
        raise DataError(
            f"{files[0].parent} has {', '.join(file.name for file in files)}: a split is one file, or each of its "
            "shards once; remove the others, or add the missing shards"
        )


def read_split(folder: Path, *splits: str, columns: Sequence[str] | None = None) -> Table:
    """Read all rows of the first of ``splits`` that has files.

    Args:
        folder: the folder with the files.
        splits: names of splits, as for :func:`find_split`.
        columns: the names of the columns if csv and tsv files have no header; a row that repeats the names is skipped.

    Raises:
        DataError: if no split exists, or a file cannot be read.
    """
    files = find_split(folder, *splits)
    if not files:
        formats = "|".join(suffix.removeprefix(".") for suffix in SUFFIXES)
        names = " or ".join(f"{split}.{formats}" for split in splits)
        present = ", ".join(sorted(path.name for path in folder.iterdir()))
        raise DataError(f"{folder} has no file {names}; it contains {present[:400] or 'no files'}")
    rows: list[Row] = []
    for file in files:
        rows += read_rows(file, columns)
    return Table(rows, files[0] if len(files) == 1 else files[0].parent)


def read_rows(path: Path, columns: Sequence[str] | None = None) -> list[Row]:
    """Read the rows of a file: parquet, jsonl or json (a row per line, or an array), or csv or tsv (of strings).

    All formats but parquet may be compressed by gzip (``.csv.gz``). ``columns`` is explained at :func:`read_split`.

    Raises:
        DataError: if the file cannot be read; the message names the file and, if known, the line.
    """
    try:
        if path.suffix.lower() == ".parquet":
            from pyarrow import parquet

            return list(parquet.read_table(path).to_pylist())
        text = _text_in(path)
        if kind_of(path) in (".csv", ".tsv"):
            return _rows_of_table(text, columns, "\t" if kind_of(path) == ".tsv" else None)
        lines = [line for line in text.split("\n") if line.strip()]
        is_array = lines and lines[0].lstrip().startswith("[")
        return Table(json.loads(text) if is_array else lines, path).made(_object)
    except (OSError, ValueError, csv.Error) as error:
        raise DataError(f"cannot read {path}: {reason_of(error)}") from None


def kind_of(path: Path) -> str:
    """Return the suffix of a file, ignoring a final ``.gz``: ``.csv`` for ``rows.csv.gz``."""
    return (path.with_suffix("") if path.suffix == ".gz" else path).suffix.lower()


def _text_in(path: Path) -> str:
    """Return the text of a file in UTF-8 or, with a byte order mark, UTF-16; the file may be compressed by gzip.

    Raises:
        ValueError: for a different encoding.
    """
    content = path.read_bytes()
    content = gzip.decompress(content) if path.suffix == ".gz" else content
    try:
        return content.decode("utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{error}; save it as UTF-8") from None


def _rows_of_table(text: str, columns: Sequence[str] | None, delimiter: str | None) -> list[Row]:
    """Return the rows of a table in a text.

    Args:
        text: the text.
        columns: the names of the columns; None if the first line contains them.
        delimiter: the character between cells; None for that of comma, semicolon, tab and ``|`` that occurs most often
            in the first line, outside quotes.

    Raises:
        ValueError: for two columns of the same name, a row with more or fewer cells than there are columns, or a quoted
            cell that is not closed.
    """
    header = re.sub('"[^"]*"', "", text.partition("\n")[0])
    delimiter = delimiter or max(",;\t|", key=header.count)
    _check_quotes(text, delimiter)
    csv.field_size_limit(1 << 30)  # in characters; notes may be long
    reader = csv.DictReader(io.StringIO(text, newline=""), columns and list(columns), delimiter=delimiter)
    names = list(reader.fieldnames or ())
    if twice := sorted({name for name in names if name and names.count(name) > 1}):
        raise ValueError(f"several columns have the name {', '.join(twice)}")
    rows: list[Row] = []
    for row in reader:
        if None in row or None in row.values():  # DictReader marks too many or too few cells like this
            raise ValueError(f"line {reader.line_num} has more or fewer cells than the file has columns")
        if [*row.values()] != names:
            rows.append(row)
    return rows


def _object(line: Any) -> Row:
    """Return an element of an array, or a line of JSON, as a row; raise ValueError if it is not an object."""
    row = json.loads(line) if isinstance(line, str) else line
    if not isinstance(row, dict):
        raise ValueError(f"{json.dumps(row)[:99]} is not an object with the columns as its keys")
    return row


def _check_quotes(text: str, delimiter: str) -> None:
    """Check that each quoted cell is closed, and that no quote inside the text of a later line closes it.

    Without this check, a truncated file or a stray quote would join rows.

    Raises:
        ValueError: for the first quoted cell that is not closed.
    """
    cell = r'"([^"]*(?:""[^"]*)*)("?)'
    for quoted in re.finditer(rf"(?<![^{delimiter}\r\n]){cell}([^{delimiter}\r\n]?)", text):
        joins_rows = "\n" in quoted[1] and quoted[3]
        if joins_rows or not quoted[2]:
            line = text.count("\n", 0, quoted.start()) + 1
            raise ValueError(
                f"the quoted cell that begins on line {line} is not closed: the file is truncated, or a quote inside "
                "the text is not doubled"
            )
