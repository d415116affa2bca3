"""Labels to doubt: items that most runs answer alike and against the label, ranked for a person who knows the field.

A run with accuracy a, by the labels, supports its answer with ``log(a / ((1 − a) c))`` but never less than 0, where c
is the share of pairs of wrong answers to an item that agree: how much an answer adds to the log odds that it is right
and not one of the wrong ones. The support of an item is that of the runs that give the answer, less that of the runs
that give the label. It takes the errors of runs as independent: those of related models say less than it seems.
"""

import csv
import io
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medtasks_utils.benchmarks.base import KNOWN_ISSUES, UNANSWERED, Benchmark
from medtasks_utils.errors import MedtasksError, UsageError
from medtasks_utils.results import Run, Sample, TaskRun
from medtasks_utils.writing import defused

FEWEST_RUNS = 3
_END = 600  # characters of a response that are shown, its last

Doubt = dict[str, Any]
"""An item, by the columns of the CSV; ``verdict`` and ``comment`` are empty, for the person who reads it."""


@dataclass(frozen=True)
class Doubts:
    """The result of ``medtasks doubt``: the doubted items, how many items there were, and where the CSV is."""

    doubts: Sequence[Doubt]
    items: int
    path: Path
    failed: bool = False

    def to_csv(self) -> str:
        """Return a row for each item, without cells that a spreadsheet takes for formulas."""
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow(_COLUMNS)
        for doubt in self.doubts:
            writer.writerow([defused(doubt[name]) for name in _COLUMNS])
        return text.getvalue()

    def to_text(self) -> str:
        """Return how many items are doubted, and where they are."""
        return f"{len(self.doubts):,} of {self.items:,} items are answered alike and against the label: {self.path}"

    def to_data(self) -> dict[str, Any]:
        """Return the items and the path."""
        return {"path": str(self.path), "items": self.items, "doubts": list(self.doubts)}


@dataclass(frozen=True)
class _Vote:
    """What a run answers to an item: its most frequent answer, the response with it, and whether the label says so."""

    run: str
    sample: Sample
    answer: str
    response: str
    is_right: bool

    @property
    def is_wrong(self) -> bool:
        """Whether there is an answer, and the label says another."""
        return not self.is_right and self.answer != UNANSWERED

    def agrees(self, other: "_Vote", benchmark: Benchmark) -> bool:
        """Return whether another run's answer to the item is the same, within the tolerance of labels."""
        example = self.sample.doc
        pairs = itertools.product(*(benchmark.values_of(vote.answer, example) for vote in (self, other)))
        return any(benchmark.is_close(value, theirs, example) for value, theirs in pairs)


def doubts(runs: Sequence[Run], filter_name: str, task: str | None, path: Path) -> Doubts:
    """Return the doubted items of the tasks that three or more runs share, the most doubted first.

    Args:
        runs: best of models that have little in common.
        filter_name: the filter whose answers count.
        task: the only task to look at; None for all.
        path: where the CSV is to be.

    Raises:
        UsageError: for fewer than three runs.
        MedtasksError: if no example has answers in three runs.
    """
    if len(runs) < FEWEST_RUNS:
        raise UsageError(f"doubt needs {FEWEST_RUNS} runs or more, of models as unlike as can be, and got {len(runs)}")
    found: list[Doubt] = []
    items = 0
    for name in dict.fromkeys(name for run in runs for name in run.tasks if task in (None, name)):
        tasks = {run.name: run.tasks[name] for run in runs if name in run.tasks}
        benchmark = next(iter(tasks.values())).card
        if benchmark is not None:
            by_item = _votes(tasks, filter_name)
            items += len(by_item)
            found += _doubts_of(name, benchmark, by_item)
    if not items:
        where = f"of the task {task} " if task else ""
        raise MedtasksError(
            f"no example {where}is in {FEWEST_RUNS} of the runs with an answer under {filter_name}; "
            "give runs of the same tasks of this pack, saved with --log_samples"
        )
    found.sort(key=lambda doubt: -doubt["support"])
    return Doubts([{"rank": rank, **doubt} for rank, doubt in enumerate(found, 1)], items, path)


def _votes(tasks: dict[str, TaskRun], filter_name: str) -> list[list[_Vote]]:
    """Return the votes on each item that three or more runs have."""
    by_item: dict[tuple[str, int], list[_Vote]] = defaultdict(list)
    for run, task in tasks.items():
        for key, place in task.examples.items():
            sample = task.samples[place]
            scores, answers = sample.scores_of(filter_name, "acc"), sample.answers.get(filter_name, [])
            if answers and len(scores) == len(answers):
                ((answer, _),) = Counter(answers).most_common(1)
                first = answers.index(answer)
                by_item[key].append(_Vote(run, sample, answer, sample.responses[first], scores[first] == 1.0))
    return [votes for votes in by_item.values() if len(votes) >= FEWEST_RUNS]


def _doubts_of(task: str, benchmark: Benchmark, by_item: Sequence[Sequence[_Vote]]) -> list[Doubt]:
    """Return a task's items that most of their runs answer alike and against the label."""
    weights = _weights(benchmark, by_item)

    def support(votes: Sequence[_Vote]) -> float:
        return sum(weights[vote.run] for vote in votes)

    found = []
    for votes in by_item:
        wrong = [vote for vote in votes if vote.is_wrong]
        camps = [[vote for vote in wrong if vote.agrees(leader, benchmark)] for leader in wrong]
        camp = max(camps, key=support, default=[])
        for_label = [vote for vote in votes if vote.is_right]
        surplus = support(camp) - support(for_label)
        if len(camp) * 2 > len(votes) and surplus > 0:
            best = max(camp, key=lambda vote: weights[vote.run])
            others = [vote for vote in votes if vote not in camp and vote not in for_label]
            cells = (
                *(task, best.sample.doc_id, best.sample.target, best.answer, round(surplus, 3)),
                ", ".join(vote.run for vote in camp),
                ", ".join(vote.run for vote in for_label),
                ", ".join(f"{vote.run}: {vote.answer}" for vote in others),
                *(best.sample.doc.get(KNOWN_ISSUES, ""), best.sample.prompt, best.response[-_END:], "", ""),
            )
            found.append(dict(zip(_COLUMNS[1:], cells, strict=True)))
    return found


_COLUMNS = (
    *("rank", "task", "doc_id", "label", "answer", "support", "runs_for", "runs_for_label", "others"),
    *("known_issues", "prompt", "response", "verdict", "comment"),
)


def _weights(benchmark: Benchmark, by_item: Sequence[Sequence[_Vote]]) -> dict[str, float]:
    """Return what each run's answer adds to the support of an item."""
    votes = [vote for own in by_item for vote in own]
    right = Counter(vote.run for vote in votes if vote.is_right)
    pairs = agreeing = 0
    for own in by_item:
        for first, second in itertools.combinations([vote for vote in own if vote.is_wrong], 2):
            pairs += 1
            agreeing += first.agrees(second, benchmark)
    chance = (agreeing + 1) / (pairs + 2)
    asked = Counter(vote.run for vote in votes)
    return {
        run: max(0.0, math.log((right[run] + 1) / (count - right[run] + 1) / chance)) for run, count in asked.items()
    }
