"""Labels to doubt: items that most runs answer alike and against the label, ranked for a person who knows the field.

A run with accuracy a, by the labels, supports its answer with ``log(a / ((1 − a) c))`` but never less than 0, where c
is the share of pairs of wrong answers to an item that agree: how much an answer adds to the log odds that it is right
and not one of the wrong ones. The support of an item is that of the runs that give the answer, less that of the runs
that give the label. It takes the errors of runs as independent: those of related models say less than it seems.
"""

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from medtasks_utils.benchmarks.base import KNOWN_ISSUES, UNANSWERED, Benchmark
from medtasks_utils.errors import MedtasksError, UsageError
from medtasks_utils.results import Run, Sample

FEWEST_RUNS = 3
_END = 600  # characters of a response that are shown, its last


class DoubtedItem(NamedTuple):
    """An item whose label is doubted: a row of the CSV, where ``verdict`` and ``comment`` are for the person to fill.

    Attributes:
        doc_id: its place in the task's rows.
        support: what the module says; at least 0.
        runs_for: the runs that give the answer.
        runs_for_label: the runs that give the label.
        others: what the other runs answer.
        response: the end of the response of the run that supports the answer most.
    """

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


class _Vote(NamedTuple):
    """What a run answers to an item: its most frequent answer, the response with it, and whether the label says so."""

    run: str
    sample: Sample
    answer: str
    response: str
    is_right: bool


_Item = Sequence[_Vote]


def doubts(runs: Sequence[Run], filter_name: str) -> tuple[list[DoubtedItem], int]:
    """Return the doubted items, the most doubted first, and how many items three or more runs share.

    Args:
        runs: best of models that have little in common.
        filter_name: the filter whose answers count.

    Raises:
        UsageError: for fewer than three runs.
        MedtasksError: if no item has answers in three runs.
    """
    if len(runs) < FEWEST_RUNS:
        raise UsageError(f"doubt needs {FEWEST_RUNS} runs or more, of models as unlike as can be, and got {len(runs)}")
    votes: dict[str, dict[tuple[str, int], list[_Vote]]] = defaultdict(lambda: defaultdict(list))
    known: dict[str, Benchmark] = {}
    for run in runs:
        for name, task in run.tasks.items():
            if task.benchmark is not None:
                known[name] = task.benchmark
                for key, place in task.examples.items():
                    votes[name][key] += _votes(run.name, task.samples[place], filter_name)
    shared = {task: [item for item in by_key.values() if len(item) >= FEWEST_RUNS] for task, by_key in votes.items()}
    count = sum(map(len, shared.values()))
    if not count:
        raise MedtasksError(
            f"no example is in {FEWEST_RUNS} of the runs with an answer under {filter_name}; give runs of the same "
            "tasks of this pack, saved with --log_samples"
        )
    found = [doubt for task, items in shared.items() for doubt in _doubts_of(task, known[task], items)]
    return sorted(found, key=lambda doubt: -doubt.support), count


def _votes(run: str, sample: Sample, filter_name: str) -> list[_Vote]:
    """Return a run's vote on an item; nothing where the sample has no scores under the filter."""
    scores, answers = sample.scores_of(filter_name, "acc"), sample.answers.get(filter_name, [])
    if not answers or len(scores) != len(answers):
        return []
    place = answers.index(Counter(answers).most_common(1)[0][0])
    return [_Vote(run, sample, answers[place], sample.responses[place], scores[place] == 1.0)]


def _doubts_of(task: str, benchmark: Benchmark, items: Sequence[_Item]) -> list[DoubtedItem]:
    """Return a task's items that most of their runs answer alike and against the label."""
    camps_of = [_camps(item, benchmark) for item in items]
    weights = _weights(items, camps_of)

    def support(votes: _Item) -> float:
        return sum(weights[vote.run] for vote in votes)

    def names(votes: _Item) -> str:
        return ", ".join(vote.run for vote in votes)

    found = []
    for item, camps in zip(items, camps_of, strict=True):
        camp = max(camps, key=support, default=[])
        for_label = [vote for vote in item if vote.is_right]
        surplus = round(support(camp) - support(for_label), 3)
        if 2 * len(camp) > len(item) and surplus > 0:
            _, sample, answer, response, _ = max(camp, key=lambda vote: weights[vote.run])
            others = ", ".join(f"{vote.run}: {vote.answer}" for vote in item if vote not in [*camp, *for_label])
            cells = (task, sample.doc_id, sample.target, answer, surplus, names(camp), names(for_label), others)
            found.append(DoubtedItem(*cells, sample.doc.get(KNOWN_ISSUES, ""), sample.prompt, response[-_END:]))
    return found


def _camps(item: _Item, benchmark: Benchmark) -> list[list[_Vote]]:
    """Return for each wrong answer to an item the wrong answers that are the same within the tolerance of labels."""
    wrong = [vote for vote in item if not vote.is_right and vote.answer != UNANSWERED]
    values = {vote.run: benchmark.values_of(vote.answer, vote.sample.doc) for vote in wrong}

    def agree(vote: _Vote, other: _Vote) -> bool:
        pairs = itertools.product(values[vote.run], values[other.run])
        return any(benchmark.is_close(value, theirs, vote.sample.doc) for value, theirs in pairs)

    return [[vote for vote in wrong if agree(vote, leader)] for leader in wrong]


def _weights(items: Sequence[_Item], camps_of: Sequence[Sequence[_Item]]) -> dict[str, float]:
    """Return what each run's answer adds to the support of an item."""
    asked = Counter(vote.run for item in items for vote in item)
    right = Counter(vote.run for item in items for vote in item if vote.is_right)
    agreeing = sum(len(camp) - 1 for camps in camps_of for camp in camps)
    pairs = sum(len(camps) * (len(camps) - 1) for camps in camps_of)
    chance = (agreeing + 1) / (pairs + 2)
    odds = {run: (right[run] + 1) / (count - right[run] + 1) for run, count in asked.items()}
    return {run: max(0.0, math.log(ratio / chance)) for run, ratio in odds.items()}
