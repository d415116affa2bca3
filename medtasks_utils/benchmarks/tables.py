"""Rows out of files: which files hold a split, and what is in them, with places for messages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medtasks_utils.errors import DataError, first_line, logger

Row = Mapping[str, Any]

_SUFFIXES = (".parquet", ".jsonl", ".json", ".csv", ".tsv")
_PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip", ".tar")


@dataclass(frozen=True)
class Table:
    """The rows of one split and the places they came from: its files and the number of rows in each."""

    rows: Sequence[Row]
    parts: Sequence[tuple[Path, int]] = ()

    @property
    def location(self) -> str:
        """The split's first file."""
        return str(self.parts[0][0]) if self.parts else "the row"

    def at(self, index: int) -> str:
        """Name the row with 0-based ``index`` in a message."""
        for path, count in self.parts:
            if index < count:
                return f"{path}, row {index + 1}"
            index -= count
        return "the row"

    def require_columns(self, columns: Iterable[str]) -> None:
        """Check that every row has every column.

        Raises:
            DataError: naming the columns that are missing, the row, and the columns there are.
        """
        if not self.rows:
            raise DataError(f"{self.location} has no rows")
        columns = list(columns)
        for index, row in enumerate(self.rows):
            missing = [column for column in columns if column not in row]
            if missing:
                raise DataError(
                    f"{self.at(index)}: missing column{'s' if len(missing) > 1 else ''} {', '.join(missing)}; "
                    f"it has {', '.join(map(str, row))}"
                )


def find_split(folder: Path, *splits: str) -> list[Path]:
    """Files that hold a split: the first of ``splits`` (names, or ``config/split``) for which there are any.

    Names understood: ``test.csv``, ``test_data.csv``, ``test-00000-of-00002.parquet``, in the folder or in ``data/``,
    and a folder ``test/`` of shards. Where a split is there in several formats, one format is taken.
    """
    for split in splits:
        config, _, name = split.rpartition("/")
        stem = re.compile(rf"{re.escape(name)}(_data)?(-\d+-of-\d+(-[0-9a-f]+)?)?", re.IGNORECASE)
        base = folder / config
        for place, shards in ((base, False), (base / "data", False), (base / name, True)):
            there = [path for path in place.glob("[!.]*") if path.suffix in _SUFFIXES]
            found = [path for path in there if shards or stem.fullmatch(path.stem)]
            if found:
                found.sort(key=lambda path: (_SUFFIXES.index(path.suffix), path))
                others = sorted({path.suffix for path in found} - {found[0].suffix})
                if others:
                    logger.warning("%s is read, and not the same in %s beside it", found[0], " and ".join(others))
                return [path for path in found if path.suffix == found[0].suffix]
    return []


def read_split(folder: Path, *splits: str, columns: Sequence[str] | None = None) -> Table:
    """Read the first of ``splits`` that is there.

    Args:
        folder: with the files.
        splits: as :func:`find_split` takes them.
        columns: names of the columns of csv and tsv files that have no header (one that repeats them is skipped).

    Raises:
        DataError: where none is, or a file cannot be read.
    """
    files = find_split(folder, *splits)
    if not files:
        wanted = " or ".join(f"{split}.parquet|jsonl|csv|tsv" for split in splits)
        inside = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
        present = [str(path) for path in inside if not any(part.startswith(".") for part in path.parts)]
        packed = next((name for name in present if Path(name).suffix in _PACKED), None)
        way_out = f"; unpack {packed}" if packed else ""
        raise DataError(f"{folder} has no file {wanted}; it has {', '.join(present[:12]) or 'nothing'}{way_out}")
    tables = [(path, read_rows(path, columns)) for path in files]
    return Table([row for _, rows in tables for row in rows], [(path, len(rows)) for path, rows in tables])


def read_rows(path: Path, columns: Sequence[str] | None = None) -> list[Row]:
    """Rows of one parquet, jsonl, json, csv or tsv file; cells of csv and tsv are strings, an empty cell is ``""``.

    Raises:
        DataError: naming the file, and the line where there is one.
    """
    try:
        if path.suffix == ".parquet":
            from pyarrow import parquet

            rows: list[Row] = parquet.read_table(path).to_pylist()
            return rows
        if path.suffix in (".jsonl", ".json"):
            return _json_rows(path.read_text(encoding="utf-8-sig"), path)
        return _cells(path, columns)
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read {path}: {first_line(error)}") from None


def _cells(path: Path, columns: Sequence[str] | None) -> list[Row]:
    import pandas

    # Without names of its own, and with the header as a row: pandas would rename columns that stand twice, and take the
    # first column for an index where rows have one cell more than the header.
    separator = "\t" if path.suffix == ".tsv" else ","
    try:
        frame = pandas.read_csv(path, sep=separator, header=None, dtype=str, na_filter=False, encoding="utf-8-sig")
    except pandas.errors.EmptyDataError:
        return []
    records = frame.to_numpy().tolist()
    header = list(columns) if columns is not None else records.pop(0) if records else []
    if len(frame.columns) != len(header):
        raise DataError(
            f"{path}, row 1: {len(frame.columns)} columns where {len(header)} are expected ({', '.join(header)})"
        )
    return [dict(zip(header, record, strict=True)) for record in records if record != header]


def _json_rows(text: str, path: Path) -> list[Row]:
    rows: dict[str, Any] = {}
    if path.suffix == ".json" and text.lstrip().startswith("["):
        rows = {f"row {number}": row for number, row in enumerate(json.loads(text), start=1)}
    else:
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                try:
                    rows[f"line {number}"] = json.loads(line)
                except ValueError as error:
                    raise ValueError(f"line {number} is not JSON ({error})") from None
    for place, row in rows.items():
        if not isinstance(row, dict):
            raise ValueError(f"{place} is no JSON object, as every row must be")
    return list(rows.values())
