"""Where rows come from: the hub, a directory, or the bundled sample; all three end as files in a folder.

A hub repository is downloaded to the hub's own cache and then read like any directory, so that a snapshot copied to a
machine without internet, files converted by hand, and the hub itself take the same path.
"""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medtasks_utils.benchmarks.card import Card, Repository
from medtasks_utils.errors import DataError, OptionError, first_line, logger
from medtasks_utils.harness import pinned
from medtasks_utils.harness.options import DATA_KEY

Row = dict[str, Any]

PACKAGE = Path(__file__).parents[1]
SAMPLE = PACKAGE / "sample"
ENVIRONMENT_VARIABLE = "MEDTASKS_DATA"

_SUFFIXES = (".parquet", ".jsonl", ".json", ".csv", ".tsv")
_PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip", ".tar")
_MAX_CELL = 10_000_000  # characters; csv's own limit of 131,072 is shorter than some patient notes


def tasks_path() -> Path:
    """The folder with the tasks' YAML: beside the modules in an installed package, beside the package in a checkout."""
    installed = PACKAGE / "tasks"
    return installed if installed.is_dir() else PACKAGE.parent / "tasks"


@dataclass(frozen=True)
class Table:
    """The rows of one split and the places they came from, for messages: its files and the number of rows in each."""

    rows: list[Row]
    parts: Sequence[tuple[Path, int]]

    @property
    def location(self) -> Path:
        """The split's first file."""
        return self.parts[0][0]

    def at(self, index: int) -> str:
        """Name the row with 0-based ``index`` in a message."""
        for path, count in self.parts:
            if index < count:
                return f"{path}, row {index + 1}"
            index -= count
        raise IndexError(index)

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


@dataclass(frozen=True)
class Source:
    """A place that holds the benchmarks' data: ``hub``, ``sample`` or a directory."""

    name: str

    @classmethod
    def from_metadata(cls, metadata: Mapping[str, Any]) -> Source:
        """``medtasks_data`` in ``--metadata``, else the variable ``MEDTASKS_DATA``, else the hub."""
        value = metadata.get(DATA_KEY)
        if value is None:
            value = os.environ.get(ENVIRONMENT_VARIABLE) or "hub"
        if not isinstance(value, str) or not value:
            raise DataError(f'{DATA_KEY} must be "hub", "sample" or the path of a directory, not {value!r}')
        return cls(value)

    def folder(self, card: Card, repository: Repository, revision: str | None = None) -> Path:
        """The folder with one benchmark's files, downloaded to the hub's cache where need be.

        ``revision`` is a commit, tag or branch in place of the repository's pinned one.

        Raises:
            OptionError: for a revision of rows that do not come from the hub.
            DataError: where there is no such folder, or the hub cannot be reached and has not been before.
        """
        if self.name == "hub" and repository.files:
            return pinned.download(repository)
        if self.name == "hub":
            return _download(repository.name, revision or repository.revision, card.file_patterns)
        if revision is not None:
            raise OptionError(
                f"{card.name}: revision={revision} is of the hub's repository, and the rows come from {self.name}: "
                f"leave one of the two out (--data, {ENVIRONMENT_VARIABLE} or {DATA_KEY} says where from)"
            )
        if self.name == "sample" and card.sample is not None:
            return card.sample
        root = SAMPLE if self.name == "sample" else Path(self.name).expanduser()
        setting = f"--data, {ENVIRONMENT_VARIABLE} or {DATA_KEY}"
        if not root.is_dir():
            raise DataError(
                f"no directory {root} (set by {setting}); give an existing one, "
                f'"hub" to download {repository.name}, or "sample" for the bundled sample'
            )
        folder = root / card.name
        if not folder.is_dir():
            raise DataError(
                f"{root} has no folder {card.name}/; put a snapshot of the hub data set {repository.name} or plain "
                f'files there, or set {setting} to "hub" or "sample"'
            )
        return folder


