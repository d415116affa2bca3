"""The samples of all runs as the page's browser of samples takes them: an index in columns, and two stores.

What runs share (prompt and row of the data) is a *document* and stored once; what one run adds to it (responses,
answers, verdicts) is a *sample*. The index has what lists and filters need of each; the stores have the rest.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from medtasks_utils.benchmarks.base import UNANSWERED
from medtasks_utils.filters import FLEXIBLE
from medtasks_utils.results import Run, Sample, TaskRun
from medtasks_utils.results.samples import ENDINGS, Row, number
from medtasks_utils.writing import one_line, shortened

from .audits import AGREES, DIFFERS, readings_of
from .packing import pack, pack_one
from .text import visible

_SNIPPET, _ANSWER = 110, 40  # characters shown in the list
_RESULTS = ("acc", "exact_match", "acc_norm")  # the first that a task has tells right from wrong


@dataclass
class _Entry:
    """A document with the samples of the runs that have it, by the runs' numbers, and what an auditor read in them."""

    task: TaskRun
    labels: Mapping[str, str]
    place: int
    shown: Sample
    samples: dict[int, tuple[Sample, Sequence[Row]]] = field(default_factory=dict)


def pack_samples(runs: Sequence[Run]) -> dict[str, Iterable[str]]:
    """Compressed chunks in base64, to be gone through once; nothing where there are no samples.

    Under ``index`` there is one; ``documents`` are prompts and rows of the data, ``samples`` responses and what was
    made of them.
    """
    entries = _entries(runs)
    if not entries:
        return {}
    documents, of_documents = pack({"prompt": entry.shown.messages, "doc": entry.shown.doc} for entry in entries)
    samples, of_samples = pack(_record(entry, *own) for entry in entries for own in entry.samples.values())
    index = _index(runs, entries) | {"starts": {"documents": of_documents, "samples": of_samples}}
    return {"index": [pack_one(index)], "documents": documents, "samples": samples}


def _entries(runs: Sequence[Run]) -> list[_Entry]:
    """Documents by task, in the order of the data; equal documents of a run are several."""
    found: dict[str, dict[tuple[str, int], _Entry]] = {}
    for run_number, run in enumerate(runs):
        for task in run.tasks.values():
            labels = {UNANSWERED: "no answer", **(task.card.answers if task.card else {})}
            read = readings_of(task)
            of_task = found.setdefault(task.task, {})
            for key, place in task.examples.items():
                sample = task.samples[place]
                entry = of_task.get(key) or of_task.setdefault(key, _Entry(task, labels, place, sample))
                entry.samples[run_number] = sample, read.get(sample.doc_id, ())
    return [entry for own in found.values() for entry in sorted(own.values(), key=lambda entry: entry.shown.doc_id)]


# ---- records


def _record(entry: _Entry, sample: Sample, audits: Sequence[Row]) -> Row:
    details = {name: value for own in sample.details.values() for name, value in own.items() if value is not None}
    notes = [*_texts(details.get("notes")), *(f"An LLM reads {row['stated']}." for row in audits)]
    record = {
        "responses": sample.responses,
        "answers": {name: [entry.labels.get(answer, answer) for answer in own] for name, own in sample.answers.items()},
        "right": {name: sample.scores_of(name, _result(own)) for name, own in sample.metrics.items()},
        "found_by": sample.found_by,
        "metrics": sample.metrics,
        "details": {name: own for name, own in details.items() if name not in ("found_by", "badges", "notes")},
        "notes": list(dict.fromkeys(notes)),
    }
    return record if sample.messages == entry.shown.messages else {**record, "prompt": sample.messages}


def _result(metrics: Mapping[str, float | None]) -> str:
    """The metric that tells right from wrong; its value is between 0 and 1 where some generations are right."""
    return next((name for name in _RESULTS if metrics.get(name) is not None), _RESULTS[0])


