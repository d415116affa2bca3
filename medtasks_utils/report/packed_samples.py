"""Pack the samples of all runs for the page's browser of samples, as an index in columns and two stores.

A *document* is the part that runs share (the prompt and the fields of the example), which is stored once. A *sample* is
the part that differs between runs: responses, answers and scores. The index has what the list and its filters need; the
stores have the rest.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from medtasks_utils.benchmarks.facts import UNANSWERED
from medtasks_utils.filters import FLEXIBLE
from medtasks_utils.results import Run, Sample, TaskRun
from medtasks_utils.results.samples import ENDINGS, Row
from medtasks_utils.writing import JsonObject, one_line, shortened

from .audits import DIFFERS, disputed
from .packing import pack, pack_one
from .text import visible

_SNIPPET_LENGTH, _ANSWER_LENGTH = 110, 40  # maximum characters in the list of samples


@dataclass
class _Entry:
    """A document with its samples.

    Attributes:
        task: the task in the first run that has the document.
        facets: the document's group in each breakdown; None if it is in no group.
        shown: the sample of that run, whose prompt and fields are stored as the document's.
        samples: the samples by run number.
        disputed: by run number, what an LLM read in the sample, if it disagrees with a filter.
    """

    task: TaskRun
    facets: dict[str, str | None]
    shown: Sample
    samples: dict[int, Sample] = field(default_factory=dict)
    disputed: dict[int, set[str]] = field(default_factory=dict)

    def in_words(self, answers: Iterable[str]) -> list[str]:
        """Return answers as they are shown: in words if the benchmark has words for them, else as they are."""
        words = {UNANSWERED: "no answer", **(self.task.benchmark.answers if self.task.benchmark else {})}
        return [words.get(answer, answer) for answer in answers]

    def summary(self, answers: Sequence[str]) -> str:
        """Return the distinct answers as one text, with their counts if there are several generations."""
        counts = Counter(self.in_words(answers))
        texts = [f"{answer} ×{times}" if len(answers) > 1 else answer for answer, times in counts.most_common()]
        return _snippet(", ".join(texts), _ANSWER_LENGTH)


def pack_samples(runs: Sequence[Run]) -> dict[str, Iterable[str]]:
    """Return the compressed chunks of each part in base64, as iterables for a single use; empty without samples.

    ``index`` is one chunk, ``documents`` has the prompts and examples, and ``samples`` the responses and what
    was read and scored in them.
    """
    entries = _entries(runs)
    if not entries:
        return {}
    documents, of_documents = pack({"prompt": entry.shown.messages, "doc": entry.shown.doc} for entry in entries)
    samples, of_samples = pack(_record(entry, run) for entry in entries for run in entry.samples)
    index = _index(runs, entries) | {"starts": {"documents": of_documents, "samples": of_samples}}
    return {"index": [pack_one(index)], "documents": documents, "samples": samples}


def _entries(runs: Sequence[Run]) -> list[_Entry]:
    """Return the documents, ordered by task and then by index; equal documents of a run are separate entries."""
    by_task: dict[str, dict[tuple[str, int], _Entry]] = defaultdict(dict)
    for run_number, run in enumerate(runs):
        for task in run.tasks.values():
            notes, of_task = disputed(task), by_task[task.task]
            for key, place in task.examples.items():
                sample = task.samples[place]
                facets = {name: groups[place] for name, groups in task.groups.items()}
                entry = of_task.setdefault(key, _Entry(task, facets, sample))
                entry.samples[run_number] = sample
                if sample.doc_id in notes:
                    entry.disputed[run_number] = notes[sample.doc_id]
    return [
        entry
        for of_task in by_task.values()
        for entry in sorted(of_task.values(), key=lambda entry: entry.shown.doc_id)
    ]


# ---- records


def _record(entry: _Entry, run: int) -> Row:
    """Return a sample's record for the detail view; it has a prompt only if this differs from the document's."""
    sample = entry.samples[run]
    logged = chain.from_iterable(of_filter.items() for of_filter in sample.details.values())
    record = {
        "responses": sample.responses,
        "answers": {name: entry.in_words(answers) for name, answers in sample.answers.items()},
        "right": {name: sample.scores_of(name, "acc") for name in sample.metrics},
        "found_by": sample.found_by,
        "metrics": sample.metrics,
        "details": {name: value for name, value in logged if value not in (None, "")},
        "notes": sorted(entry.disputed.get(run, ())),
    }
    return record if sample.messages == entry.shown.messages else {**record, "prompt": sample.messages}


def _badges(entry: _Entry, run: int) -> list[str]:
    """Return the badges of a sample; the benchmark's own ones are those of metrics that are not 0."""
    sample, benchmark = entry.samples[run], entry.task.benchmark
    marked = benchmark.report.marks if benchmark else {}
    marks = {
        "generations disagree": any(len(set(answers)) > 1 for answers in sample.answers.values()),
        **{words: any(values.get(metric) for values in sample.metrics.values()) for metric, words in marked.items()},
        "reasoning never closed": any("<think>" in text.rpartition("</think>")[2] for text in sample.responses),
        **{words: ending in sample.endings for ending, words in ENDINGS.items() if words},
        DIFFERS: run in entry.disputed,
    }
    return [name for name, holds in marks.items() if holds]


