"""Score the responses of published runs, and compare each verdict with the published one.

A folder contains a file ``<source>.jsonl.gz`` for each source. Each line of a file is a JSON object:

================== =========================================================================================
``benchmark``      the name of the benchmark
``run``            the name of the run within the source
``id``             a field of the example; for MedHallu, its row and the shown answer, joined by a slash
``response``       the text of the model
``source_verdict`` 1 if the source scores the response as right, else 0
================== =========================================================================================
"""

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.answers import Answer
from medtasks_utils.benchmarks.facts import Example
from medtasks_utils.elsewhere.saving import build_task
from medtasks_utils.errors import DataError, MedtasksError, reason_of
from medtasks_utils.filters import FILTERS
from medtasks_utils.harness.task import MedTask
from medtasks_utils.results.samples import Row
from medtasks_utils.writing import JsonObject


class Verdict(NamedTuple):
    """A published response with our answers, and our verdicts (1.0 right, 0.0 wrong), by filter."""

    record: Row
    example: Example
    answers: Mapping[str, Answer]
    scores: Mapping[str, float]

    def is_equal(self, filter_name: str) -> bool:
        """Return whether the source and a filter agree on the verdict."""
        return bool(self.scores[filter_name] == self.record["source_verdict"])


class PublishedRun(NamedTuple):
    """The verdicts on one run; ``source`` is the name of the file without its suffixes."""

    source: str
    benchmark: str
    name: str
    verdicts: Sequence[Verdict]

    def to_data(self) -> JsonObject:
        """Return names, the number of responses, accuracies in per cent, and the numbers of equal verdicts."""
        counted = 100 * fmean(verdict.record["source_verdict"] for verdict in self.verdicts)
        row = {"source": self.source, "benchmark": self.benchmark, "run": self.name, "n": len(self.verdicts)}
        for name in FILTERS:
            row[name] = 100 * fmean(verdict.scores[name] for verdict in self.verdicts)
            row[f"{name} equal"] = sum(verdict.is_equal(name) for verdict in self.verdicts)
        return {**row, "source %": counted}


def score_published(folder: Path, data: str) -> Iterator[PublishedRun]:
    """Score every run in a folder; ``data`` is the source of the rows, as in ``medtasks eval --data``.

    Raises:
        MedtasksError: if the folder contains no ``*.jsonl.gz`` file.
        DataError: if rows or records cannot be read, or an id belongs to no example.
    """
    files = sorted(folder.glob("*.jsonl.gz"))
    if not files:
        raise MedtasksError(f"{folder}: there is no *.jsonl.gz file with published responses")
    tasks: dict[str, MedTask] = {}
    for path in files:
        records: dict[tuple[str, str], list[Row]] = defaultdict(list)
        try:
            with gzip.open(path, "rt", encoding="utf-8") as lines:
                for record in map(json.loads, lines):
                    records[record["benchmark"], record["run"]].append(record)
            if not records:
                raise ValueError("the file has no lines")
            for (name, run), of_run in records.items():
                if name not in tasks:
                    tasks[name] = build_task(benchmarks().named(name, "benchmark").tasks.whole, {}, data)
                yield PublishedRun(path.name.partition(".")[0], name, run, list(_verdicts(tasks[name], of_run)))
        except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
            raise DataError(
                f"{path}: not published responses to the rows of {data} (--data): {reason_of(error)}"
            ) from None


def _verdicts(task: MedTask, records: Sequence[Row]) -> Iterator[Verdict]:
    benchmark = task.benchmark
    examples = _by_id(task, {record["id"] for record in records})
    for record in records:
        example = examples[record["id"]]
        answers = {name: read(record["response"], example) for name, read in benchmark.readers.items()}
        scores = {name: float(benchmark.is_right(answer.value, example)) for name, answer in answers.items()}
        yield Verdict(record, example, answers, scores)


def _by_id(task: MedTask, ids: set[str]) -> dict[str, Example]:
    """Return the examples by id, which is the value of the field that matches most of ``ids``."""
    shown = task.benchmark.data.told_apart_by
    by_field = (
        {f"{doc[field]}/{doc[shown]}" if shown else str(doc[field]): doc for doc in task.eval_docs}
        for field in task.eval_docs[0]
    )
    return max(by_field, key=lambda examples: len(ids & examples.keys()))
