"""Show the findings of ``medtasks audit``, from the files next to the sample logs."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from medtasks_utils.results import Run, TaskRun
from medtasks_utils.results.runs import audit_file
from medtasks_utils.writing import JsonObject, read_json

from .drawing import samples_link


def disputed(task: TaskRun) -> Mapping[int, set[str]]:
    """Return, by ``doc_id``, notes on the auditor's readings that differ from a filter's; empty without an audit."""
    notes = defaultdict(set)
    for row in audit_of(task).get("readings", ()):
        if row["differs"]:
            notes[row["doc_id"]].add(f"An LLM reads {row['stated']}.")
    return notes


def disputed_share(task: TaskRun, filter_name: str) -> float:
    """Return the estimated percentage of responses on which the auditor and a filter disagree; 0 without an audit."""
    rates = audit_of(task).get("filters", {}).get(filter_name, {})
    return 100.0 * sum(float(rates[name]["value"]) for name in ("misread", "missed") if rates.get(name))


class AuditedFilter(NamedTuple):
    """An audit's findings on one filter in a run's task.

    Attributes:
        rates: the filter's ``accuracy``, and the estimates of its ``misread`` and ``missed`` answers, from 0 to 1.
        as_read: the estimated accuracy by the LLM's readings, from 0 to 1; None if no response was read.
        href: a link to the responses on which the LLM and a filter differ.
    """

    task: str
    run: str
    filter: str
    rates: JsonObject
    as_read: JsonObject | None
    href: str


def audits_of(runs: Sequence[Run]) -> Iterator[AuditedFilter]:
    """Yield the findings on each filter of the runs' audited tasks."""
    names = [run.name for run in runs]
    for run in runs:
        for task in run.tasks.values():
            audit = audit_of(task)
            for name, rates in audit.get("filters", {}).items():
                href = samples_link(names, a=run.name, task=task.task, filter=name, distrust="audit")
                yield AuditedFilter(task.task, run.name, name, rates, audit["accuracy_as_read"], href)


def audit_of(task: TaskRun) -> JsonObject:
    """Return the content of a task's audit file; empty without such a file."""
    return read_json(audit_file(task.samples_path)) if task.samples_path else {}
