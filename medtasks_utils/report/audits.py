"""How often the rules misread, where the file of ``medtasks audit`` lies beside a run's samples."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from medtasks_utils.results import Run, TaskRun
from medtasks_utils.results.runs import read_audit

from .tables import Block, Cell, Section, Table, samples_link

DIFFERS, AGREES = "an LLM reads something else", "an LLM reads the same"
"""The marks of samples that an audit's LLM read: whether a filter read something else, or none did."""

_HEAD = ["Task", "Run", "Read", "Misread", "Missed", "acc by the rules", "acc as the LLM reads"]
_LEAD = (
    "An LLM read a sample of the responses, knowing neither the right answer nor what the rules read: those that the "
    "rules found nothing in or were unsure of, and some of the others, weighed up to all. Misread: the rules read "
    "another answer than the LLM. Missed: the LLM reads an answer, the rules none. The intervals (95 %) are about "
    "sampling alone; an LLM's reading is no truth, but its slips are of another kind."
)


def readings_of(task: TaskRun) -> dict[int, list[dict[str, Any]]]:
    """What the LLM read in the responses of a task, by the samples' ``doc_id``; those that failed are left out."""
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in (read_audit(task.samples_path) or {}).get("readings", ()):
        if row["stated"] is not None:
            found[row["doc_id"]].append(row)
    return found


def audit_section(runs: Sequence[Run]) -> list[Section]:
    """A row for each audited task of each run, under each filter; nothing without an audit."""
    tables: dict[str, Table] = {}
    every = ((run, task) for run in runs for task in run.tasks.values())
    for run, task in sorted(every, key=lambda each: each[1].task):
        audited = read_audit(task.samples_path)
        if audited is None:
            continue
        for name, found in audited["filters"].items():
            read = sum(stratum["read"] for stratum in audited["strata"].values())
            link = samples_link(task=task.task, run=run.name, badge=DIFFERS)
            table = tables.setdefault(name, Table("How often the rules misread (%)", _HEAD, texts=2))
            table.rows.append(
                [
                    Cell(task.task),
                    Cell(run.name, audited["signature"].partition("|model:")[2]),
                    Cell(f"{read:,}", f"of {audited['responses']:,}", link),
                    _share(found["misread"]),
                    _share(found["missed"]),
                    Cell(f"{100 * found['accuracy']:.1f}"),
                    _share(audited["accuracy_as_read"]),
                ]
            )
    blocks = [Block("How often the rules misread", table, lead=_LEAD, filter=name) for name, table in tables.items()]
    return [Section("audit", "Audit", "of the reading", "", blocks)] if blocks else []


def _share(found: Mapping[str, float] | None) -> Cell:
    if found is None:
        return Cell("–")
    value, low, high = (f"{100 * found[name]:.1f}" for name in ("value", "low", "high"))
    return Cell(value, f"{low} to {high}")
