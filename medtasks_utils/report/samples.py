"""The samples of all runs as the page's browser of samples takes them: an index in columns, and two stores.

What runs share (prompt and row of the data) is a *document* and stored once; what one run adds to it (responses,
answers, verdicts) is a *sample*. The index has what lists and filters need of each; the stores have the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from medtasks_utils.benchmarks.base import UNANSWERED, Breakdown
from medtasks_utils.report.badges import badges, notes
from medtasks_utils.report.packing import Store, compress, pack, to_json
from medtasks_utils.report.text import shortened
from medtasks_utils.results import Run, Sample, benchmarks
from medtasks_utils.results.samples import STRICT, number

MAX_SAMPLES = 60_000
"""More make the page slow; of more, an even part of the documents is kept, the same for all runs."""

_SNIPPET, _ANSWER = 110, 40  # characters shown in the list
_RESULT_METRICS = ("acc", "exact_match", "acc_norm")  # the first that a task has tells right from wrong


@dataclass
class Packed:
    """Samples as they stand in the page.

    Attributes:
        index: base64 of the compressed index.
        documents: prompts and rows of the data.
        samples: responses and what was made of them.
        count: samples in the page.
        notes: what was left out, in words.
    """

    index: str
    documents: Store
    samples: Store
    count: int
    notes: list[str]


@dataclass
class _Entry:
    """A document with the samples of the runs that have it, by the runs' numbers."""

    task: str
    benchmark: str | None
    samples: dict[int, Sample] = field(default_factory=dict)

    @property
    def any(self) -> Sample:
        return next(iter(self.samples.values()))


