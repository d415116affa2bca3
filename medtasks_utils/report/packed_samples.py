"""Pack the samples of all runs for the page's sample browser, as a columnar index and two stores.

A *document* is the part that runs share (the prompt and the example's fields) and is stored once. A *sample* is the
part that differs between runs: responses, answers and scores. The index has the values for the list and its facets; the
stores have the rest.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from medtasks_utils.benchmarks.facts import KNOWN_ISSUES, UNANSWERED
from medtasks_utils.filters import FLEXIBLE
from medtasks_utils.results import Run, Sample, TaskRun
from medtasks_utils.results.samples import ENDINGS, Message, Row, mapping
from medtasks_utils.writing import one_line, shortened

from .audits import disputed
from .outcomes import outcome_of
from .packing import Packer, pack_one
from .text import visible, words

_SNIPPET_LENGTH, _ANSWER_LENGTH = 160, 40  # maximum characters in the list of samples
_UNCERTAIN_BELOW = 0.9  # as medtasks audit reads


class SamplePacker:
    """The index and the stores of the sample browser, filled one run at a time."""

    def __init__(self) -> None:
        self._documents, self._samples = Packer(), Packer()
        self._read: dict[str, defaultdict[str, list[Any]]] = {}  # columns of samples, by filter
        self._tasks: dict[str, Row] = {}
        self._first: dict[tuple[str, tuple[str, int]], tuple[int, list[Message], Row]] = {}
        self._equal: dict[str, Any] = {}  # values by their representation, so that equal ones are held once

    def add(self, run: Run) -> Run:
        """Pack a run's samples; return the run without the samples' texts, which take most of the memory."""
        return replace(run, tasks={name: self._packed(run.name, task) for name, task in run.tasks.items()})

    def parts(self, runs: Sequence[str], labels: Mapping[str, str], begin: str = "") -> dict[str, Iterable[str]]:
        """Return, for each part, its compressed chunks in base64; empty without samples.

        ``runs`` are the names on the page, without their common beginning ``begin``; their order numbers the runs.
        ``labels`` are the page's names for tasks; a task without a label keeps its own. ``index`` is one chunk,
        ``documents`` has the prompts and examples, and ``samples`` the responses with their readings and scores. In
        samples that lack a filter, its readings are None.
        """
        if not self._samples.count:
            return {}
        number = {begin + name: place for place, name in enumerate(runs)}
        for task in self._tasks.values():
            task["label"] = labels.get(task["name"], words(task["name"]))
            task["limits"] = {number[name]: limit for name, limit in task["limits"].items()}
        columns = self._samples.columns
        index = {
            "runs": list(map(visible, runs)),
            "filters": list(self._read),
            "tasks": list(self._tasks.values()),
            "documents": self._documents.columns,
            "samples": {**columns, "run": [number[name] for name in columns["run"]], "read": self._read},
            "starts": {"documents": self._documents.starts, "samples": self._samples.starts},
        }
        return {"index": [pack_one(index)], "documents": self._documents.finish(), "samples": self._samples.finish()}

    def _packed(self, run: str, task: TaskRun) -> TaskRun:
        """Pack a task's samples; a document is stored only once, from the first run that has it."""
        task = copy(task)  # so that the samples read below are freed with this copy
        facts, notes = task.facts, disputed(task)
        if task.task not in self._tasks:
            facets = [breakdown.name for breakdown in facts.breakdowns]
            about = {"name": task.task, "facets": facets, "range": facts.range_of_right, "solution": facts.solution}
            self._tasks[task.task] = {**about, "limits": {}}
        self._tasks[task.task]["limits"][run] = mapping(task.config.get("generation_kwargs")).get("max_gen_toks")
        for name in task.filters:
            earlier = [None] * self._samples.count  # samples without the filter
            self._read.setdefault(name, defaultdict(earlier.copy))
        without_texts = []
        for key, place in task.examples.items():
            sample = task.samples[place]
            if (task.task, key) not in self._first:
                self._first[task.task, key] = len(self._first), sample.messages, sample.doc
                self._add_document(task, place)
            number, prompt, doc = self._first[task.task, key]
            record = record_of(task, sample) | {"notes": sorted(notes.get(sample.doc_id, ()))}
            certainty = certainty_of(sample)
            self._samples.add(
                record if sample.messages == prompt else {**record, "prompt": sample.messages},
                document=number,
                run=run,
                length=sum(map(len, sample.responses)),
                certainty=certainty,
                distrust=reasons_to_distrust(sample, certainty, bool(record["notes"])),
                signs=signs_of(task, sample),
            )
            for filter_name, columns in self._read.items():
                for name, value in _read(task, sample, filter_name).items():
                    columns[name].append(value)
            without_texts.append(self._without_texts(sample, doc))
        return task.with_samples(without_texts)

    def _add_document(self, task: TaskRun, place: int) -> None:
        """Pack the document of a task's sample, with its values for the list and the facets."""
        sample = task.samples[place]
        self._documents.add(
            {"prompt": sample.messages, "doc": sample.doc},
            task=[*self._tasks].index(task.task),
            id=sample.doc_id,
            snippet=beginning_of(str(sample.doc.get("question") or sample.messages[-1]["content"]), _SNIPPET_LENGTH),
            target=summary_of(task, [sample.target]),
            doubted=bool(sample.doc.get(KNOWN_ISSUES)),
            groups={name: groups[place] for name, groups in task.groups.items() if groups[place] is not None},
        )

    def _without_texts(self, sample: Sample, doc: Row) -> Sample:
        """Return a sample without its texts, sharing equal values with other samples."""
        short = sample.without_texts()
        short.doc = doc if sample.doc == doc else sample.doc
        for name in ("doc_hash", "prompt_hash", "target", "answers", "metrics", "details"):
            value = getattr(short, name)
            setattr(short, name, self._equal.setdefault(repr(value), value))
        return short


