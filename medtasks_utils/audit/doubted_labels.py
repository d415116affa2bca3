"""Rank doubtful labels for review: examples where most runs agree on an answer other than the label.

Also find parts of a task whose labels seem to be misaligned with the rows.

A run with accuracy a (against the labels) supports its answer with ``max(0, log(a / ((1 − a) c)))``. With c as the
share of agreeing pairs among all pairs of wrong answers to the same example, this is the increase in the log odds that
the answer is right. Both a and c are estimated with one success and one failure added to the counts. The support listed
with an example is the sum over the runs that give the answer, minus the sum over the runs that give the label. The
support assumes that the runs' errors are independent; for related models it is too high.
"""

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from medtasks_utils.benchmarks.base import AuditRules
from medtasks_utils.benchmarks.facts import KNOWN_ISSUES, UNANSWERED
from medtasks_utils.benchmarks.known_issues import Shift, shifts
from medtasks_utils.errors import MedtasksError, UsageError
from medtasks_utils.results import Run, Sample

FEWEST_RUNS = 3
_END = 600  # number of characters of a response that are shown, from its end


class DoubtedItem(NamedTuple):
    """An example with a doubtful label, as a row of the CSV. The reviewer fills in ``verdict`` and ``comment``.

    Attributes:
        doc_id: the index in the task's rows.
        answer: the answer on which most runs agree.
        support: the support as defined in the module's docstring; above 0.
        runs_for: the runs that give the answer.
        runs_for_label: the runs that give the label.
        prompt: the prompt of the run that supports the answer most; ``label`` and ``answer`` use its letters.
        response: the end of the response of this run.
    """

    task: str
    doc_id: int
    label: str
    answer: str
    support: float
    runs_for: str
    runs_for_label: str
    known_issues: str
    prompt: str
    response: str
    verdict: str = ""
    comment: str = ""


class _Vote(NamedTuple):
    """The most frequent answer of a run to an example.

    Attributes:
        run: the run's name.
        audit: the rules for comparing answers to the task.
        sample: the example as the run saved it.
        answer: the answer as logged.
        response: the first response with this answer.
        is_right: True if the answer counts as right.
        values: the values that the answer may represent; empty if there is no answer, or it is right.
    """

    run: str
    audit: AuditRules
    sample: Sample
    answer: str
    response: str
    is_right: bool
    values: list[object]

    def agrees_with(self, other: "_Vote") -> bool:
        return self.audit.agree(self.values, other.values, self.sample.doc)


_Item = Sequence[_Vote]


def doubts(runs: Sequence[Run], filter_name: str | None) -> tuple[list[DoubtedItem], int, dict[str, Shift]]:
    """Return the doubted examples, the number of examples compared, and parts of tasks whose labels seem shifted.

    Examples that at least three runs scored are compared. Doubted examples are sorted by descending support. A
    part is a stratum of a multiple-choice task, with its rows in the order of the data. Its labels seem shifted if the
    labels of nearby rows agree far better with most runs' answers.

    Args:
        runs: at least three runs, preferably of unrelated models.
        filter_name: the filter whose answers count; None for the default of each task
            (:attr:`.TaskRun.default_filter`).

    Raises:
        UsageError: for fewer than three runs.
        MedtasksError: if no example was scored in at least three runs.
    """
    if len(runs) < FEWEST_RUNS:
        raise UsageError(f"doubt needs at least {FEWEST_RUNS} runs, preferably of unrelated models; got {len(runs)}")
    doubted: list[DoubtedItem] = []
    of_choices: list[tuple[str, str | None, str]] = []
    count = 0
    for name in dict.fromkeys(itertools.chain.from_iterable(run.tasks for run in runs)):
        votes: dict[tuple[str, int], list[_Vote]] = defaultdict(list)
        for run in runs:
            task = run.tasks.get(name)
            if task and task.benchmark:
                for key, place in task.examples.items():
                    votes[key] += _votes(
                        run.name, task.benchmark.audit, task.samples[place], filter_name or task.default_filter
                    )
        items = [item for item in votes.values() if len(item) >= FEWEST_RUNS]
        count += len(items)
        doubted += _doubted(name, items)
        for first, *others in sorted(filter(None, votes.values()), key=lambda item: item[0].sample.doc_id):
            if first.audit.benchmark.data.choices:
                part = ", ".join(filter(None, (name, first.sample.stratum)))
                of_choices.append((part, _of_most([first, *others]), first.sample.target))
    if not count:
        raise MedtasksError(
            f"no example was scored{f' under {filter_name}' if filter_name else ''} in at least {FEWEST_RUNS} runs; "
            "name runs of the same tasks of this package, saved with --log_samples"
        )
    return sorted(doubted, key=lambda item: -item.support), count, shifts(of_choices)


