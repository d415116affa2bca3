"""Pairs of runs compared as ``medtasks compare`` does, each pair once, tasks that are not comparable left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, islice

from medtasks_utils.compare import Agreement, CompareError, Line, compare_runs, corrected
from medtasks_utils.report.units import incompatibility
from medtasks_utils.results import Run, TaskRun


@dataclass(frozen=True)
class Paired:
    """What comparing two runs under one filter gave; differences are the second minus the first.

    Attributes:
        lines: whole tasks and groups first, each followed by its breakdowns.
        sides: by task, how many examples both have right, and so on.
        refused: tasks and groups that are not compared, and why.
        warnings: what to keep in mind, in words.
    """

    lines: list[Line] = field(default_factory=list)
    sides: dict[str, Agreement] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


class Comparer:
    """All pairs of runs on the examples of the tasks that both have.

    All comparisons of a page are one family, since any of them may be the one that is looked at: p-values are corrected
    by Holm's method over all pairs of runs, metrics and filters, those of whole tasks and those of parts.

    Attributes:
        pairs: by two runs' names, in the runs' order, and the filter.
    """

    def __init__(self, runs: Sequence[Run], filters: Sequence[str]) -> None:
        pairs = {(a.name, b.name, name): _compared(a, b, name) for a, b in combinations(runs, 2) for name in filters}
        lines = iter(corrected([line for pair in pairs.values() for line in pair.lines]))
        self.pairs = {key: replace(own, lines=list(islice(lines, len(own.lines)))) for key, own in pairs.items()}

    def refused(self, baseline: str, filter_name: str) -> int:
        """How many results of other runs are not compared with the baseline's."""
        own = (pair for (a, b, name), pair in self.pairs.items() if name == filter_name and baseline in (a, b))
        return sum(len(pair.refused) for pair in own)

    def whole(self, baseline: str, filter_name: str, task: str, metric: str) -> dict[str, Line]:
        """By the other run's name, a whole task or group minus the baseline."""
        found: dict[str, Line] = {}
        for (a, b, name), pair in self.pairs.items():
            if name == filter_name and baseline in (a, b):
                for line in pair.lines:
                    if (line.task, line.metric, line.breakdown) == (task, metric, None):
                        turned = replace(line, contrast=line.contrast.mirrored())
                        found |= {b: line} if a == baseline else {a: turned}
        return found


def _compared(a: Run, b: Run, filter_name: str) -> Paired:
    ours = [name for name, task in a.tasks.items() if task.benchmark and name in b.tasks]
    shared = [name for name in ours if all(filter_name in run.tasks[name].filters for run in (a, b))]
    groups = [name for name in a.groups if name in b.groups]

    def members(run: Run, name: str) -> list[TaskRun]:
        return [run.tasks[task] for task in run.groups[name].tasks if task in run.tasks]

    def refusals(of_explanations: bool) -> dict[str, str]:
        """Groups, then tasks, that may not be compared."""
        sides = {name: [members(run, name) for run in (a, b)] for name in groups}
        sides |= {name: [[run.tasks[name]] for run in (a, b)] for name in shared}
        reasons = {
            n: incompatibility(first, second, filter_name, of_explanations) for n, (first, second) in sides.items()
        }
        empty = [name for name, own in sides.items() if not all(task.samples for side in own for task in side)]
        found = reasons | dict.fromkeys(empty, "no samples in one of the runs")
        return {name: _of_runs(reason, a, b) for name, reason in found.items() if reason}

    refused = refusals(of_explanations=False)
    tasks = [(name, name) for name in shared if name not in refused]
    paired = Paired(refused=refused)
    if not tasks:
        return paired
    own = [name for name in groups if name not in refused]  # compared where all of their tasks are
    try:
        made = compare_runs(a, b, tasks=tasks, groups=own, filters=[filter_name], common=True, force=True)
    except CompareError as error:
        return replace(paired, refused={**refused, **dict.fromkeys(shared, str(error))})
    lines = made.lines
    if any(line.facts.is_of_explanations for line in lines):
        uneven = refusals(of_explanations=True)
        lines = [line for line in lines if not (line.facts.is_of_explanations and line.task in uneven)]
    sides = {task: made.agreements[task, filter_name] for task, _ in tasks}
    return replace(paired, lines=lines, sides=sides, warnings=made.warnings)


def _of_runs(reason: str, a: Run, b: Run) -> str:
    """A reason that calls two runs A and B, with their names."""
    return reason.replace("only in A", f"only in {a.name}").replace("only in B", f"only in {b.name}")


def signed(points: float) -> str:
    """``+1.5`` or ``−1.5``."""
    return f"{points:+.1f}".replace("-", "−").replace("−0.0", "+0.0")
