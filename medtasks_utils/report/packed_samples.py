"""Pack the samples of all runs for the page's browser of samples, as an index in columns and two stores.

A *document* is the part that runs share (the prompt and the fields of the example), which is stored once. A *sample* is
the part that differs between runs: responses, answers and scores. The index has what the list and its facets need; the
stores have the rest.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from medtasks_utils.benchmarks.facts import KNOWN_ISSUES, UNANSWERED
from medtasks_utils.filters import FLEXIBLE
from medtasks_utils.results import Run, Sample, TaskRun
from medtasks_utils.results.samples import ENDINGS, Row, mapping
from medtasks_utils.writing import one_line, shortened

from .audits import disputed
from .outcomes import outcome_of
from .packing import Packer, pack_one
from .text import visible

_SNIPPET_LENGTH, _ANSWER_LENGTH = 160, 40  # maximum characters in the list of samples
_UNCERTAIN_BELOW = 0.9  # as medtasks audit reads


def pack_samples(runs: Sequence[Run]) -> dict[str, Iterable[str]]:
    """Return the compressed chunks of each part in base64; empty without samples.

    ``index`` is one chunk, ``documents`` has the prompts and examples, and ``samples`` the responses and what
    was read and scored in them.
    """
    index = _Index(runs)
    for number, run in enumerate(runs):
        for task in run.tasks.values():
            index.add(number, task)
    if not index.samples:
        return {}
    documents, samples = index.packed_documents.finish(), index.packed_samples.finish()
    return {"index": [pack_one(index.as_json())], "documents": documents, "samples": samples}


class _Index:
    """The columns of documents and samples, and the stores, to which the runs' tasks are added one after the other."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs = [visible(run.name) for run in runs]
        names = chain.from_iterable(task.filters for run in runs for task in run.tasks.values())
        self.read = {name: defaultdict[str, list[Any]](list) for name in dict.fromkeys(names)}
        self.tasks: dict[str, Row] = {}
        self.documents, self.samples = defaultdict[str, list[Any]](list), defaultdict[str, list[Any]](list)
        self.packed_documents, self.packed_samples = Packer(), Packer()
        self._prompts: dict[tuple[str, tuple[str, int]], tuple[int, Any]] = {}  # by key: document number, messages

    def add(self, run: int, task: TaskRun) -> None:
        """Add a run's samples of a task; a document is stored as it is in the first run that has it."""
        facts, notes = task.facts, disputed(task)
        facets = [breakdown.name for breakdown in facts.breakdowns]
        about = {"facets": facets, "range": facts.range_of_right, "solution": facts.solution, "limits": {}}
        limits = self.tasks.setdefault(task.task, about)["limits"]
        limits[run] = mapping(task.config.get("generation_kwargs")).get("max_gen_toks")
        for key, place in task.examples.items():
            sample = task.samples[place]
            if (task.task, key) not in self._prompts:
                self._prompts[task.task, key] = len(self._prompts), sample.messages
                self._add_document(task, place)
            document, prompt = self._prompts[task.task, key]
            record = _record(task, sample) | {"notes": sorted(notes.get(sample.doc_id, ()))}
            columns = {
                "document": document,
                "run": run,
                "length": sum(map(len, sample.responses)),
                "certainty": _certainty(sample),
                "distrust": _distrust(sample, record["notes"]),
                "signs": _signs(sample, facts.marks),
            }
            _append(self.samples, columns)
            for name, of_filter in self.read.items():
                _append(of_filter, _read(task, sample, name))
            self.packed_samples.add(record if sample.messages == prompt else {**record, "prompt": sample.messages})

    def as_json(self) -> Row:
        """Return the index; what filters read is by filter, with None for a sample without the filter."""
        return {
            "runs": self.runs,
            "filters": [*self.read],
            "tasks": [{"name": name, **about} for name, about in self.tasks.items()],
            "documents": self.documents,
            "samples": {**self.samples, "read": self.read},
            "starts": {"documents": self.packed_documents.starts, "samples": self.packed_samples.starts},
        }

    def _add_document(self, task: TaskRun, place: int) -> None:
        sample = task.samples[place]
        columns = {
            "task": [*self.tasks].index(task.task),
            "id": sample.doc_id,
            "snippet": _snippet(str(sample.doc.get("question") or sample.messages[-1]["content"]), _SNIPPET_LENGTH),
            "target": _summary(task, [sample.target]),
            "doubted": bool(sample.doc.get(KNOWN_ISSUES)),
            "groups": {name: groups[place] for name, groups in task.groups.items() if groups[place] is not None},
        }
        _append(self.documents, columns)
        self.packed_documents.add({"prompt": sample.messages, "doc": sample.doc})