def _read(task: TaskRun, sample: Sample, filter_name: str) -> Row:
    """Return a filter's readings of a sample; the answer is None if no generation has one."""
    answers = sample.answers.get(filter_name, [])
    return {
        "acc": sample.metrics.get(filter_name, {}).get("acc"),
        "outcome": outcome_of(sample, filter_name, task.facts.abstention),
        "answer": summary_of(task, answers) if {*answers} - {UNANSWERED} else None,
        "found_by": sample.way_found(filter_name),
    }


def record_of(task: TaskRun, sample: Sample) -> Row:
    """Return the part of a sample that the page shows when the sample is opened."""
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
    """Return answers for display: the benchmark's words for them, if it has any."""
    words = {UNANSWERED: "no answer", **(task.benchmark.answers if task.benchmark else {})}
    return [words.get(answer, answer) for answer in answers]


def summary_of(task: TaskRun, answers: Sequence[str]) -> str:
    """Join the distinct answers, with their counts if there is more than one generation."""
    counts = Counter(_in_words(task, answers))
    texts = [f"{answer} ×{times}" if len(answers) > 1 else answer for answer, times in counts.most_common()]
    return beginning_of(", ".join(texts), _ANSWER_LENGTH)


def certainty_of(sample: Sample) -> float | None:
    """Return the mean certainty over the generations, under the flexible filter if there is one; None if not logged."""
    details = sample.details.get(FLEXIBLE) or next(iter(sample.details.values()), {})
    certainty = details.get("certainty")
    return None if certainty is None else round(float(np.mean(certainty)), 4)


def reasons_to_distrust(sample: Sample, certainty: float | None, is_disputed: bool) -> list[str]:
    """Return the reasons to distrust a sample's readings: ``uncertain`` (low certainty) and ``audit`` (disputed)."""
    is_read = any(answer != UNANSWERED for answer in sample.answers.get(FLEXIBLE, ()))
    is_uncertain = is_read and certainty is not None and certainty < _UNCERTAIN_BELOW
    return ["uncertain"] * is_uncertain + ["audit"] * is_disputed


def signs_of(task: TaskRun, sample: Sample) -> tuple[str, ...]:
    """Return the flags of a sample; the benchmark's own flags are its metrics that are not 0."""
    signs = {
        "generations disagree": any(len(set(answers)) > 1 for answers in sample.answers.values()),
        **{
            words: any(values.get(metric) for values in sample.metrics.values())
            for metric, words in task.facts.marks.items()
        },
        "reasoning never closed": any("<think>" in text.rpartition("</think>")[2] for text in sample.responses),
        **{words: ending in sample.endings for ending, words in ENDINGS.items() if words},
        ENDINGS["empty"]: not all(text.strip() for text in sample.responses),
    }
    return tuple(name for name, holds in signs.items() if holds)


def beginning_of(text: str, length: int) -> str:
    """Return the beginning of a text on one line, without processing the rest, which may be long."""
    return shortened(one_line(text[: 4 * length]), length)
