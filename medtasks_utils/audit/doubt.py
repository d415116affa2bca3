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
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from medtasks_utils.benchmarks.base import KNOWN_ISSUES, UNANSWERED, Benchmark
from medtasks_utils.errors import MedtasksError, UsageError
from medtasks_utils.results import Run, Sample, TaskRun
from medtasks_utils.writing import defused

FEWEST_RUNS = 3
_END = 600  # characters of a response that are shown, its last


@dataclass(frozen=True)
class Doubt:
    """An item whose label is doubted: a row of the CSV, where ``verdict`` and ``comment`` are for who reads it.

    Attributes:
        rank: from 1, over all tasks.
        doc_id: its place in the task's rows.
        support: see the module.
        runs_for: the runs that give the answer.
        runs_for_label: the runs that give the label.
        others: what other runs answer.
        response: the end of the response of the best of the runs that give the answer.
    """

    rank: int
    task: str
    doc_id: int
    label: str
    answer: str
    support: float
    runs_for: str
    runs_for_label: str
    others: str
    known_issues: str
    prompt: str
    response: str
    verdict: str = ""
    comment: str = ""


@dataclass(frozen=True)
class Doubts:
    """The result of ``medtasks doubt``: what is doubted, how many items there were, and the CSV."""

    doubts: Sequence[Doubt]
    items: int
    path: Path
    failed: bool = False

    def to_csv(self) -> str:
        """Return a row for each item, without cells that a spreadsheet takes for formulas."""
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, list(Doubt.__dataclass_fields__))
        writer.writeheader()
        for doubt in self.doubts:
            writer.writerow({name: defused(value) for name, value in asdict(doubt).items()})
        return text.getvalue()

    def to_text(self) -> str:
        """Return how many items are doubted, and where they are."""
        return f"{len(self.doubts):,} of {self.items:,} items are answered alike and against the label: {self.path}"

    def to_data(self) -> dict[str, Any]:
        """Return the items and the path."""
        return {"path": str(self.path), "items": self.items, "doubts": [asdict(doubt) for doubt in self.doubts]}


@dataclass(frozen=True)
class _Vote:
    """What a run answers to an item: its most frequent answer, the response with it, and whether the label says so."""

    run: str
    sample: Sample
    answer: str
    response: str
    is_right: bool

    def agrees(self, other: "_Vote", benchmark: Benchmark) -> bool:
        """Return whether another run's answer to the item is the same, within the tolerance of labels."""
        example = self.sample.doc
        pairs = itertools.product(*(benchmark.values_of(vote.answer, example) for vote in (self, other)))
        return any(benchmark.is_close(value, theirs, example) for value, theirs in pairs)


def doubts(runs: Sequence[Run], filter_name: str, task: str | None, path: Path) -> Doubts:
    """Return the items of the tasks that three or more runs share, the most doubted first.

    Raises:
        UsageError: for fewer than three runs.
        MedtasksError: if no task has samples in three runs.
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
    found.sort(key=lambda doubt: -doubt.support)
    return Doubts([replace(doubt, rank=rank) for rank, doubt in enumerate(found, 1)], items, path)


def _votes(tasks: dict[str, TaskRun], filter_name: str) -> list[list[_Vote]]:
    """Return the votes on each item that three or more runs have."""
    by_item: dict[Any, list[_Vote]] = {}
    for run, task in tasks.items():
        for key, place in task.examples.items():
            sample = task.samples[place]
            scores, answers = sample.scores_of(filter_name, "acc"), sample.answers.get(filter_name, [])
            if answers and len(scores) == len(answers):
                ((answer, _),) = Counter(answers).most_common(1)
                place = answers.index(answer)
                vote = _Vote(run, sample, answer, sample.responses[place], scores[place] == 1.0)
                by_item.setdefault(key, []).append(vote)
    return [votes for votes in by_item.values() if len(votes) >= FEWEST_RUNS]


def _doubts_of(task: str, benchmark: Benchmark, by_item: Sequence[Sequence[_Vote]]) -> list[Doubt]:
    """Return a task's items that most of their runs answer alike and against the label."""
    weights = _weights(benchmark, by_item)
    found = []
    for votes in by_item:
        wrong = [vote for vote in votes if not vote.is_right and vote.answer != UNANSWERED]
        camps = [[vote for vote in wrong if vote.agrees(leader, benchmark)] for leader in wrong]
        camp = max(camps, key=lambda members: sum(weights[vote.run] for vote in members), default=[])
        for_label = [vote for vote in votes if vote.is_right]
        support = sum(weights[vote.run] for vote in camp) - sum(weights[vote.run] for vote in for_label)
        if len(camp) * 2 <= len(votes) or support <= 0:
            continue
        best = max(camp, key=lambda vote: weights[vote.run])
        others = [f"{vote.run}: {vote.answer}" for vote in votes if vote not in camp and vote not in for_label]
        found.append(
            Doubt(
                rank=0,
                task=task,
                doc_id=best.sample.doc_id,
                label=best.sample.target,
                answer=best.answer,
                support=round(support, 3),
                runs_for=", ".join(vote.run for vote in camp),
                runs_for_label=", ".join(vote.run for vote in for_label),
                others=", ".join(others),
                known_issues=str(best.sample.doc.get(KNOWN_ISSUES) or ""),
                prompt=best.sample.prompt,
                response=best.response[-_END:],
            )
        )
    return found


def _weights(benchmark: Benchmark, by_item: Sequence[Sequence[_Vote]]) -> dict[str, float]:
    """Return what each run's answer adds to the support of an item."""
    right, asked = Counter[str](), Counter[str]()
    pairs = agreeing = 0
    for votes in by_item:
        asked.update(vote.run for vote in votes)
        right.update(vote.run for vote in votes if vote.is_right)
        wrong = [vote for vote in votes if not vote.is_right and vote.answer != UNANSWERED]
        for first, second in itertools.combinations(wrong, 2):
            pairs += 1
            agreeing += first.agrees(second, benchmark)
    chance = (agreeing + 1) / (pairs + 2)
    odds = {run: (right[run] + 1) / (asked[run] - right[run] + 1) for run in asked}
    return {run: max(0.0, math.log(odds[run] / chance)) for run in odds}
