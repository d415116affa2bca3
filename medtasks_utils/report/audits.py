"""Show what ``medtasks audit`` found, from the files next to the sample logs."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from medtasks_utils.results import Run, TaskRun
from medtasks_utils.results.runs import audit_file
from medtasks_utils.writing import JsonObject, read_json

from .drawing import samples_link
from .report_tables import Cell, ReportTable

DIFFERS = "an LLM reads something else"
"""The badge of samples in which an LLM reads another answer than a filter."""
_HEADS = ["Task", "Run", "Filter", "Misread", "Missed", "Accuracy", "Accuracy by the LLM's readings"]
_LEAD = (
    "An LLM read a sample of the responses. Misread: the rules read another answer than the LLM; missed: the rules "
    "read none, but the LLM did. The numbers are estimates for all responses, with 95 % intervals that cover only the "
    "sampling error."
)


def disputed(task: TaskRun) -> Mapping[int, set[str]]:
    """Return, by ``doc_id``, what an LLM read in the responses in which it disagrees with a filter."""
    notes = defaultdict(set)
    for row in _audit_of(task).get("readings", ()):
        if row["differs"]:
            notes[row["doc_id"]].add(f"An LLM reads {row['stated']}.")
    return notes


def disputed_share(task: TaskRun, filter_name: str) -> float:
    """Return the percentage of responses in which an LLM reads something else than a filter; 0 without an audit."""
    rates = _audit_of(task).get("filters", {}).get(filter_name, {})
    return 100.0 * sum(float(rates[name]["value"]) for name in ("misread", "missed") if rates.get(name))


def audit_table(runs: Sequence[Run]) -> ReportTable:
    """Return a table with a row for each filter of each audited task of each run."""
    table = ReportTable("How often the rules misread (%)", _HEADS, texts=3, lead=_LEAD)
    names = [run.name for run in runs]
    for run in runs:
        for task in run.tasks.values():
            audit = _audit_of(task)
            for name, rates in audit.get("filters", {}).items():
                link = samples_link(names, a=run.name, task=task.task, filter=name, distrust="audit")
                misread, missed, as_read = map(_share, (rates["misread"], rates["missed"], audit["accuracy_as_read"]))
                accuracy = f"{100 * rates['accuracy']:.1f}"
                table.rows.append([Cell(task.task, href=link), run.name, name, misread, missed, accuracy, as_read])
    return table


def _audit_of(task: TaskRun) -> JsonObject:
    """Return the audit of a task, or an empty one."""
    return read_json(audit_file(task.samples_path)) if task.samples_path else {}


def _share(estimate: Mapping[str, float] | None) -> str | Cell:
    """Return the cell of a share with its interval; a dash for None, which means that no response was read."""
    if estimate is None:
        return "–"
    value, low, high = (f"{100 * estimate[name]:.1f}" for name in ("value", "low", "high"))
    return Cell(value, f"{low} to {high}")