def _of_most(item: _Item) -> str | None:
    """Return the answer that more than half of the runs give.

    None if there is no such answer, if it is ``[invalid]``, or for fewer than three runs.
    """
    answer, count = Counter(vote.answer for vote in item).most_common(1)[0]
    return answer if 2 * count > len(item) >= FEWEST_RUNS and answer != UNANSWERED else None


def _votes(run: str, audit: AuditRules, sample: Sample, filter_name: str) -> Iterator[_Vote]:
    """Yield a run's vote on an example, or nothing if the sample has no scores for the filter."""
    scores, answers = sample.scores_of(filter_name, "acc"), sample.answers.get(filter_name, [])
    if answers and len(scores) == len(answers):
        answer = Counter(answers).most_common(1)[0][0]
        place = answers.index(answer)
        is_right = scores[place] == 1.0
        values = [] if is_right or answer == UNANSWERED else audit.values_of(answer, sample.doc)
        yield _Vote(run, audit, sample, answer, sample.responses[place], is_right, values)


def _doubted(task: str, items: Sequence[_Item]) -> Iterator[DoubtedItem]:
    """Yield the examples where most runs agree on an answer other than the label, with positive support."""
    camps_of = [_camps(item) for item in items]
    weights = _weights(items, camps_of)

    def support(votes: _Item) -> float:
        return sum(weights[vote.run] for vote in votes)

    for item, camps in zip(items, camps_of, strict=True):
        camp = max(camps, key=support, default=[])
        for_label = [vote for vote in item if vote.is_right]
        surplus = round(support(camp) - support(for_label), 3)
        if 2 * len(camp) > len(item) and surplus > 0:
            first = max(camp, key=lambda vote: weights[vote.run])
            sample = first.sample
            generation = sample.responses.index(first.response)
            label, answer = (sample.answer_shown(letter, generation) for letter in (sample.target, first.answer))
            yield DoubtedItem(
                *(task, sample.doc_id, label, answer, surplus),
                runs_for=", ".join(vote.run for vote in camp),
                runs_for_label=", ".join(vote.run for vote in for_label),
                known_issues=sample.doc.get(KNOWN_ISSUES, ""),
                prompt=sample.prompt,
                response=first.response[-_END:],
            )


def _camps(item: _Item) -> list[list[_Vote]]:
    """Return, for each vote for a wrong answer, the votes that agree with it, within the label's tolerance."""

    def camp(leader: _Vote) -> list[_Vote]:
        return [vote for vote in item if vote.agrees_with(leader)]

    return [camp(vote) for vote in item if vote.values]


def _weights(items: Sequence[_Item], camps_of: Sequence[Sequence[_Item]]) -> dict[str, float]:
    """Return each run's contribution to the support of an answer, as defined in the module's docstring."""
    is_right: dict[str, list[bool]] = defaultdict(list)
    for vote in itertools.chain.from_iterable(items):
        is_right[vote.run].append(vote.is_right)
    agreeing = sum(len(camp) - 1 for camps in camps_of for camp in camps)
    pairs = sum(len(camps) * (len(camps) - 1) for camps in camps_of)
    chance = (agreeing + 1) / (pairs + 2)
    odds = {run: (of_run.count(True) + 1) / (of_run.count(False) + 1) for run, of_run in is_right.items()}
    return {run: max(0.0, math.log(ratio / chance)) for run, ratio in odds.items()}
