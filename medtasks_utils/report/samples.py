"""The samples of all runs as the page's browser of samples takes them: an index in columns, and two stores.

What runs share (prompt and row of the data) is a *document* and stored once; what one run adds to it (responses,
answers, verdicts) is a *sample*. The index has what lists and filters need of each; the stores have the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from medtasks_utils.benchmarks.base import UNANSWERED, Breakdown
from medtasks_utils.report.audits import AGREES, DIFFERS, readings_of
from medtasks_utils.report.packing import Store, pack, pack_one
from medtasks_utils.report.text import shortened, visible
from medtasks_utils.results import Run, Sample, TaskRun
from medtasks_utils.results.samples import FLEXIBLE, number

_SNIPPET, _ANSWER = 110, 40  # characters shown in the list
_RESULTS = ("acc", "exact_match", "acc_norm")  # the first that a task has tells right from wrong
_NUMBERS = ("tokens", "seconds", "certainty")
"""What the list can be sorted by where it is logged, beside the length of responses."""


@dataclass(frozen=True)
class Packed:
    """Samples as they stand in the page.

    Attributes:
        index: base64 of the compressed index.
        documents: prompts and rows of the data.
        samples: responses and what was made of them.
        count: samples in the page.
    """

    index: str
    documents: Store
    samples: Store
    count: int


@dataclass
class _Entry:
    """A document with the samples of the runs that have it, by the runs' numbers, and what an auditor read in them."""

    task: TaskRun
    labels: Mapping[str, str]
    samples: dict[int, Sample] = field(default_factory=dict)
    audits: dict[int, list[Any]] = field(default_factory=dict)

    @property
    def any(self) -> Sample:
        return next(iter(self.samples.values()))

    @property
    def breakdowns(self) -> Sequence[Breakdown]:
        return self.task.card.breakdowns if self.task.card else ()


def pack_samples(runs: Sequence[Run]) -> Packed:
    """Index and pack the samples of runs."""
    entries = _entries(runs)
    documents = pack({"prompt": entry.any.messages, "doc": entry.any.doc} for entry in entries)
    samples = pack(_record(entry, run) for entry in entries for run in entry.samples)
    index = _index(runs, entries) | {"starts": {"documents": documents.starts, "samples": samples.starts}}
    return Packed(pack_one(index), documents, samples, sum(len(entry.samples) for entry in entries))


def _entries(runs: Sequence[Run]) -> list[_Entry]:
    """Documents by task, in the order of the data; equal documents of a run are several."""
    found: dict[str, dict[tuple[str, int], _Entry]] = {}
    for run_number, run in enumerate(runs):
        for task in run.tasks.values():
            labels = {UNANSWERED: "no answer", **(task.card.answers if task.card else {})}
            read = readings_of(task)
            of_task = found.setdefault(task.task, {})
            for sample, key in zip(task.samples, task.examples, strict=True):
                entry = of_task.get(key) or of_task.setdefault(key, _Entry(task, labels))
                entry.samples[run_number] = sample
                if sample.doc_id in read:
                    entry.audits[run_number] = read[sample.doc_id]
    return [entry for own in found.values() for entry in sorted(own.values(), key=lambda entry: entry.any.doc_id)]


# ---- records


def _record(entry: _Entry, run: int) -> dict[str, Any]:
    sample, labels = entry.samples[run], entry.labels
    details = {name: value for own in sample.details.values() for name, value in own.items() if value is not None}
    audited = [f"An LLM reads {row['stated']}." for row in entry.audits.get(run, ())]
    record = {
        "responses": sample.responses,
        "answers": {name: [labels.get(answer, answer) for answer in own] for name, own in sample.answers.items()},
        "right": {name: list(sample.scores_of(name, _result(sample, name)[0])) for name in sample.answers},
        "found_by": sample.found_by,
        "metrics": sample.metrics,
        "details": {name: own for name, own in details.items() if name not in ("found_by", "badges", "notes")},
        "notes": list(dict.fromkeys([*_texts(details.get("notes")), *audited])),
    }
    return record if sample.messages == entry.any.messages else {**record, "prompt": sample.messages}


def _result(sample: Sample, filter_name: str) -> tuple[str, float | None]:
    """The metric that tells right from wrong, and its value: between 0 and 1 where some generations are right."""
    metrics = sample.metrics[filter_name]
    for name in _RESULTS:
        if metrics.get(name) is not None:
            return name, metrics[name]
    return _RESULTS[0], None


