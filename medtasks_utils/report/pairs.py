"""Pairs of runs compared as ``medtasks compare`` does, each pair once, tasks that are not comparable left out."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from medtasks_utils.benchmarks import metric_of
from medtasks_utils.compare import Agreement, CompareError, Contrast, Line, compare_runs, corrected
from medtasks_utils.compare.family import Family
from medtasks_utils.intervals import FEWEST, TOO_FEW
from medtasks_utils.report.cache import BuildCache, content_of, key_of
from medtasks_utils.report.charts import MAX_RUNS
from medtasks_utils.report.comparable import why_not
from medtasks_utils.report.family import page_family
from medtasks_utils.results import Run


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
        lines = [replace(line, contrast=_mirrored(line.contrast)) for line in self.lines]
        sides = {task: replace(own, lost=own.gained, gained=own.lost) for task, own in self.sides.items()}
        return replace(self, a=self.b, b=self.a, lines=lines, sides=sides)

    def whole(self, task: str, metric: str) -> Line | None:
        """The comparison of a whole task or group by a metric; None where it is not compared."""
        return next((x for x in self.lines if (x.task, x.metric, x.breakdown) == (task, metric, None)), None)


def _mirrored(own: Contrast) -> Contrast:
    low, high = (None if end is None else -end for end in (own.high, own.low))
    return replace(own, a=own.b, b=own.a, difference=-own.difference, low=low, high=high)


class Comparer:
    """Compares pairs of runs on the examples of the tasks that both have, each pair once.

    All comparisons of a page are one family, since any of them may be the one that is looked at. p-values of whole
    tasks are corrected over all pairs of runs, metrics and filters together (:mod:`medtasks_utils.compare.family`), and
    those of parts over as many lines as all pairs and filters have.

    Args:
        runs: all of the page.

    Attributes:
        names: of the runs compared, the first few.
    """

    def __init__(self, runs: Sequence[Run], cache: BuildCache | None = None) -> None:
        self._runs = {run.name: run for run in runs}
        self._found: dict[tuple[str, str, str], Paired] = {}
        self._cache = cache
        self.names = list(self._runs)[:MAX_RUNS]
        self._contents = {name: content_of(self._runs[name]) for name in self.names} if cache else {}

    def jobs(self, filters: Sequence[str]) -> list[Callable[[], dict[str, Any]]]:
        """The comparisons of all pairs, to be done anywhere; :meth:`take` takes what they return."""
        pairs = itertools.combinations(self.names, 2)
        return [partial(self._plain, a, b, name) for a, b in pairs for name in filters]

    def take(self, plain: dict[str, Any]) -> None:
        """What a job returned."""
        found = self._paired(plain)
        self._found[found.a, found.b, found.filter] = self._in_family(found)

    def with_baseline(self, baseline: str, filter_name: str) -> list[Paired]:
        """The baseline with each of the others."""
        return [self.between(baseline, other, filter_name) for other in self.names if other != baseline]

    def between(self, a: str, b: str, filter_name: str) -> Paired:
        """Two runs by name."""
        order = list(self._runs)
        if order.index(a) > order.index(b):
            return self.between(b, a, filter_name).mirrored()
        key = a, b, filter_name
        if key not in self._found:
            self._found[key] = self._in_family(self._compare(self._runs[a], self._runs[b], filter_name))
        return self._found[key]

    def _in_family(self, pair: Paired) -> Paired:
        """With p-values corrected over the page, without the other pairs having to be known."""
        pairs = len(self.names) * (len(self.names) - 1) // 2
        lines = corrected(pair.lines, max(1, pairs * len(self._filters)))
        return replace(
            pair,
            lines=[
                replace(line, p_adjusted=self._family.adjusted(line.contrast.p))
                if line.breakdown is None and line.contrast.p is not None
                else line
                for line in lines
            ],
        )

    @cached_property
    def _family(self) -> Family:
        return page_family([self._runs[name] for name in self.names], self._filters)

    @cached_property
    def _filters(self) -> list[str]:
        runs = self._runs.values()
        return list(dict.fromkeys(name for run in runs for task in run.tasks.values() for name in task.filters))

    def _plain(self, a: str, b: str, filter_name: str) -> dict[str, Any]:
        """Two runs compared, as JSON can hold it; from the cache if it is there."""
        key = key_of("pair", filter_name, [a, b], self._contents[a], self._contents[b]) if self._cache else ""
        kept = self._cache.get(key) if self._cache else None
        if isinstance(kept, dict):
            return kept
        found = self._compare(self._runs[a], self._runs[b], filter_name)
        lines = [{**vars(line), "facts": line.facts.name, "contrast": asdict(line.contrast)} for line in found.lines]
        plain = {**vars(found), "lines": lines, "sides": {task: asdict(own) for task, own in found.sides.items()}}
        if self._cache:
            self._cache.put(key, plain)
        return plain

    def _paired(self, plain: dict[str, Any]) -> Paired:
        lines = []
        for line in plain["lines"]:
            facts = metric_of(line["facts"], self._benchmark(plain["a"], line["task"]))
            lines.append(Line(**{**line, "facts": facts, "contrast": Contrast(**line["contrast"])}))
        sides = {task: Agreement(**own) for task, own in plain["sides"].items()}
        return Paired(**{**plain, "lines": lines, "sides": sides})

    def _benchmark(self, run: str, task: str) -> str | None:
        """Of a task, or of a group's first."""
        own = self._runs[run]
        name = own.groups[task].tasks[0] if task in own.groups else task
        return own.tasks[name].benchmark

    def _compare(self, a: Run, b: Run, filter_name: str) -> Paired:
        shared = [name for name, task in a.tasks.items() if task.benchmark and name in b.tasks]
        shared = [n for n in shared if all(filter_name in run.tasks[n].filters for run in (a, b))]
        refused = {name: reason for name in shared if (reason := why_not(a.tasks[name], b.tasks[name], filter_name))}
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
        metrics = {line.facts.name: line.facts.is_of_explanations for line in found.lines}
        uneven = {
            (n, m) for n in shared for m, of in metrics.items() if why_not(a.tasks[n], b.tasks[n], filter_name, of)
        }
        lines = [line for line in found.lines if (line.task, line.metric) not in uneven]
        sides = {task: found.agreements[task, filter_name] for task, _ in tasks}
        return Paired(a.name, b.name, filter_name, lines, sides, refused, found.warnings)

    @staticmethod
    def _group_refused(a: Run, b: Run, group: str, refused: dict[str, str]) -> str:
        members = a.groups[group].tasks
        if set(members) != set(b.groups[group].tasks):
            return "other tasks"
        return next((refused[name] for name in members if name in refused), "")


def interval_of(line: Line, before_few: str = ", ") -> str:
    """The interval of a difference as text, empty without one; "too few" where it rests on too little."""
    own = line.contrast
    if own.clusters < FEWEST or own.note:
        return "too few"
    if own.low is None or own.high is None:
        return ""
    ends = f"{signed(own.low * line.facts.scale)} to {signed(own.high * line.facts.scale)}"
    return f"{ends}{before_few}{TOO_FEW}" if own.is_of_too_few else ends


def signed(points: float) -> str:
    """``+1.5`` or ``−1.5``."""
    return f"{points:+.1f}".replace("-", "−").replace("−0.0", "+0.0")
