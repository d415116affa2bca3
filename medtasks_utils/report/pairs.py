"""Pairs of runs compared as ``medtasks compare`` does, each pair once, tasks that are not comparable left out."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from medtasks_utils.compare import Agreement, CompareError, Line, compare_runs, corrected
from medtasks_utils.compare.pairing import comparability
from medtasks_utils.report.charts import MAX_RUNS
from medtasks_utils.results import Run
from medtasks_utils.statistics.intervals import TOO_FEW


@dataclass(frozen=True)
class Paired:
    """What comparing two runs under one filter gave; differences are ``b`` minus ``a``.

    Attributes:
        lines: whole tasks and groups first, each followed by its breakdowns.
        sides: by task, how many examples both have right, and so on.
        refused: tasks and groups that are not compared, and why.
        warnings: what to keep in mind, in words.
    """

    a: str
    b: str
    filter: str
    lines: list[Line] = field(default_factory=list)
    sides: dict[str, Agreement] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def mirrored(self) -> Paired:
        """The same the other way round."""
        lines = [replace(line, contrast=line.contrast.mirrored()) for line in self.lines]
        sides = {task: replace(own, lost=own.gained, gained=own.lost) for task, own in self.sides.items()}
        return replace(self, a=self.b, b=self.a, lines=lines, sides=sides)

    def whole(self, task: str, metric: str) -> Line | None:
        """The comparison of a whole task or group by a metric; None where it is not compared."""
        return next((x for x in self.lines if (x.task, x.metric, x.breakdown) == (task, metric, None)), None)


class Comparer:
    """All pairs of runs on the examples of the tasks that both have.

    All comparisons of a page are one family, since any of them may be the one that is looked at: p-values are corrected
    by Holm's method over all pairs of runs, metrics and filters, those of whole tasks and those of parts.

    Args:
        runs: all of the page.
        filters: those that are compared.
        say: called with a few words now and then.

    Attributes:
        names: of the runs compared, the first few.
    """

    def __init__(
        self, runs: Sequence[Run], filters: Sequence[str], say: Callable[[str], None] = lambda stage: None
    ) -> None:
        self._runs = {run.name: run for run in runs}
        self.names = list(self._runs)[:MAX_RUNS]
        pairs = list(itertools.product(itertools.combinations(self.names, 2), filters))
        found = []
        for number, ((a, b), filter_name) in enumerate(pairs, 1):
            say(f"comparing {number} of {len(pairs)} pairs of runs, by filter")
            found.append(self._compare(self._runs[a], self._runs[b], filter_name))
        lines = iter(corrected([line for pair in found for line in pair.lines]))
        self._found = {
            (pair.a, pair.b, pair.filter): replace(pair, lines=list(itertools.islice(lines, len(pair.lines))))
            for pair in found
        }

    def with_baseline(self, baseline: str, filter_name: str) -> list[Paired]:
        """The baseline with each of the others."""
        return [self.between(baseline, other, filter_name) for other in self.names if other != baseline]

    def between(self, a: str, b: str, filter_name: str) -> Paired:
        """Two runs by name; nothing of those that are not compared."""
        if (b, a, filter_name) in self._found:
            return self._found[b, a, filter_name].mirrored()
        return self._found.get((a, b, filter_name)) or Paired(a, b, filter_name)

    def _compare(self, a: Run, b: Run, filter_name: str) -> Paired:
        shared = [name for name, task in a.tasks.items() if task.benchmark and name in b.tasks]
        shared = [n for n in shared if all(filter_name in run.tasks[n].filters for run in (a, b))]

        def why_not(name: str, of_explanations: bool = False) -> str:
            return comparability(a.tasks[name], b.tasks[name], filter_name, of_explanations=of_explanations).why_not

        refused = {name: reason for name in shared if (reason := why_not(name))}
        tasks = [(name, name) for name in shared if name not in refused]
        of_groups = {name: self._group_refused(a, b, name, refused) for name in a.groups if name in b.groups}
        refused = {**{name: reason for name, reason in of_groups.items() if reason}, **refused}
        if not tasks:
            return Paired(a.name, b.name, filter_name, refused=refused)
        every = not refused and len(tasks) == sum(bool(t.benchmark) and n in b.tasks for n, t in a.tasks.items())
        try:  # groups are compared where all of their tasks are
            found = compare_runs(a, b, tasks=None if every else tasks, filters=[filter_name], common=True, force=True)
        except CompareError as error:
            return Paired(a.name, b.name, filter_name, refused={**refused, **dict.fromkeys(shared, str(error))})
        uneven = {name for name in shared if why_not(name, of_explanations=True)}
        lines = [line for line in found.lines if not (line.facts.is_of_explanations and line.task in uneven)]
        sides = {task: found.agreements[task, filter_name] for task, _ in tasks}
        return Paired(a.name, b.name, filter_name, lines, sides, refused, found.warnings)

    @staticmethod
    def _group_refused(a: Run, b: Run, group: str, refused: dict[str, str]) -> str:
        members = a.groups[group].tasks
        if set(members) != set(b.groups[group].tasks):
            return "other tasks"
        return next((refused[name] for name in members if name in refused), "")


def interval_of(line: Line, before_few: str = ", ") -> str:
    """The interval of a difference as text; "too few" where it rests on too little."""
    own = line.contrast
    if own.low is None or own.high is None:
        return "too few"
    ends = f"{signed(own.low * line.facts.scale)} to {signed(own.high * line.facts.scale)}"
    return f"{ends}{before_few}{TOO_FEW}" if own.few else ends


def signed(points: float) -> str:
    """``+1.5`` or ``−1.5``."""
    return f"{points:+.1f}".replace("-", "−").replace("−0.0", "+0.0")