def _append(columns: dict[str, list[Any]], values: Row) -> None:
    for name, value in values.items():
        columns[name].append(value)


def _read(task: TaskRun, sample: Sample, filter_name: str) -> Row:
    """Return what a filter read in a sample; the answer is None if there is none in any generation."""
    answers = sample.answers.get(filter_name, [])
    return {
        "acc": sample.metrics.get(filter_name, {}).get("acc"),
        "outcome": outcome_of(sample, filter_name, task.facts.abstention),
        "answer": _summary(task, answers) if {*answers} - {UNANSWERED} else None,
        "found_by": sample.way_found(filter_name),
    }


def _record(task: TaskRun, sample: Sample) -> Row:
    """Return a sample's record for the open question."""
    logged = chain.from_iterable(of_filter.items() for of_filter in sample.details.values())
    return {
        "responses": sample.responses,
        "answers": {name: _in_words(task, answers) for name, answers in sample.answers.items()},
        "right": {name: sample.scores_of(name, "acc") for name in sample.metrics},
        "found_by": sample.found_by,
        "metrics": sample.metrics,
        "details": {name: value for name, value in logged if value not in (None, "")},
    }


def _in_words(task: TaskRun, answers: Iterable[str]) -> list[str]:
    """Return answers for display: in words if the benchmark has words for them, else unchanged."""
    words = {UNANSWERED: "no answer", **(task.benchmark.answers if task.benchmark else {})}
    return [words.get(answer, answer) for answer in answers]


def _summary(task: TaskRun, answers: Sequence[str]) -> str:
    """Return the distinct answers as one text, with their counts if there are several generations."""
    counts = Counter(_in_words(task, answers))
    texts = [f"{answer} ×{times}" if len(answers) > 1 else answer for answer, times in counts.most_common()]
    return _snippet(", ".join(texts), _ANSWER_LENGTH)


def _certainty(sample: Sample) -> float | None:
    """Return the mean certainty over the generations, under the flexible filter if there is one; None if not logged."""
    details = sample.details.get(FLEXIBLE) or next(iter(sample.details.values()), {})
    certainty = details.get("certainty")
    return None if certainty is None else round(float(np.mean(certainty)), 4)


def _distrust(sample: Sample, notes: Sequence[str]) -> list[str]:
    """Return why the reading of a sample may be distrusted, as the page's addresses name it."""
    certainty, answers = _certainty(sample), sample.answers.get(FLEXIBLE, [])
    is_read = any(answer != UNANSWERED for answer in answers)
    reasons = {"uncertain": is_read and certainty is not None and certainty < _UNCERTAIN_BELOW, "audit": notes}
    return [name for name, holds in reasons.items() if holds]


def _signs(sample: Sample, marks: Mapping[str, str]) -> list[str]:
    """Return the signs of a sample; those of the benchmark are its metrics that are not 0."""
    signs = {
        "generations disagree": any(len(set(answers)) > 1 for answers in sample.answers.values()),
        **{words: any(values.get(metric) for values in sample.metrics.values()) for metric, words in marks.items()},
        "reasoning never closed": any("<think>" in text.rpartition("</think>")[2] for text in sample.responses),
        **{words: ending in sample.endings for ending, words in ENDINGS.items() if words},
        ENDINGS["empty"]: not all(text.strip() for text in sample.responses),
    }
    return [name for name, holds in signs.items() if holds]


def _snippet(text: str, length: int) -> str:
    """Return the beginning of a text on one line; the rest is not even looked at, since it may be long."""
    return shortened(one_line(text[: 4 * length]), length)
