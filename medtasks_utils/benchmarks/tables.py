"""Read the rows of a split from its files."""

import csv
import json
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


@dataclass(frozen=True)
class Table:
    """The rows of a split, with the path of their file or of the folder of their shards (None for rows in memory)."""

    rows: Sequence[Any]
    path: Path | None = None

    def made(self, make: Callable[[Any], Made]) -> list[Made]:
        """Return ``make(row)`` for each row.

        Raises:
            DataError: if there are no rows, or if ``make`` raises ValueError, TypeError for a cell of another type, or
                KeyError for a missing column; the message names the row.
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
    """Return a cell as text; None becomes an empty text."""
    return "" if cell is None else str(cell)


def find_split(folder: Path, *splits: str) -> list[Path]:
    """Return the files of the first of ``splits`` that has files; an empty list if none has.

    Recognised names for the split ``test`` are ``test.csv``, ``test_data.csv`` and ``test-00000-of-00002.parquet``, in
    the folder or in ``data/``, and a folder ``test/`` of shards. If there are several formats, the first of
    :data:`SUFFIXES` is used.

    Args:
        folder: the folder with the files.
        splits: names of splits, each ``split`` or ``config/split``.
    """
    for split in splits:
        config, _, name = split.rpartition("/")
        stem = re.compile(rf"{re.escape(name)}(_data)?(-\d+-of-\d+(-[0-9a-f]+)?)?", re.IGNORECASE)
        base = folder / config
        for place, names in ((base, stem), (base / "data", stem), (base / name, re.compile(".*"))):
            for suffix in SUFFIXES:
                files = [path for path in sorted(place.glob(f"[!.]*{suffix}")) if names.fullmatch(path.stem)]
                if files:
                    return files
    return []


def read_split(folder: Path, *splits: str, columns: Sequence[str] | None = None) -> Table:
    """Read the first of ``splits`` that exists.

    Args:
        folder: the folder with the files.
        splits: names of splits, as for :func:`find_split`.
        columns: the names of the columns if csv and tsv files have no header; a row that repeats them is skipped.

    Raises:
        DataError: if no split exists, or a file cannot be read.
    """
    files = find_split(folder, *splits)
    if not files:
        names = " or ".join(f"{split}.parquet|jsonl|csv|tsv" for split in splits)
        present = ", ".join(sorted(path.name for path in folder.iterdir()))
        raise DataError(f"{folder} has no file {names}; it contains {present[:400] or 'no files'}")
    rows: list[Row] = []
    for file in files:
        rows += read_rows(file, columns)
    return Table(rows, files[0] if len(files) == 1 else files[0].parent)


def read_rows(path: Path, columns: Sequence[str] | None = None) -> list[Row]:
    """Read the rows of a file: parquet, jsonl or json (one row per line), or csv or tsv (all cells are strings).

    Raises:
        DataError: if the file cannot be read; the message names the file and, if known, the line.
    """
    try:
        if path.suffix == ".parquet":
            from pyarrow import parquet

            return list(parquet.read_table(path).to_pylist())
        if path.suffix in (".jsonl", ".json"):
            lines = path.read_text(encoding="utf-8-sig").split("\n")
            return Table([line for line in lines if line.strip()], path).made(json.loads)
        csv.field_size_limit(1 << 30)  # in characters; notes may be long
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, columns and list(columns), delimiter="\t" if path.suffix == ".tsv" else ",")
            rows: list[Row] = []
            for row in reader:
                if None in row or None in row.values():  # DictReader marks too many or too few cells like this
                    raise ValueError(f"line {reader.line_num} has more or fewer cells than the file has columns")
                if [*row.values()] != reader.fieldnames:
                    rows.append(row)
            return rows
    except (OSError, ValueError, csv.Error) as error:
        raise DataError(f"cannot read {path}: {reason_of(error)}") from None
