"""What the page has a column or a section for: a task, or a group of tasks, over all runs."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from medtasks_utils.benchmarks import benchmarks, metric_of
from medtasks_utils.benchmarks.base import Benchmark
from medtasks_utils.benchmarks.shortcuts import Reached
from medtasks_utils.compare.pairing import comparability
from medtasks_utils.results import Run, Sample, TaskRun
from medtasks_utils.results.run import Metrics
from medtasks_utils.results.samples import Row
from medtasks_utils.statistics.intervals import Estimate, estimate, estimate_from_results
from medtasks_utils.statistics.metrics import Metric
from medtasks_utils.statistics.ratio import Codes
from medtasks_utils.statistics.scores import MetricScores, Score, concatenate

_LONG = 60  # characters of a reason; of longer ones the values are left out, which signatures have
SAME = 1e-6
"""What values may differ by, as the harness writes numbers."""


@dataclass
class Result:
    """One run's part in a unit.

    Attributes:
        tasks: the task, or all tasks of the group.
        metrics: as the harness reported them for the unit.
        is_group: whether the numbers are means over tasks.
        asked: how many examples were asked; 0 where that is not known.
    """

    tasks: list[TaskRun]
    metrics: Metrics
    is_group: bool = False
    asked: int = 0

    @cached_property
    def samples(self) -> list[Sample]:
        """Of all tasks."""
        return [sample for task in self.tasks for sample in task.samples]

    def scores(self, filter_name: str, metric: str, by_task: bool = False) -> MetricScores:
        """Of all samples; ``by_task`` each task in a stratum of its own."""
        parts = [task.scores(filter_name, metric) for task in self.tasks]
        return concatenate(parts, tasks_are_strata=by_task) if len(parts) > 1 or by_task else parts[0]

    def rescored(self, filter_name: str, rescore: Callable[[str, Row], Score]) -> MetricScores:
        """Return what all samples score if each answer that a filter read is scored in another way."""
        parts = [task.rescored(filter_name, rescore) for task in self.tasks]
        return concatenate(parts) if len(parts) > 1 else parts[0]

    def signatures(self, filter_name: str) -> list[str]:
        """The distinct signatures of the tasks, in order."""
        return list(dict.fromkeys(t.signatures[filter_name] for t in self.tasks if filter_name in t.signatures))


def divided(names: Iterable[str | None]) -> dict[str, Codes]:
    """The places of samples by group, from a name for each; those without one are left out."""
    groups: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        if name is not None:
            groups.setdefault(name, []).append(place)
    return {name: np.array(places) for name, places in groups.items()}


def incompatibility(a: Sequence[TaskRun], b: Sequence[TaskRun], filter_name: str, of_explanations: bool) -> str:
    """Why the results of two runs' tasks may not be compared, in words; empty if they may."""
    others = {task.task: task for task in b}
    if {task.task for task in a} != set(others):
        return "other tasks"
    found = (comparability(t, others[t.task], filter_name, of_explanations=of_explanations) for t in a)
    return next((own.reason for own in found if own.reason), "")