def pack_samples(runs: Sequence[Run], max_samples: int = MAX_SAMPLES) -> Packed:
    """Index and pack the samples of runs."""
    notes: list[str] = []
    entries = _entries(runs)
    count = sum(len(entry.samples) for entry in entries)
    if count > max_samples:
        step = -(-count // max_samples)
        entries = entries[::step]
        kept = sum(len(entry.samples) for entry in entries)
        notes.append(f"{kept:,} of {count:,} samples are in this page: every {step}th example, the same for all runs.")
        count = kept
    marks = {id(sample): badges(sample) for entry in entries for sample in entry.samples.values()}
    ordered = sorted((run, place) for place, entry in enumerate(entries) for run in entry.samples)  # run after run
    stores = (
        pack(_document_record(entry.any) for entry in entries),
        pack(_sample_record(entries[place], entries[place].samples[run], marks) for run, place in ordered),
    )
    index = _index(runs, entries, marks)
    numbers = {key: number for number, key in enumerate(ordered)}
    index["samples"]["record"] = [numbers[run, place] for place, entry in enumerate(entries) for run in entry.samples]
    index["starts"] = {"documents": stores[0].starts, "samples": stores[1].starts}
    return Packed(compress(to_json(index)), *stores, count, notes)


def _entries(runs: Sequence[Run]) -> list[_Entry]:
    """Documents by task, in the order of the data; equal documents of a run are several."""
    found: dict[tuple[str, tuple[str, int]], _Entry] = {}
    places: dict[str, int] = {}
    for run_number, run in enumerate(runs):
        for task in run.tasks.values():
            places.setdefault(task.task, len(places))
            for sample, key in zip(task.samples, task.examples, strict=True):
                entry = found.setdefault((task.task, key), _Entry(task.task, task.benchmark))
                entry.samples[run_number] = sample
    return sorted(found.values(), key=lambda entry: (places[entry.task], entry.any.doc_id))


# ---- records


def _document_record(sample: Sample) -> dict[str, Any]:
    doc = {name: value for name, value in sample.doc.items() if value not in ("", None)}
    return {"prompt": sample.messages, "doc": doc}


def _sample_record(entry: _Entry, sample: Sample, marks: Mapping[int, list[str]]) -> dict[str, Any]:
    own = {name: value for details in sample.details.values() for name, value in details.items() if value is not None}
    for name in ("found_by", "badges", "notes"):
        own.pop(name, None)
    labels = _labels(entry.benchmark)
    metrics = {
        name: {metric: value for metric, value in values.items() if value is not None}
        for name, values in sample.metrics.items()
    }
    record = {
        "responses": sample.responses,
        "answers": {name: [labels.get(a, a) for a in answers] for name, answers in sample.answers.items()},
        "right": {name: _rights(sample, name, bool(labels.keys() - {UNANSWERED})) for name in sample.answers},
        "found_by": sample.found_by,
        "metrics": metrics,
        "details": own,
        "badges": marks[id(sample)],
        "notes": notes(sample),
    }
    return record if sample.messages == entry.any.messages else {**record, "prompt": sample.messages}


def _labels(benchmark: str | None) -> Mapping[str, str]:
    """What people call the answers there are."""
    known = benchmarks()[benchmark].answers if benchmark else {}
    return {UNANSWERED: "no answer", **known}


def _rights(sample: Sample, filter_name: str, is_closed: bool) -> list[int | None]:
    """For each generation whether its answer is right; None where the log does not tell.

    Where the answers are a few (``is_closed``), the right one equals the target.
    """
    answers = sample.answers[filter_name]
    result = _result(sample, filter_name)
    if result in (0, 1):
        return [int(result)] * len(answers)
    return [int(answer == sample.target) if is_closed and result is not None else None for answer in answers]


# ---- index


def _index(runs: Sequence[Run], entries: Sequence[_Entry], marks: Mapping[int, list[str]]) -> dict[str, Any]:
    found = dict.fromkeys(entry.benchmark for entry in entries)
    breakdowns = {name: benchmarks()[name].breakdowns if name else () for name in found}
    tasks = dict.fromkeys((entry.task, entry.benchmark) for entry in entries)
    filters = dict.fromkeys(name for entry in entries for sample in entry.samples.values() for name in sample.answers)
    facets = {breakdown.name: _Codes() for own in breakdowns.values() for breakdown in own}
    ways, codes_of_marks = _Codes(), _Codes()
    every = [sample for entry in entries for sample in entry.samples.values()]
    marked = [[codes_of_marks.of(badge) for badge in marks[id(sample)]] for sample in every]
    labels = [_labels(entry.benchmark) for entry in entries for _ in entry.samples]
    columns = {name: [of(sample) for sample in every] for name, of in COLUMNS.items()}
    return {
        "runs": [run.name for run in runs],
        "filters": list(filters),
        "tasks": [
            {"name": task, "facets": [breakdown.name for breakdown in breakdowns[benchmark]]}
            for task, benchmark in tasks
        ],
        "documents": {
            **_document_columns(entries, [task for task, _ in tasks]),
            **{name: [_group(entry, breakdowns, name, codes) for entry in entries] for name, codes in facets.items()},
        },
        "samples": {
            "document": [number for number, entry in enumerate(entries) for _ in entry.samples],
            "run": [run for entry in entries for run in entry.samples],
            "badges": marked,
            "columns": {name: numbers for name, numbers in columns.items() if any(n is not None for n in numbers)},
            **_sample_columns(every, list(filters), ways, labels),
        },
        "facets": {name: {"label": name.capitalize(), "values": list(codes)} for name, codes in facets.items()},
        "found_by": list(ways),
        "badges": list(codes_of_marks),
    }


class _Codes(dict[str, int]):
    """Numbers for strings, in the order in which they are first seen."""

    def of(self, text: str | None) -> int:
        return -1 if text is None else self.setdefault(text, len(self))


def _logged(*names: str) -> Callable[[Sample], float | None]:
    """The number, or the mean over generations, that the log has of a sample under one of these names."""

    def found(sample: Sample) -> float | None:
        details = sample.details.get(STRICT) or next(iter(sample.details.values()), {})
        logged = next((details[name] for name in names if name in details), None)
        numbers = [n for one in (logged if isinstance(logged, list) else [logged]) if (n := number(one)) is not None]
        return sum(numbers) / len(numbers) if numbers else None

    return found


COLUMNS: Mapping[str, Callable[[Sample], float | None]] = {
    "length": lambda sample: sum(map(len, sample.responses)),
    "tokens": _logged("completion_tokens", "output_tokens", "tokens"),
    "seconds": _logged("seconds", "latency", "latency_seconds", "duration"),
    "certainty": _logged("certainty"),
}
"""Numbers by which the list of samples can be sorted; in the page are those that some sample has."""


def _group(
    entry: _Entry, breakdowns: dict[str | None, tuple[Breakdown, ...] | tuple[()]], name: str, codes: _Codes
) -> int:
    own = next((breakdown for breakdown in breakdowns[entry.benchmark] if breakdown.name == name), None)
    return codes.of(own.key(entry.any.doc) if own else None)


def _document_columns(entries: Sequence[_Entry], tasks: list[str]) -> dict[str, list[Any]]:
    return {
        "task": [tasks.index(entry.task) for entry in entries],
        "id": [entry.any.doc_id for entry in entries],
        "snippet": [shortened(_question(entry.any), _SNIPPET) for entry in entries],
        "target": [_answer_text([entry.any.target], _labels(entry.benchmark)) for entry in entries],
    }


def _question(sample: Sample) -> str:
    question = sample.doc.get("question")
    return question if isinstance(question, str) and question.strip() else sample.messages[-1]["content"]


def _answer_text(answers: Sequence[str], labels: Mapping[str, str]) -> str:
    """Answers in words, each once, with how often it was given if there are several."""
    if len(answers) == 1:
        return shortened(labels.get(answers[0], answers[0]), _ANSWER)
    counts = Counter(labels.get(answer, answer) for answer in answers)
    return shortened(", ".join(f"{answer} ×{times}" for answer, times in counts.most_common()), _ANSWER)


def _sample_columns(
    samples: Sequence[Sample], filters: Sequence[str], ways: _Codes, labels: Sequence[Mapping[str, str]]
) -> dict[str, dict[str, list[Any]]]:
    def column(name: str, value: Any) -> list[Any]:
        return [value(sample, name) if name in sample.answers else None for sample in samples]

    return {
        "acc": {name: column(name, _result) for name in filters},
        "unanswered": {name: column(name, _is_unanswered) for name in filters},
        "answer": {
            name: [
                _answer_text(sample.answers[name], own) if name in sample.answers else None
                for sample, own in zip(samples, labels, strict=True)
            ]
            for name in filters
        },
        "found_by": {name: column(name, lambda s, f: ways.of(s.way_found(f))) for name in filters},
    }


def _result(sample: Sample, filter_name: str) -> float | None:
    """1 where the answer is right, 0 where it is not, between where some of several generations are."""
    metrics = sample.metrics[filter_name]
    return next((metrics[name] for name in _RESULT_METRICS if metrics.get(name) is not None), None)


def _is_unanswered(sample: Sample, filter_name: str) -> int:
    return int(sample.metrics[filter_name].get("answered") == 0)
