"""Load the answers that a person marked on the page of ``medtasks report`` and exported as CSV."""

import csv
from operator import itemgetter
from pathlib import Path

from medtasks_utils.errors import UsageError, reason_of
from medtasks_utils.results import Run, Sample, TaskRun

_COLUMNS = ("run", "task", "id", "length", "states")

Marks = dict[tuple[str, ...], str]
"""The answer that a person read in a sample's response, by run, task, ``doc_id`` and length of the response."""


def read_marks(path: Path) -> Marks:
    """Load a file of marks; marks without an answer are skipped.

    Raises:
        UsageError: if the file cannot be read, or is not a file of marks.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(map(itemgetter(*_COLUMNS), csv.DictReader(file)))
    except (OSError, ValueError, KeyError, csv.Error) as error:
        raise UsageError(
            f"--marks {path} is not a CSV file of marks saved by the report's page ({reason_of(error)})"
        ) from None
    # The page puts an apostrophe before a text that a spreadsheet would treat as a formula.
    return {tuple(key): states.removeprefix("'") for *key, states in rows if states}


def mark_of(marks: Marks, run: Run, task: TaskRun, sample: Sample) -> str | None:
    """Return the answer that a person marked in a sample; None without a mark, or for several responses."""
    identity = (run.name, task.task, str(sample.doc_id), str(len(sample.responses[0])))
    return marks.get(identity) if len(sample.responses) == 1 else None