@dataclass
class Unit:
    """A task or group, over all runs that have it.

    Attributes:
        benchmark: that its tasks belong to; None for tasks of others and for groups of several benchmarks.
        results: by the runs' names, in their order.
    """

    name: str
    benchmark: str | None
    results: dict[str, Result] = field(default_factory=dict)

    @property
    def card(self) -> Benchmark | None:
        """Its benchmark's."""
        return benchmarks()[self.benchmark] if self.benchmark else None

    @property
    def is_overall(self) -> bool:
        """Whether it is a mean over several benchmarks: a number of the summary, without a section."""
        return self.benchmark is None and any(result.is_group for result in self.results.values())

    @property
    def is_default(self) -> bool:
        """Whether it is what people mean by the benchmark's name, and no variant of it."""
        return self.card is not None and self.name == self.card.default_task

    @property
    def title(self) -> str:
        """For people: the benchmark's name as its authors write it."""
        return "Overall" if self.is_overall else self.card.title if self.card else self.name

    @property
    def label(self) -> str:
        """The title, and the task where it is a variant."""
        return self.title if self.is_default or not self.benchmark else f"{self.title} ({self.name})"

    def facts(self, metric: str) -> Metric:
        """What is known of a metric of this unit."""
        return metric_of(metric, self.benchmark)

    @property
    def filters(self) -> list[str]:
        """All filters that some run reports."""
        return list(dict.fromkeys(name for r in self.results.values() for task in r.tasks for name in task.filters))

    @property
    def only_task(self) -> str:
        """The one task of all runs, for links to its samples; empty for a group."""
        tasks = {task.task for result in self.results.values() for task in result.tasks}
        return tasks.pop() if len(tasks) == 1 else ""

    def samples(self) -> dict[str, list[Sample]]:
        """By run, of the runs that have any."""
        return {name: samples for name, result in self.results.items() if (samples := result.samples)}

    def metrics(self, filter_name: str) -> list[str]:
        """Metrics that some run has under a filter, the most important first."""
        known = [metric.name for metric in self.card.metrics] if self.card else []
        found = {metric for r in self.results.values() for metric, name in r.metrics if name == filter_name}
        found = found or {m for own in self.samples().values() for m in own[0].metrics.get(filter_name, ())}
        return [*(metric for metric in known if metric in found), *sorted(found.difference(known))]

    @property
    def headline(self) -> list[str]:
        """The metrics of summaries: the benchmark's first, and those that it wants beside it."""
        found = [metric for name in self.filters[:1] for metric in self.metrics(name)]
        headline = self.card.headline_metrics if self.card else ("acc",)
        return list(dict.fromkeys([*found[:1], *(metric for metric in headline if metric in found)]))

    def estimate(self, run: str, filter_name: str, metric: str) -> Estimate:
        """One run's metric and 95 % interval: of the samples, or where they give another value, as it was reported."""
        result, facts = self.results.get(run), self.facts(metric)
        if result is None or not result.tasks:
            return Estimate(0, None)
        reported = result.metrics.get((metric, filter_name))
        by_task = result.is_group and reported is not None
        found = estimate(result.scores(filter_name, metric, by_task), facts, over_strata=by_task)
        if reported is None or (found.value is not None and abs(found.value - reported.value) < SAME):
            return found
        is_clustered = any(task.card and task.card.cluster for task in result.tasks)
        n = found.n if is_clustered or result.is_group or not result.asked else result.asked
        return estimate_from_results(facts, *reported, n)

    def without_question(self, metric: str) -> Reached | None:
        """Return what a reader without the question reaches; None unless it was measured on the rows of all runs.

        Of a group, the mean over its tasks.
        """
        reached = {tuple(t.without_question(metric) for t in result.tasks) for result in self.results.values()}
        known = reached.pop() if len(reached) == 1 else ()
        by_task = [own for own in known if own is not None]
        if not by_task or len(by_task) < len(known):
            return None
        readers = dict.fromkeys(own.reader for own in by_task)
        return Reached(sum(own.value for own in by_task) / len(by_task), ", ".join(readers))

    def odd_ones(self, filter_name: str, metric: str) -> dict[str, str]:
        """The runs that are not comparable with most others, and why; the first ones give the measure in a tie."""
        of_explanations = self.facts(metric).is_of_explanations
        tasks = {
            run: result.tasks
            for run, result in self.results.items()
            if any(filter_name in task.filters for task in result.tasks)
        }

        def reason(run: str, other: str) -> str:
            said = incompatibility(tasks[run], tasks[other], filter_name, of_explanations)
            return said if len(said) <= _LONG else said.split(" (")[0]

        measure = max(tasks, key=lambda run: sum(not reason(run, other) for other in tasks), default="")
        return {run: f"not comparable: {said}" for run in tasks if (said := reason(measure, run))}

    def heads(self, runs: Sequence[str], filter_name: str, metric: str) -> list[str]:
        """The heads of the runs' columns, with the reason where a run is not comparable with the others."""
        odd = self.odd_ones(filter_name, metric)
        return [f"{run}\n{odd[run]}" if run in odd else run for run in runs]


def arrange(runs: Sequence[Run]) -> list[Unit]:
    """Units in the order of the benchmarks; a group of one benchmark takes the place of its tasks."""
    units: dict[str, Unit] = {}

    def add(run: Run, name: str, benchmark: str | None, result: Result) -> None:
        result.asked = sum(run.counts.get(task.task, {}).get("effective", 0) for task in result.tasks)
        units.setdefault(name, Unit(name, benchmark)).results[run.name] = result

    for run in runs:
        grouped: set[str] = set()
        for group in run.groups.values():
            members = [run.tasks[name] for name in group.tasks if name in run.tasks]
            named = {task.benchmark for task in members}
            benchmark = named.pop() if len(named) == 1 else None
            grouped.update(task.task for task in members if benchmark)
            add(run, group.group, benchmark, Result(members, group.metrics, is_group=True))
        for task in run.tasks.values():
            if task.task not in grouped:
                add(run, task.task, task.benchmark, Result([task], task.metrics))
    order = [*benchmarks(), None]
    return sorted(units.values(), key=lambda unit: (not unit.is_overall, order.index(unit.benchmark)))
