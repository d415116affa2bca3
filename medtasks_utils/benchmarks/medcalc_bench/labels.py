"""Two labels of one example: the benchmark's own and the physicians', where both are at hand.

What a run knows of the other label goes into the samples' details as ``other_label``, with a badge and a note where the
two differ; nothing of it enters a metric.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from medtasks_utils.benchmarks.card import DOUBTFUL, PHYSICIANS
from medtasks_utils.benchmarks.medcalc_bench import corrected, rows
from medtasks_utils.benchmarks.medcalc_bench.card import NOT_AVAILABLE
from medtasks_utils.benchmarks.medcalc_bench.reading import authors_value, is_right
from medtasks_utils.errors import DataError
from medtasks_utils.harness.sources import Row, Table, find_split, read_split

logger = logging.getLogger("lm_eval.medtasks")

BENCHMARK = "benchmark"

Key = tuple[int, str, str]
Labels = Mapping[Key, Row]
"""Documents by calculator, note and question, which are the same whatever the label."""


def key_of(doc: Row) -> Key:
    """What makes an example, whatever its label."""
    return doc["calculator_id"], " ".join(doc["note"].split()), " ".join(doc["question"].split())


def physicians_labels(folder: Path) -> Labels | None:
    """The labels of the corrected rows in a folder; None where they are not there or cannot be read."""
    return _labels(folder, corrected.SPLITS, corrected.COLUMNS)


def benchmark_labels(folder: Path) -> Labels | None:
    """The benchmark's own labels in a folder; None where they are not there or cannot be read."""
    return _labels(folder, ("original", "test"), tuple(column for column in rows.COLUMNS if column != "Row Number"))


def _labels(folder: Path, splits: tuple[str, ...], columns: tuple[str, ...]) -> Labels | None:
    if not find_split(folder, *splits):
        return None
    try:
        table = read_split(folder, *splits)
        table.require_columns(columns)
        documents = [_document(row, table, index) for index, row in enumerate(table.rows)]
    except DataError as error:
        logger.warning("the other labels are left out: %s", error)
        return None
    return {key_of(doc): doc for doc in documents}


def _document(row: Row, table: Table, index: int) -> Row:
    if "Calculator ID" not in row:
        return corrected.corrected_document(row, table, index)
    return rows.as_document({"Row Number": row.get("Unique ID"), **row}, table, index)


def details_of(doc: Row, other: Row | None, value: Any) -> dict[str, Any]:
    """What a sample says of its other label; the same names in every sample.

    Args:
        doc: the document that was asked.
        other: the same example with the other label; None where it has none.
        value: what was read out of the response; ``N/A`` where it says that the note lacks what is needed.

    Returns:
        ``badges`` and ``notes`` where the labels differ, and ``other_label``: ``by`` (``physicians`` or ``benchmark``),
        ``label`` (as shown), ``differs`` (whether the physicians' label is wrong by the benchmark's), ``right``
        (whether the value is right by the other label).
    """
    if other is None:
        return {"other_label": None, "badges": None, "notes": None}
    is_theirs = other.get("labels") == PHYSICIANS
    theirs, own = (other, doc) if is_theirs else (doc, other)
    differs = not is_right(_truth(theirs), own)
    said = f"physicians say {theirs['shown_truth']}, the benchmark says {own['shown_truth']}"
    return {
        "other_label": {
            "by": PHYSICIANS if is_theirs else BENCHMARK,
            "label": other["shown_truth"],
            "differs": differs,
            "right": value is not None and is_right(value, other),
        },
        "badges": DOUBTFUL if differs else None,
        "notes": said if differs else None,
    }


def _truth(doc: Row) -> Any:
    truth = doc["ground_truth"]
    return truth if truth == NOT_AVAILABLE else authors_value(truth, doc["judgement"])