# ---- index


def _index(runs: Sequence[Run], entries: Sequence[_Entry]) -> JsonObject:
    """Return the index: names of runs, filters, tasks and breakdowns, and the columns of documents and of samples.

    Columns that depend on the filter are under ``read``, with None for a sample without the filter.
    """
    facets = {entry.task.task: [*entry.facets] for entry in entries}
    tasks, all_facets = list(facets), list(dict.fromkeys(chain.from_iterable(facets.values())))
    documents = [{**_document(entry), "task": tasks.index(entry.task.task)} for entry in entries]
    samples = [_sample(place, entry, run) for place, entry in enumerate(entries) for run in entry.samples]
    filters = list(dict.fromkeys(chain.from_iterable(sample["read"] for sample in samples)))
    read = {name: [sample["read"].get(name, {}) for sample in samples] for name in filters}
    return {
        "runs": [visible(run.name) for run in runs],
        "filters": filters,
        "tasks": [{"name": name, "facets": of_task} for name, of_task in facets.items()],
        "facets": all_facets,
        "documents": _columns(documents, "task", "id", "snippet", "target", *all_facets),
        "samples": {
            **_columns(samples, "document", "run", "badges"),
            "columns": _columns(samples, "length", "certainty"),
            "read": {name: _columns(rows, "acc", "unanswered", "answer", "found_by") for name, rows in read.items()},
        },
    }


def _columns(rows: Sequence[Row], *names: str) -> dict[str, list[Any]]:
    """Convert rows to columns."""
    return {name: [row.get(name) for row in rows] for name in names}


def _document(entry: _Entry) -> Row:
    """Return a document's fields in the index, without its task."""
    shown = entry.shown
    text = str(shown.doc.get("question") or shown.messages[-1]["content"])
    target = entry.summary([shown.target])
    return {"id": shown.doc_id, "snippet": _snippet(text, _SNIPPET_LENGTH), "target": target, **entry.facets}


def _sample(document: int, entry: _Entry, run: int) -> Row:
    """Return a sample's fields in the index; those that depend on the filter are under ``read``."""
    sample = entry.samples[run]
    details = sample.details.get(FLEXIBLE) or next(iter(sample.details.values()), {})
    certainty = details.get("certainty")  # of each generation, or of the only one
    return {
        "document": document,
        "run": run,
        "badges": _badges(entry, run),
        "length": sum(map(len, sample.responses)),
        "certainty": None if certainty is None else float(np.mean(certainty)),
        "read": {
            name: {
                "acc": sample.metrics[name].get("acc"),
                "unanswered": sample.metrics[name].get("answered") == 0,
                "answer": entry.summary(answers),
                "found_by": sample.way_found(name),
            }
            for name, answers in sample.answers.items()
        },
    }


def _snippet(text: str, length: int) -> str:
    """Return the beginning of a text on one line; the rest is not even looked at, since it may be long."""
    return shortened(one_line(text[: 4 * length]), length)
