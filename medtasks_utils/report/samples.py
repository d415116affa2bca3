"""The samples of all runs as the page's browser of samples takes them: an index in columns, and two stores.

What runs share (prompt and row of the data) is a *document* and stored once; what one run adds to it (responses,
answers, verdicts) is a *sample*. The index has what lists and filters need of each; the stores have the rest.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from medtasks_utils.benchmarks.base import UNANSWERED, Breakdown
from medtasks_utils.report.audits import AGREES, DIFFERS, readings_of
from medtasks_utils.report.packing import Store, pack, pack_one
from medtasks_utils.report.text import shortened
from medtasks_utils.results import Run, Sample, TaskRun
from medtasks_utils.results.samples import FLEXIBLE, number

MAX_SAMPLES = 60_000
"""More make the page slow; of more, an even part of the documents is kept, the same for all runs."""

_SNIPPET, _ANSWER = 110, 40  # characters shown in the list
_RESULTS = ("acc", "exact_match", "acc_norm")  # the first that a task has tells right from wrong
_NUMBERS = ("tokens", "seconds", "certainty")
"""What the list can be sorted by where it is logged, beside the length of responses."""


@dataclass
class Packed:
    """Samples as they stand in the page.

    Attributes:
        index: base64 of the compressed index.
        documents: prompts and rows of the data.
        samples: responses and what was made of them.
        count: samples in the page.
        note: what was left out, in words.
    """

    index: str
    documents: Store
    samples: Store
    count: int
    note: str


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


def pack_samples(runs: Sequence[Run], max_samples: int = MAX_SAMPLES) -> Packed:
    """Index and pack the samples of runs."""
    note = ""
    entries = _entries(runs)
    count = sum(len(entry.samples) for entry in entries)
    if count > max_samples:
        step = -(-count // max_samples)
        entries = entries[::step]
        kept = sum(len(entry.samples) for entry in entries)
        note = f"{kept:,} of {count:,} samples are in this page: every {step}th example, the same for all runs."
        count = kept
    documents = pack({"prompt": entry.any.messages, "doc": entry.any.doc} for entry in entries)
    index = _index(runs, entries)
    marks = iter(index["samples"].get("badges", ()))
    samples = pack(_record(entry, run, next(marks)) for entry in entries for run in entry.samples)
    index["starts"] = {"documents": documents.starts, "samples": samples.starts}
    return Packed(pack_one(index), documents, samples, count, note)


def _entries(runs: Sequence[Run]) -> list[_Entry]:
    """Documents by task, in the order of the data; equal documents of a run are several."""
    found: dict[tuple[str, tuple[str, int]], _Entry] = {}
    places: dict[str, int] = {}
    for run_number, run in enumerate(runs):
        for task in run.tasks.values():
            places.setdefault(task.task, len(places))
            labels = {UNANSWERED: "no answer", **(task.card.answers if task.card else {})}
            read = readings_of(task)
            for sample, key in zip(task.samples, task.examples, strict=True):
                entry = found.setdefault((task.task, key), _Entry(task, labels))
                entry.samples[run_number] = sample
                if sample.doc_id in read:
                    entry.audits[run_number] = read[sample.doc_id]
    return sorted(found.values(), key=lambda entry: (places[entry.task.task], entry.any.doc_id))


# ---- records


def _record(entry: _Entry, run: int, badges: list[str]) -> dict[str, Any]:
    sample = entry.samples[run]
    details = {name: value for own in sample.details.values() for name, value in own.items() if value is not None}
    notes = [*_texts(details.get("notes")), *(f"An LLM reads {row['stated']}." for row in entry.audits.get(run, ()))]
    record = {
        "responses": sample.responses,
        "answers": {name: [entry.labels.get(a, a) for a in own] for name, own in sample.answers.items()},
        "right": {name: list(sample.scores_of(name, _result(sample, name)[0])) for name in sample.answers},
        "found_by": sample.found_by,
        "metrics": sample.metrics,
        "details": {name: own for name, own in details.items() if name not in ("found_by", "badges", "notes")},
        "badges": badges,
        "notes": list(dict.fromkeys(notes)),
    }
    return record if sample.messages == entry.any.messages else {**record, "prompt": sample.messages}


def _result(sample: Sample, filter_name: str) -> tuple[str, float | None]:
    """The metric that tells right from wrong, and its value: between 0 and 1 where some generations are right."""
    metrics = sample.metrics[filter_name]
    return next(((name, metrics[name]) for name in _RESULTS if metrics.get(name) is not None), (_RESULTS[0], None))


def _badges(sample: Sample, audits: Sequence[Mapping[str, Any]]) -> list[str]:
    """What marks a sample out, its task's own marks first."""

    def counts(metric: str) -> bool:
        return any(own.get(metric) for own in sample.metrics.values())

    marks = {
        "generations disagree": any(len(set(answers)) > 1 for answers in sample.answers.values()),
        "a tool call failed": counts("tool_errors"),
        "the judge failed": counts("judge_failures"),
        "reasoning never closed": any(text.rfind("<think>") > text.rfind("</think>") for text in sample.responses),
        "empty response": not all(map(str.strip, sample.responses)),
        DIFFERS: any(row["differs"] for row in audits),
        AGREES: bool(audits) and not any(row["differs"] for row in audits),
    }
    details = next(iter(sample.details.values()), {})
    return [*dict.fromkeys(_texts(details.get("badges"))), *(name for name, holds in marks.items() if holds)]


