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
from medtasks_utils.writing import one_line, shortened

from .audits import DIFFERS, disputed
from .packing import pack, pack_one
from .text import visible

_SNIPPET_LENGTH, _ANSWER_LENGTH = 110, 40  # maximum characters in the list of samples


@dataclass
class _Document:
    """A document with its samples; its prompt and fields are stored as they are in the first run that has it.

    Attributes:
        task: the task in that run.
        facets: the group in each breakdown; None if it is in no group.
        shown: the sample of that run.
        samples: the samples of all runs that have it.
    """

    task: TaskRun
    facets: dict[str, str | None]
    shown: Sample
    samples: list["_RunSample"] = field(default_factory=list)

    def in_words(self, answers: Iterable[str]) -> list[str]:
        """Return answers as they are shown: in words if the benchmark has words for them, else as they are."""
        words = {UNANSWERED: "no answer", **(self.task.benchmark.answers if self.task.benchmark else {})}
        return [words.get(answer, answer) for answer in answers]

    def summary(self, answers: Sequence[str]) -> str:
        """Return the distinct answers as one text, with their counts if there are several generations."""
        counts = Counter(self.in_words(answers))
        texts = [f"{answer} ×{times}" if len(answers) > 1 else answer for answer, times in counts.most_common()]
        return _snippet(", ".join(texts), _ANSWER_LENGTH)


@dataclass
class _RunSample:
    """A run's sample of a document, with the run's number and what an LLM read, if it disagrees with a filter."""

    document: _Document
    run: int
    sample: Sample
    notes: set[str]


def pack_samples(runs: Sequence[Run]) -> dict[str, Iterable[str]]:
    """Return the compressed chunks of each part in base64, as iterables for a single use; empty without samples.

    ``index`` is one chunk, ``documents`` has the prompts and examples, and ``samples`` the responses and what
    was read and scored in them.
    """
    documents = _documents(runs)
    if not documents:
        return {}
    samples = [one for document in documents for one in document.samples]
    chunks, starts = pack({"prompt": document.shown.messages, "doc": document.shown.doc} for document in documents)
    sample_chunks, sample_starts = pack(map(_record, samples))
    index = {
        "runs": [visible(run.name) for run in runs],
        **_index(documents, samples),
        "starts": {"documents": starts, "samples": sample_starts},
    }
    return {"index": [pack_one(index)], "documents": chunks, "samples": sample_chunks}


def _documents(runs: Sequence[Run]) -> list[_Document]:
    """Return the documents, ordered by task and then by index; equal documents of a run are separate ones."""
    by_task: dict[str, dict[tuple[str, int], _Document]] = defaultdict(dict)
    for run_number, run in enumerate(runs):
        for task in run.tasks.values():
            notes, of_task = disputed(task), by_task[task.task]
            for key, place in task.examples.items():
                sample = task.samples[place]
                facets = {name: groups[place] for name, groups in task.groups.items()}
                document = of_task.setdefault(key, _Document(task, facets, sample))
                document.samples.append(_RunSample(document, run_number, sample, notes.get(sample.doc_id, set())))
    return [
        document
        for of_task in by_task.values()
        for document in sorted(of_task.values(), key=lambda document: document.shown.doc_id)
    ]


def _record(one: _RunSample) -> Row:
    """Return a sample's record for the detail view; it has a prompt only if this differs from the document's."""
    sample, document = one.sample, one.document
    logged = chain.from_iterable(of_filter.items() for of_filter in sample.details.values())
    record = {
        "responses": sample.responses,
        "answers": {name: document.in_words(answers) for name, answers in sample.answers.items()},
        "right": {name: sample.scores_of(name, "acc") for name in sample.metrics},
        "found_by": sample.found_by,
        "metrics": sample.metrics,
        "details": {name: value for name, value in logged if value not in (None, "")},
        "notes": sorted(one.notes),
    }
    return record if sample.messages == document.shown.messages else {**record, "prompt": sample.messages}


# ---- index


def _index(documents: Sequence[_Document], samples: Sequence[_RunSample]) -> Row:
    """Return the index: names of filters, tasks and breakdowns, and the columns of documents and of samples.

    Columns that depend on the filter are under ``read``, with None for a sample without the filter.
    """
    facets = {document.task.task: [*document.facets] for document in documents}
    tasks, all_facets = list(facets), list(dict.fromkeys(chain.from_iterable(facets.values())))
    filters = list(dict.fromkeys(chain.from_iterable(one.sample.answers for one in samples)))
    return {
        "filters": filters,
        "tasks": [{"name": name, "facets": of_task} for name, of_task in facets.items()],
        "facets": all_facets,
        "documents": {
            "task": [tasks.index(document.task.task) for document in documents],
            "id": [document.shown.doc_id for document in documents],
            "snippet": [_snippet(_question(document.shown), _SNIPPET_LENGTH) for document in documents],
            "target": [document.summary([document.shown.target]) for document in documents],
            **{name: [document.facets.get(name) for document in documents] for name in all_facets},
        },
        "samples": {
            "document": [place for place, document in enumerate(documents) for _ in document.samples],
            "run": [one.run for one in samples],
            "badges": list(map(_badges, samples)),
            "columns": {
                "length": [sum(map(len, one.sample.responses)) for one in samples],
                "certainty": [_certainty(one.sample) for one in samples],
            },
            "read": {name: _read(samples, name) for name in filters},
        },
    }


def _question(sample: Sample) -> str:
    return str(sample.doc.get("question") or sample.messages[-1]["content"])


def _certainty(sample: Sample) -> float | None:
    """Return the mean certainty over the generations, under the flexible filter if there is one; None if not logged."""
    details = sample.details.get(FLEXIBLE) or next(iter(sample.details.values()), {})
    certainty = details.get("certainty")
    return None if certainty is None else float(np.mean(certainty))


def _badges(one: _RunSample) -> list[str]:
    """Return the badges of a sample; the benchmark's own ones are those of metrics that are not 0."""
    sample, marked = one.sample, one.document.task.facts.marks
    marks = {
        "generations disagree": any(len(set(answers)) > 1 for answers in sample.answers.values()),
        **{words: any(values.get(metric) for values in sample.metrics.values()) for metric, words in marked.items()},
        "reasoning never closed": any("<think>" in text.rpartition("</think>")[2] for text in sample.responses),
        **{words: ending in sample.endings for ending, words in ENDINGS.items() if words},
        DIFFERS: one.notes,
    }
    return [name for name, holds in marks.items() if holds]


def _read(samples: Sequence[_RunSample], filter_name: str) -> dict[str, list[Any]]:
    """Return the columns of what a filter read in each sample."""
    columns: dict[str, list[Any]] = {name: [] for name in ("acc", "unanswered", "answer", "found_by")}
    for one in samples:
        metrics, answers = one.sample.metrics.get(filter_name, {}), one.sample.answers.get(filter_name)
        columns["acc"].append(metrics.get("acc"))
        columns["unanswered"].append(None if answers is None else metrics.get("answered") == 0)
        columns["answer"].append(None if answers is None else one.document.summary(answers))
        columns["found_by"].append(one.sample.way_found(filter_name))
    return columns


def _snippet(text: str, length: int) -> str:
    """Return the beginning of a text on one line; the rest is not even looked at, since it may be long."""
    return shortened(one_line(text[: 4 * length]), length)
