"""Build tables of how often the filters misread responses, from the files that ``medtasks audit`` writes."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from medtasks_utils.results import Run, TaskRun
from medtasks_utils.results.runs import read_audit

from .report_tables import Cell, ReportTable, samples_link

DIFFERS, AGREES = "an LLM reads something else", "an LLM reads the same"
"""The marks of samples that the audit's LLM read: at least one filter disagrees with it, or all filters agree."""

_TITLE = "How often the rules misread (%)"
_HEADS = ["Task", "Run", "Read", "Misread", "Missed", "acc by the rules", "acc by the LLM's readings"]
_LEAD = (
    "An LLM read a sample of the responses without knowing the right answer or what the rules read. The sample "
    "consists of the responses in which the rules found no answer or were uncertain, and some of the others, weighted "
    "to represent all. Misread: the rules read another answer than the LLM. Missed: the LLM reads an answer, but the "
    "rules read none. The 95 % intervals cover only the sampling error. The LLM is not always right, but its errors "
    "differ from those of the rules."
)


def readings_of(task: TaskRun) -> dict[int, list[dict[str, Any]]]:
    """Return the auditor's readings of a task's responses by ``doc_id``, without readings that failed."""
    by_doc_id: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for reading in (read_audit(task.samples_path) or {}).get("readings", ()):
        if reading["stated"] is not None:
            by_doc_id[reading["doc_id"]].append(reading)
    return by_doc_id


def audit_tables(runs: Sequence[Run]) -> list[ReportTable]:
    """Return a table for each filter, with a row for each audited task of each run; empty if no run was audited."""
    tables: dict[str, ReportTable] = {}
    for name in sorted({name for run in runs for name in run.tasks}):
        for run in runs:
            audit = read_audit(run.tasks[name].samples_path) if name in run.tasks else None
            if audit is None:
                continue
            for filter_name, rates in audit["filters"].items():
                empty = ReportTable(_TITLE, _HEADS, texts=2, lead=_LEAD, filter=filter_name)
                tables.setdefault(filter_name, empty).rows.append(_row(name, run.name, audit, rates))
    return [*tables.values()]


def _row(task: str, run: str, audit: Mapping[str, Any], rates: Mapping[str, Any]) -> list[Cell]:
    """Return the row of a task in a run: the numbers of responses, the error rates, and the accuracies."""
    responses_read = sum(stratum["read"] for stratum in audit["strata"].values())
    return [
        Cell(task),
        Cell(run, audit["signature"].partition("|model:")[2]),
        Cell(f"{responses_read:,}", f"of {audit['responses']:,}", samples_link(task=task, run=run, badge=DIFFERS)),
        _rate_cell(rates["misread"]),
        _rate_cell(rates["missed"]),
        Cell(f"{100 * rates['accuracy']:.1f}"),
        _rate_cell(audit["accuracy_as_read"]),
    ]


def _rate_cell(rate: Mapping[str, float] | None) -> Cell:
    if rate is None:
        return Cell("–")
    value, low, high = (f"{100 * rate[name]:.1f}" for name in ("value", "low", "high"))
    return Cell(value, f"{low} to {high}")