def _texts(value: Any) -> list[str]:
    """What a task logged: a text for each generation, or one for all."""
    return [text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)]


# ---- index


def _index(runs: Sequence[Run], entries: Sequence[_Entry]) -> dict[str, Any]:
    facets = {entry.task.task: [b.name for b in _breakdowns(entry.task)] for entry in entries}
    every_facet = list(dict.fromkeys(name for own in facets.values() for name in own))
    filters = dict.fromkeys(name for entry in entries for own in entry.samples.values() for name in own.answers)
    read: dict[str, list[Any]] = {name: [] for name in filters}
    documents: dict[str, list[Any]] = defaultdict(list)
    samples: dict[str, list[Any]] = defaultdict(list)
    numbers: dict[str, list[float | None]] = defaultdict(list)
    for place, entry in enumerate(entries):
        shown = entry.any
        groups = {breakdown.name: breakdown.key(shown.doc) for breakdown in _breakdowns(entry.task)}
        documents["task"].append(list(facets).index(entry.task.task))
        documents["id"].append(shown.doc_id)
        question = str(shown.doc.get("question") or shown.messages[-1]["content"])
        documents["snippet"].append(shortened(question, _SNIPPET))
        documents["target"].append(_answer_text([shown.target], entry.labels))
        for name in every_facet:
            documents[name].append(groups.get(name))
        for run, sample in entry.samples.items():
            samples["document"].append(place)
            samples["run"].append(run)
            samples["badges"].append(_badges(sample, entry.audits.get(run, ())))
            numbers["length"].append(sum(map(len, sample.responses)))
            for name in _NUMBERS:
                numbers[name].append(_mean(sample, name))
            for name, column in read.items():
                column.append(_read(sample, name, entry.labels) if name in sample.answers else None)
    known = {name: own for name, own in numbers.items() if any(number is not None for number in own)}
    return {
        "runs": [run.name for run in runs],
        "filters": list(filters),
        "tasks": [{"name": name, "facets": own} for name, own in facets.items()],
        "facets": every_facet,
        "documents": documents,
        "samples": {**samples, "columns": known, "read": read},
    }


def _breakdowns(task: TaskRun) -> Sequence[Breakdown]:
    return task.card.breakdowns if task.card else ()


def _read(sample: Sample, filter_name: str, labels: Mapping[str, str]) -> dict[str, Any]:
    """What a filter made of a sample."""
    return {
        "acc": _result(sample, filter_name)[1],
        "unanswered": sample.metrics[filter_name].get("answered") == 0,
        "answer": _answer_text(sample.answers[filter_name], labels),
        "found_by": sample.way_found(filter_name),
    }


def _mean(sample: Sample, name: str) -> float | None:
    """A number that the log has of a sample, the mean over its generations."""
    logged = (sample.details.get(FLEXIBLE) or next(iter(sample.details.values()), {})).get(name)
    numbers = [n for one in (logged if isinstance(logged, list) else [logged]) if (n := number(one)) is not None]
    return sum(numbers) / len(numbers) if numbers else None


def _answer_text(answers: Sequence[str], labels: Mapping[str, str]) -> str:
    """Answers in words, each once, with how often it was given if there are several."""
    if len(answers) == 1:
        return shortened(labels.get(answers[0], answers[0]), _ANSWER)
    counts = Counter(labels.get(answer, answer) for answer in answers)
    return shortened(", ".join(f"{answer} ×{times}" for answer, times in counts.most_common()), _ANSWER)