def _badges(sample: Sample, audits: Sequence[Row], marked: Mapping[str, str]) -> list[str]:
    """What marks a sample out, its task's own marks first; ``marked`` are the benchmark's, by metric."""
    every, differs = sample.metrics.values(), [row["differs"] for row in audits]
    marks = {
        "generations disagree": len(sample.responses) > 1
        and any(len(set(answers)) > 1 for answers in sample.answers.values()),
        **{words: any(own.get(metric) for own in every) for metric, words in marked.items()},
        "reasoning never closed": any("<think>" in text.rpartition("</think>")[2] for text in sample.responses),
        "empty response": not all(map(str.strip, sample.responses)),
        **{words: ending in sample.endings for ending, words in ENDINGS.items() if words and ending != "empty"},
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
    facets = {entry.task.task: [*entry.task.groups] for entry in entries}
    tasks, every_facet = list(facets), list(dict.fromkeys(chain(*facets.values())))
    documents: list[Row] = []
    samples: list[Row] = []
    every = (sample for entry in entries for sample, _ in entry.samples.values())
    read: dict[str, list[Row]] = {name: [] for sample in every for name in sample.answers}
    for place, entry in enumerate(entries):
        shown = entry.shown
        about = {
            "task": tasks.index(entry.task.task),
            "id": shown.doc_id,
            "snippet": _snippet(str(shown.doc.get("question") or shown.messages[-1]["content"]), _SNIPPET),
            "target": _answer_text([shown.target], entry.labels),
        }
        documents.append(about | {name: own[entry.place] for name, own in entry.task.groups.items()})
        for run, (sample, audits) in entry.samples.items():
            marked = entry.task.card.marks if entry.task.card else {}
            logged = sample.details.get(FLEXIBLE) or next(iter(sample.details.values()), {})
            numbers = {"length": sum(map(len, sample.responses)), "certainty": _mean(logged.get("certainty"))}
            samples.append({"document": place, "run": run, "badges": _badges(sample, audits, marked), **numbers})
            for name, rows in read.items():
                rows.append(_read(sample, name, entry.labels) if name in sample.answers else {})
    has_certainty = any(row["certainty"] is not None for row in samples)
    of_numbers = _columns(("length", "certainty") if has_certainty else ("length",), samples)
    of_filters = {name: _columns(("acc", "unanswered", "answer", "found_by"), rows) for name, rows in read.items()}
    return {
        "runs": [visible(run.name) for run in runs],
        "filters": list(read),
        "tasks": [{"name": name, "facets": own} for name, own in facets.items()],
        "facets": every_facet,
        "documents": _columns(("task", "id", "snippet", "target", *every_facet), documents),
        "samples": {**_columns(("document", "run", "badges"), samples), "columns": of_numbers, "read": of_filters},
    }


def _columns(names: Iterable[str], rows: Sequence[Row]) -> dict[str, list[Any]]:
    return {name: [row.get(name) for row in rows] for name in names}


def _read(sample: Sample, filter_name: str, labels: Mapping[str, str]) -> Row:
    """What a filter made of a sample."""
    metrics = sample.metrics[filter_name]
    return {
        "acc": metrics.get(_result(metrics)),
        "unanswered": metrics.get("answered") == 0,
        "answer": _answer_text(sample.answers[filter_name], labels),
        "found_by": sample.way_found(filter_name),
    }


def _mean(logged: Any) -> float | None:
    """A number that the log has of a sample, or the mean of those of its generations."""
    numbers = [own for one in (logged if isinstance(logged, list) else [logged]) if (own := number(one)) is not None]
    return sum(numbers) / len(numbers) if numbers else None


def _answer_text(answers: Sequence[str], labels: Mapping[str, str]) -> str:
    """Answers in words, each once, with how often it was given if there are several."""
    counts = Counter(labels.get(answer, answer) for answer in answers)
    texts = [f"{answer} ×{times}" if len(answers) > 1 else answer for answer, times in counts.most_common()]
    return _snippet(", ".join(texts), _ANSWER)


def _snippet(text: str, length: int) -> str:
    """Return the beginning of a text on one line; only as much of the text is read as is needed."""
    return shortened(one_line(text[: 4 * length]), length)
