"""Provide inputs of tests: paths, rows, data directories, tables of cases."""

import csv
import datetime
import inspect
import json
import math
import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas
import pytest

from medtasks_utils.benchmarks.medcalc_bench.kinds import CALCULATORS
from medtasks_utils.benchmarks.tables import read_rows
from medtasks_utils.harness.sources import SAMPLE

ROOT = Path(__file__).resolve().parents[2]
TASKS = ROOT / "tasks"
NLTK = Path(__file__).with_name("nltk_data")
"""A WordNet of a few words in WordNet's own format, and a Punkt model of a few sentences, written for this project."""
TASK_OF = {
    "medmcqa": "medmcqa_openmed",
    "medexqa": "medexqa_all",
    "medcalc_bench": "medcalc_bench",
    "medhallu": "medhallu",
}
BENCHMARKS, GENERATION_TASKS = tuple(TASK_OF), tuple(TASK_OF.values())
Row = dict[str, Any]
TABLES = {path.stem: path for path in (ROOT / "tests").glob("**/tables/*.jsonl")}
"""The tables of cases by name, which is unique."""


def json_lines(path: Path) -> list[Any]:
    """Return the values in a file of JSON lines."""
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def csv_rows(path: Path) -> list[Any]:
    """Return the rows of a CSV file by column name; cells are strings."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def table(name: str) -> list[Any]:
    """Return the rows of a table of cases: lists of inputs and expected outputs."""
    return json_lines(TABLES[name])


def each_row(name: str, *more: Sequence[Any]) -> Callable[[Any], Any]:
    """Run a test on each row of a table, and on ``more`` rows; a row has the values of the test's first arguments.

    The id of a case has the table, the line, and those of the row's first two values that are short texts.
    """
    rows = [*table(name), *more]

    def run(test):
        names = [*inspect.signature(test).parameters][: len(rows[0])]
        ids = []
        for line, row in enumerate(rows, 1):
            texts = [text for text, longest in zip(row, (90, 40), strict=False) if len(str(text)) <= longest]
            ids.append(" ".join([f"{name}:{line}", *(text for text in texts if isinstance(text, str))]))
        return pytest.mark.parametrize(names, rows, ids=ids)(test)

    return run


def error_line(kind: type[Exception], function: Callable[..., object], *given: Any, **settings: Any) -> str:
    """Call a function that must raise an error of this kind, and return its message, which must be one line."""
    with pytest.raises(kind) as caught:
        function(*given, **settings)
    (line,) = str(caught.value).splitlines()
    return line


def sample_rows(name: str) -> list[Row]:
    """Return the rows of a file of the bundled sample; cells of csv and tsv files are strings."""
    path = SAMPLE / name
    return [dict(row) for row in read_rows(path, tuple(ROW["medexqa"]) if path.suffix == ".tsv" else None)]


def write_rows(rows: Iterable[Row], path: Path, header: bool = True) -> Path:
    """Write rows in the format that the path's suffix names."""
    rows = list(rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    frame = pandas.DataFrame(rows, dtype=object)
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    else:
        frame.to_csv(path, sep="\t" if path.suffix == ".tsv" else ",", index=False, header=header)
    return path


def medmcqa_rows(count: int = 8, **fields: Any) -> list[Row]:
    """Return rows of MedMCQA with ids, four distinct options, and 0-based labels that use every letter."""
    return [
        {
            "id": f"id-{index}",
            "question": f"Question {index}?",
            **{f"op{letter}": f"option {letter} of {index}" for letter in "abcd"},
            "cop": index % 4,
            "subject_name": "Anatomy",
            **fields,
        }
        for index in range(count)
    ]


def explained_rows(name: str, offset: int = 0, count: int = 40) -> list[Row]:
    """Return rows of MedExQA whose explanations quote the right option, with labels moved by an offset."""
    right = random.Random(name).choices("ABCD", k=count)
    return [
        {
            "question": f"{name} {number}?",
            **{each: f"{each.lower()}{number}" for each in "ABCD"},
            "explanation_1": f"{letter.lower()}{number}, not the other.",
            "explanation_2": "",
            "answer": right[(number - offset) % count],
        }
        for number, letter in enumerate(right)
    ]


BY_CALCULATOR = {calculator.id: calculator.kind for calculator in CALCULATORS}
TASK = {**TASK_OF, "medexqa": "medexqa_biomedical_engineering"}
FILE = {
    "medmcqa": "medmcqa/validation.jsonl",
    "medexqa": "medexqa/test/biomedical_engineer_test.tsv",
    "medcalc_bench": "medcalc_bench/test.csv",
    "medhallu": "medhallu/pqa_labeled.jsonl",
}
ROW: dict[str, Row] = dict(table("rows"))
"""By benchmark, a task, its file in a data directory, and a row; MedMCQA's is shown in the order C, D, A, B."""


def write_changed(data: Path, file: str, *changes: Row) -> None:
    """Write the usual row of the benchmark whose file this is, once with each of the changes."""
    benchmark = file.partition("/")[0]
    write_rows([{**ROW[benchmark], **change} for change in changes], data / file, header=benchmark != "medexqa")


def same(read: Any, wanted: Any) -> bool:
    """Return whether a value that was read equals the expected value in a table."""
    if isinstance(read, float):
        return wanted is not None and math.isclose(read, wanted, rel_tol=1e-6)
    is_date, is_tuple = isinstance(read, datetime.date), isinstance(read, tuple)
    return bool((str(read) if is_date else list(read) if is_tuple else read) == wanted)
