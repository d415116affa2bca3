"""Load and check the examples of a split, in a form that lm_eval accepts as a data set."""

from collections.abc import Sequence
from copy import deepcopy
from operator import itemgetter
from typing import Any

from medtasks_utils.benchmarks.facts import KNOWN_ISSUES, Example, LoadReport
from medtasks_utils.errors import DataError, logger
from medtasks_utils.writing import counted

_MOST_COPIES = 0.05  # share of rows that equal others; it is .008 in MedCalc-Bench, and 0 in the other benchmarks


class Rows(Sequence[Example]):
    """The examples of a split, with the interface that lm_eval expects of a data set.

    Attributes:
        features: an example, whose keys are the names of the fields.
    """

    def __init__(self, rows: Sequence[Example]) -> None:
        self._rows = rows
        self.features = rows[0]

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: Any) -> Any:
        """Return a copy of an example or of a slice, since the user's own functions may modify it."""
        return deepcopy(self._rows[index])


def rows_of(task: Any, split: str) -> Any:
    """Return the examples of a task's split; for the evaluated split, record remarks and left-out rows.

    The examples are :class:`Rows` or, if the task sets ``process_docs``, a ``datasets.Dataset``.

    Raises:
        DataError: if no rows are left, if the rows lack a field that the benchmark declares, or if ``known_issues``
            does not return one list for each row.
    """
    report = LoadReport()
    rows = task.benchmark.load(task.files, split, report)
    for reason, count in report.left_out.items():
        logger.warning("%s: left out %s: %s", task.task_name, counted(count, "row"), reason)
    if not rows:
        raise DataError(
            f"{task.task_name}: no rows are left in {split} ({task.files.name}): check the options that choose rows"
        )
    task.benchmark.data.check_fields(rows[0])
    known_issues = task.benchmark.known_issues(rows)
    if len(known_issues) != len(rows):
        raise DataError(f"{task.task_name}: known_issues returns {len(known_issues)} lists for {len(rows)} examples")
    for row, issues in zip(rows, known_issues, strict=True):
        row[KNOWN_ISSUES] = "; ".join(issues)
    if split == task.split:
        for text in report.remarks:
            task.remark(text)
        fields = itemgetter(*task.benchmark.data.shown, task.benchmark.data.truth)
        copies = len(rows) - len(set(map(str, map(fields, rows))))
        if copies > _MOST_COPIES * len(rows):
            task.remark(f"{copies:,} of {len(rows):,} rows in {split} equal others; was a file added to itself?")
        if report.left_out:
            task.config.metadata["rows_left_out"] = dict(report.left_out)
    if task.config.process_docs is None and task.fewshot_cfg.process_docs is None:
        return Rows(rows)
    from datasets import Dataset  # takes half a second, since it imports pandas and pyarrow

    return Dataset.from_list(rows)  # process_docs may call its methods