def _download(repository: str, revision: str | None, patterns: Sequence[str]) -> Path:
    from huggingface_hub import constants, snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    place = f"{repository}" + (f" at revision {revision}" if revision else "")
    way_out = (
        "run once on a machine with internet and copy its hub cache, or set "
        f'{ENVIRONMENT_VARIABLE} to a directory with the files, or to "sample" for the bundled sample'
    )
    try:
        return Path(
            snapshot_download(repository, repo_type="dataset", revision=revision, allow_patterns=list(patterns))
        )
    except LocalEntryNotFoundError:
        reason = f"cannot reach the hub for {place}"
        if constants.HF_HUB_OFFLINE:
            reason, way_out = f"HF_HUB_OFFLINE is set, which forbids to download {place}", f"unset it, {way_out}"
        raise DataError(f"{reason}, and it is not in the hub's cache on this machine; {way_out}") from None
    except (OSError, HFValidationError, *HfHubHTTPError.__bases__) as error:  # whichever HTTP library the client uses
        raise DataError(f"cannot download {place} from the hub ({first_line(error)}); {way_out}") from None


def find_split(folder: Path, *splits: str) -> list[Path]:
    """Files that hold a split: the first of ``splits`` (names, or ``config/split``) for which there are any.

    Names understood: ``test.csv``, ``test_data.csv``, ``test-00000-of-00002.parquet``, in the folder or in ``data/``,
    and a folder ``test/`` of shards. Where a split is there in several formats, one format is taken.
    """
    found = _of_split(folder, *splits)
    return [path for path in found if path.suffix == found[0].suffix]


def _of_split(folder: Path, *splits: str) -> list[Path]:
    """Its files in all formats, those of the one that is taken first."""
    for split in splits:
        config, _, name = split.rpartition("/")
        stem = re.compile(rf"{re.escape(name)}(_data)?(-\d+-of-\d+(-[0-9a-f]+)?)?", re.IGNORECASE)
        base = folder / config
        for place, shards in ((base, False), (base / "data", False), (base / name, True)):
            there = [path for path in place.glob("[!.]*") if path.suffix in _SUFFIXES]
            found = [path for path in there if shards or stem.fullmatch(path.stem)]
            if found:
                return sorted(found, key=lambda path: (_SUFFIXES.index(path.suffix), path))
    return []


def read_split(folder: Path, *splits: str) -> Table:
    """Read the first of ``splits`` that is there.

    Raises:
        DataError: where none is, or a file cannot be read.
    """
    found = _of_split(folder, *splits)
    if not found:
        wanted = " or ".join(f"{split}.parquet|jsonl|csv|tsv" for split in splits)
        inside = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
        present = [str(path) for path in inside if not any(part.startswith(".") for part in path.parts)]
        packed = next((name for name in present if Path(name).suffix in _PACKED), None)
        way_out = f"; unpack {packed}" if packed else ""
        raise DataError(f"{folder} has no file {wanted}; it has {', '.join(present[:12]) or 'nothing'}{way_out}")
    files = [path for path in found if path.suffix == found[0].suffix]
    others = sorted({path.suffix for path in found} - {found[0].suffix})
    if others:
        logger.warning("%s is read, and not the same in %s beside it", files[0], " and ".join(others))
    tables = [(path, read_rows(path)) for path in files]
    return Table([row for _, rows in tables for row in rows], [(path, len(rows)) for path, rows in tables])


def read_rows(path: Path) -> list[Row]:
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
        header, *records = _cells(path) or [[]]
        for number, record in enumerate(records, start=1):
            if len(record) != len(header):
                raise DataError(f"{path}, row {number}: {len(record)} columns where the header has {len(header)}")
        return [dict(zip(header, record, strict=True)) for record in records]
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read {path}: {error}") from None


def read_headerless(path: Path, columns: Sequence[str]) -> Table:
    """Rows of a csv or tsv file without a header (one that repeats the column names is skipped).

    Raises:
        DataError: naming the first row with another number of columns.
    """
    records = _cells(path)
    for number, record in enumerate(records, start=1):
        if len(record) != len(columns):
            raise DataError(
                f"{path}, row {number}: {len(record)} columns where {len(columns)} are expected ({', '.join(columns)})"
            )
    rows = [dict(zip(columns, record, strict=True)) for record in records if record != list(columns)]
    return Table(rows, [(path, len(rows))])


def _cells(path: Path) -> list[list[str]]:
    limit = csv.field_size_limit(_MAX_CELL)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return [record for record in csv.reader(file, delimiter="\t" if path.suffix == ".tsv" else ",") if record]
    except (OSError, ValueError, csv.Error) as error:
        raise DataError(f"cannot read {path}: {error}") from None
    finally:
        csv.field_size_limit(limit)


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