def _badges(sample: Sample, audits: Sequence[Mapping[str, Any]]) -> list[str]:
    """What marks a sample out, its task's own marks first."""
    every, differs = sample.metrics.values(), [row["differs"] for row in audits]
    marks = {
        "generations disagree": any(len(set(answers)) > 1 for answers in sample.answers.values()),
        "a tool call failed": any(own.get("tool_errors") for own in every),
        "the judge failed": any(own.get("judge_failures") for own in every),
        "reasoning never closed": any(text.rfind("<think>") > text.rfind("</think>") for text in sample.responses),
        "empty response": not all(map(str.strip, sample.responses)),
        DIFFERS: any(differs),
        AGREES: bool(differs) and not any(differs),
    }
    details = next(iter(sample.details.values()), {})
    return [*dict.fromkeys(_texts(details.get("badges"))), *(name for name, holds in marks.items() if holds)]


def _texts(value: Any) -> list[str]:
    """What a task logged: a text for each generation, or one for all."""
    return [text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)]


# ---- index


def _index(runs: Sequence[Run], entries: Sequence[_Entry]) -> dict[str, Any]:
    """Columns of documents and of samples, and of these by filter what it read; None where a sample lacks a filter."""
    facets = {task.task: [*task.groups] for task in dict.fromkeys(entry.task for entry in entries)}
    places = {name: place for place, name in enumerate(facets)}
    every_facet = list(dict.fromkeys(name for own in facets.values() for name in own))
    filters = dict.fromkeys(name for entry in entries for own in entry.samples.values() for name in own.answers)
    documents: list[tuple[Any, ...]] = []
    samples: list[tuple[Any, ...]] = []
    numbers: list[tuple[float | None, ...]] = []
    read: dict[str, list[tuple[Any, ...]]] = {name: [] for name in filters}
    for place, entry in enumerate(entries):
        shown = entry.any
        groups = {breakdown.name: breakdown.key(shown.doc) for breakdown in entry.breakdowns}
        question = shortened(str(shown.doc.get("question") or shown.messages[-1]["content"]), _SNIPPET)
        about = places[entry.task.task], shown.doc_id, question, _answer_text([shown.target], entry.labels)
        documents.append((*about, *map(groups.get, every_facet)))
        for run, sample in entry.samples.items():
            samples.append((place, run, _badges(sample, entry.audits.get(run, ()))))
            logged = sample.details.get(FLEXIBLE) or next(iter(sample.details.values()), {})
            numbers.append((sum(map(len, sample.responses)), *(_mean(logged.get(name)) for name in _NUMBERS)))
            for name, rows in read.items():
                rows.append(_read(sample, name, entry.labels) if name in sample.answers else (None,) * len(_READ))
    columns = _columns(("length", *_NUMBERS), numbers)
    known = {name: own for name, own in columns.items() if any(number is not None for number in own)}
    of_filters = {name: _columns(_READ, rows) for name, rows in read.items()}
    return {
        "runs": [visible(run.name) for run in runs],
        "filters": list(filters),
        "tasks": [{"name": name, "facets": own} for name, own in facets.items()],
        "facets": every_facet,
        "documents": _columns(("task", "id", "snippet", "target", *every_facet), documents),
        "samples": {**_columns(("document", "run", "badges"), samples), "columns": known, "read": of_filters},
    }


def _columns(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> dict[str, tuple[Any, ...]]:
    return dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else {}


_READ = "acc", "unanswered", "answer", "found_by"


def _read(sample: Sample, filter_name: str, labels: Mapping[str, str]) -> tuple[Any, ...]:
    """What a filter made of a sample, by the names of :data:`_READ`."""
    unanswered = sample.metrics[filter_name].get("answered") == 0
    answer = _answer_text(sample.answers[filter_name], labels)
    return _result(sample, filter_name)[1], unanswered, answer, sample.way_found(filter_name)


def _mean(logged: Any) -> float | None:
    """A number that the log has of a sample, or the mean of those of its generations."""
    numbers = [n for one in (logged if isinstance(logged, list) else [logged]) if (n := number(one)) is not None]
    return sum(numbers) / len(numbers) if numbers else None


def _answer_text(answers: Sequence[str], labels: Mapping[str, str]) -> str:
    """Answers in words, each once, with how often it was given if there are several."""
    if len(answers) == 1:
        return shortened(labels.get(answers[0], answers[0]), _ANSWER)
    counts = Counter(labels.get(answer, answer) for answer in answers)
    return shortened(", ".join(f"{answer} ×{times}" for answer, times in counts.most_common()), _ANSWER)
