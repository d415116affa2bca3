"""May two results stand in one ranking? Only over the same examples, asked and scored in the same way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from medtasks_utils.compare.pairing import identity
from medtasks_utils.harness.signature import incompatibilities, parse
from medtasks_utils.results import Sample, TaskRun, Value

_LONG = 60  # characters of a reason


@dataclass
class Result:
    """One run's part in a unit.

    Attributes:
        tasks: the task, or the members of the group; none for a mean over several benchmarks.
        metrics: as the harness reported them for the unit.
        members: all tasks that the metrics are over.
    """

    tasks: list[TaskRun]
    metrics: dict[tuple[str, str], Value]
    is_group: bool = False
    members: list[TaskRun] = field(default_factory=list)

    @property
    def samples(self) -> list[Sample]:
        """Of all tasks."""
        return [sample for task in self.tasks for sample in task.samples]

    def signatures(self, filter_name: str) -> list[str]:
        """The distinct signatures of the tasks, in order."""
        return list(dict.fromkeys(t.signatures[filter_name] for t in self.members if filter_name in t.signatures))

    def has_answers(self, filter_name: str) -> bool:
        """Whether there are samples with answers of this filter."""
        return any(filter_name in sample.answers for task in self.tasks for sample in task.samples[:1])


def examples(task: TaskRun) -> int:
    """How many examples a result is over."""
    signatures = [parse(text).get("n", "") for text in task.signatures.values()]
    return next((int(n) for n in signatures if n.isdigit()), len(task.samples))


def why_not(a: TaskRun, b: TaskRun, filter_name: str, of_explanations: bool = False) -> str:
    """Why two results of a task may not be compared, in words, ``a`` being the measure; empty if they may.

    Those ``of_explanations`` depend on scorers that others do not.
    """
    counts = examples(a), examples(b)
    if counts[0] != counts[1]:
        return f"{counts[1]:,} examples, not {counts[0]:,}"
    signed = a.signatures.get(filter_name), b.signatures.get(filter_name)
    if not signed[0] or not signed[1]:
        if signed[0] or signed[1]:
            return "one has no signature"
        fields = a.identity or b.identity
        same = {identity(s, a, fields) for s in a.samples} == {identity(s, b, fields) for s in b.samples}
        return "" if same else "the examples differ"
    found = [
        difference
        for difference in incompatibilities(signed[0], signed[1])
        if difference.field != "scorers" or of_explanations
    ]
    return found[0].message if found else ""


def why_results_not(a: Result, b: Result, filter_name: str, of_explanations: bool) -> str:
    """The same of tasks, or groups of tasks."""
    others = {task.task: task for task in b.members}
    if {task.task for task in a.members} != set(others):
        return "other tasks"
    found = (why_not(task, others[task.task], filter_name, of_explanations) for task in a.members)
    return next(filter(None, found), "")


def odd_ones(results: Mapping[str, Result], filter_name: str, of_explanations: bool) -> dict[str, str]:
    """The runs that are not comparable with most others, and why; the first ones give the measure in a tie."""
    alike: list[list[str]] = []
    for run, result in results.items():
        if not any(name == filter_name for _, name in result.metrics) and not result.has_answers(filter_name):
            continue
        for runs in alike:
            if not why_results_not(results[runs[0]], result, filter_name, of_explanations):
                runs.append(run)
                break
        else:
            alike.append([run])
    most: Sequence[str] = max(alike, key=len, default=[])
    odd = [run for runs in alike if runs is not most for run in runs]
    return {run: _short(why_results_not(results[most[0]], results[run], filter_name, of_explanations)) for run in odd}


def _short(reason: str) -> str:
    """The reason without values that are long; signatures have them."""
    return f"not comparable: {reason if len(reason) <= _LONG else reason.split(' (')[0]}"
