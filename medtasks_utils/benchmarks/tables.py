"""Rows of one split out of the files that hold them, and their places for messages."""

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
"""Of files that can be read."""


@dataclass(frozen=True)
class Table:
    """The rows of one split, and the file that they are in (of shards their folder); none for a row by itself."""

    rows: Sequence[Any]
    path: Path | None = None

    def made(self, make: Callable[[Any], Made]) -> list[Made]:
        """What ``make`` makes of each row.

        Raises:
            DataError: where there are no rows, or naming the row for which ``make`` raised a ValueError, or which lacks
                a column that it asked for.
        """
        if not self.rows:
            raise DataError(f"{self.path} has no rows")
        found = []
        for index, row in enumerate(self.rows):
            try:
                found.append(make(row))
            except (KeyError, ValueError) as error:
                place = "the row" if self.path is None else f"{self.path}, row {index + 1}"
                is_missing = isinstance(error, KeyError)
                said = f"missing column {error}; it has {', '.join(row)}" if is_missing else error
                raise DataError(f"{place}: {said}") from None
        return found


def text_of(cell: Any) -> str:
    """A cell as text, which is empty where the cell holds nothing."""
    return "" if cell is None else str(cell)


def find_split(folder: Path, *splits: str) -> list[Path]:
    """Files that hold a split: the first of ``splits`` (names, or ``config/split``) for which there are any.

    Names understood: ``test.csv``, ``test_data.csv``, ``test-00000-of-00002.parquet``, in the folder or in ``data/``,
    and a folder ``test/`` of shards. Where a split is there in several formats, the first is taken of parquet, jsonl,
    json, csv and tsv.
    """
    for split in splits:
        config, _, name = split.rpartition("/")
        stem = re.compile(rf"{re.escape(name)}(_data)?(-\d+-of-\d+(-[0-9a-f]+)?)?", re.IGNORECASE)
        base = folder / config
        for place, names in ((base, stem), (base / "data", stem), (base / name, re.compile(".*"))):
            for suffix in SUFFIXES:
                found = [path for path in sorted(place.glob(f"[!.]*{suffix}")) if names.fullmatch(path.stem)]
                if found:
                    return found
    return []


def read_split(folder: Path, *splits: str, columns: Sequence[str] | None = None) -> Table:
    """Read the first of ``splits`` that is there.

    Args:
        folder: with the files.
        splits: as :func:`find_split` takes them.
        columns: names of the columns of csv and tsv files that have no header (a row that repeats them is none).

    Raises:
        DataError: where none is, or a file cannot be read.
    """
    files = find_split(folder, *splits)
    if not files:
        wanted = " or ".join(f"{split}.parquet|jsonl|csv|tsv" for split in splits)
        present = ", ".join(sorted(path.name for path in folder.iterdir()))
        raise DataError(f"{folder} has no file {wanted}; it has {present[:400] or 'nothing'}")
    path = files[0] if len(files) == 1 else files[0].parent
    return Table([row for file in files for row in read_rows(file, columns)], path)


def read_rows(path: Path, columns: Sequence[str] | None = None) -> list[Row]:
    """Rows of one file: parquet, jsonl and json (a row a line), csv or tsv, whose cells are strings.

    Raises:
        DataError: naming the file, and the line where there is one.
    """
    try:
        if path.suffix == ".parquet":
            from pyarrow import parquet

            return list(parquet.read_table(path).to_pylist())
        if path.suffix in (".jsonl", ".json"):
            lines = path.read_text(encoding="utf-8-sig").split("\n")
            return Table([line for line in lines if line.strip()], path).made(json.loads)
        csv.field_size_limit(1 << 30)  # characters of a cell; notes may be long
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, columns and list(columns), delimiter="\t" if path.suffix == ".tsv" else ",")
            rows: list[Row] = []
            for row in reader:
                if None in row or None in row.values():  # DictReader's names for a cell too many or too few
                    raise ValueError(f"line {reader.line_num}: more or fewer cells than there are columns")
                if [*row.values()] != reader.fieldnames:
                    rows.append(row)
            return rows
    except (OSError, ValueError, csv.Error) as error:
        raise DataError(f"cannot read {path}: {reason_of(error)}") from None
