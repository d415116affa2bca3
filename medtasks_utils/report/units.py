"""What the page has a column or a section for: a task, or a group of tasks of one benchmark, over all runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from medtasks_utils.benchmarks import cards, metric_of
from medtasks_utils.intervals import FEWEST, TOO_FEW, confidence_interval, wider
from medtasks_utils.metrics import Metric
from medtasks_utils.report.comparable import Result, odd_ones
from medtasks_utils.results import Run, Sample, Value
from medtasks_utils.results.breakdowns import Estimate, estimate, estimate_of, items_of, of_means
from medtasks_utils.statistics import Size, macro_mean


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
    _estimates: dict[tuple[str, str, str], Estimate] = field(default_factory=dict, repr=False)
    _odd: dict[tuple[str, bool], dict[str, str]] = field(default_factory=dict, repr=False)

    @property
    def title(self) -> str:
        """For people: the benchmark's name as its authors write it."""
        if self.is_overall:
            return "Overall"
        return cards()[self.benchmark].title if self.benchmark else self.name

    @property
    def label(self) -> str:
        """The title, and the task where it is a variant."""
        return self.title if self.is_default or not self.benchmark else f"{self.title} ({self.name})"

    @property
    def is_overall(self) -> bool:
        """Whether it is a mean over several benchmarks."""
        return self.benchmark is None and any(result.is_group for result in self.results.values())

    @property
    def is_default(self) -> bool:
        """Whether it is what people mean by the benchmark's name, and no variant of it."""
        return self.benchmark is not None and self.name == cards()[self.benchmark].default_task

    @property
    def note(self) -> str:
        """What a group's numbers are."""
        of_groups = [len(result.tasks) for result in self.results.values() if result.is_group and result.tasks]
        return f"the unweighted means over {max(of_groups)} tasks" if of_groups else ""

    def facts(self, metric: str) -> Metric:
        """What is known of a metric of this unit."""
        return metric_of(metric, self.benchmark)

    @property
    def filters(self) -> list[str]:
        """All filters that some run reports."""
        return list(dict.fromkeys(name for r in self.results.values() for _, name in r.metrics)) or list(
            dict.fromkeys(name for r in self.results.values() for sample in r.samples[:1] for name in sample.answers)
        )

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
        known = [metric.name for metric in cards()[self.benchmark].metrics] if self.benchmark else []
        found = {metric for r in self.results.values() for metric, name in r.metrics if name == filter_name} or {
            metric
            for result in self.results.values()
            for sample in result.samples[:1]
            for metric in sample.metrics.get(filter_name, ())
        }
        return [*(metric for metric in known if metric in found), *sorted(found.difference(known))]

    @property
    def headline(self) -> list[str]:
        """The metrics of summaries: the benchmark's first, and those that its card wants beside it."""
        found = [metric for name in self.filters[:1] for metric in self.metrics(name)]
        if self.is_overall:
            return ["acc"] if "acc" in found else found[:1]
        beside = cards()[self.benchmark].beside if self.benchmark else ("acc",)
        return list(dict.fromkeys([*found[:1], *(metric for metric in beside if metric in found)]))

    def estimate(self, run: str, filter_name: str, metric: str) -> Estimate:
        """A metric of one run: the value that the harness reported, with a 95 % confidence interval."""
        key = run, filter_name, metric
        if key not in self._estimates:
            result = self.results.get(run)
            found = Estimate(0, None) if result is None else _estimate(result, filter_name, metric, self.benchmark)
            self._estimates[key] = found
        return self._estimates[key]

    def odd_ones(self, filter_name: str, metric: str) -> dict[str, str]:
        """The runs that are not comparable with most others, and why (:mod:`.comparable`)."""
        key = filter_name, self.facts(metric).is_of_explanations
        if key not in self._odd:
            self._odd[key] = odd_ones(self.results, filter_name, self.facts(metric).is_of_explanations)
        return self._odd[key]

    def macro_estimate(self, run: str, filter_name: str, metric: str) -> Estimate:
        """The macro average of a metric: a group's own value; for a task, over the strata of its samples."""
        result = self.results.get(run)
        if result is None or result.is_group:
            return self.estimate(run, filter_name, metric)
        items = items_of(result.samples, filter_name, metric, self.benchmark)
        strata = [item for item in items if item is not None]
        return estimate_of(strata, replace(self.facts(metric), aggregation=macro_mean))


def arrange(runs: Sequence[Run]) -> list[Unit]:
    """Units in the order of the benchmarks; a group of one benchmark takes the place of its tasks."""
    units: dict[str, Unit] = {}
    for run in runs:
        grouped: set[str] = set()
        for group in run.groups.values():
            members = [run.tasks[name] for name in group.tasks if name in run.tasks]
            benchmarks = {task.benchmark for task in members}
            benchmark = benchmarks.pop() if len(benchmarks) == 1 else None
            tasks = members if benchmark else []  # a mean over benchmarks is a number of the summary, and no section
            grouped.update(task.task for task in tasks)
            result = Result(tasks, group.metrics, is_group=True, members=members)
            _unit(units, group.group, benchmark).results[run.name] = result
        for task in run.tasks.values():
            if task.task not in grouped:
                result = Result([task], task.metrics, members=[task])
                _unit(units, task.task, task.benchmark).results[run.name] = result
    order = [*cards(), None]
    return sorted(units.values(), key=lambda unit: (not unit.is_overall, order.index(unit.benchmark)))


def _unit(units: dict[str, Unit], name: str, benchmark: str | None) -> Unit:
    return units.setdefault(name, Unit(name, benchmark))


def _estimate(result: Result, filter_name: str, metric: str, benchmark: str | None) -> Estimate:
    reported = result.metrics.get((metric, filter_name))
    facts = metric_of(metric, benchmark)
    if result.is_group and reported:  # a mean over tasks, which the samples together do not have
        return _of_group(reported, result, filter_name, facts, benchmark)
    of_samples = estimate(result.samples, filter_name, metric, benchmark)
    if reported is None or (of_samples.value is not None and abs(of_samples.value - reported.value) < 1e-6):
        return of_samples
    return _from_reported(reported, of_samples.n, facts)


def _of_group(reported: Value, result: Result, filter_name: str, metric: Metric, benchmark: str | None) -> Estimate:
    """The harness's mean over a group's tasks, with the interval of the tasks' own."""
    parts = [estimate(task.samples, filter_name, metric.name, benchmark) for task in result.tasks]
    n = sum(part.n for part in parts)
    found = _from_reported(reported, n, metric)
    clusters = [part.clusters for part in parts if part.clusters]
    if not parts or len(clusters) < len(parts):
        return found
    low, high = wider(of_means(reported.value, parts), (found.low, found.high))
    items = [
        item
        for task in result.tasks
        for item in items_of(task.samples, filter_name, metric.name, benchmark, stratum=task.task)
        if item is not None
    ]
    informative = macro_mean.summary(items).informative
    return replace(found, low=low, high=high, clusters=sum(clusters), informative=informative)


def _from_reported(reported: Value, n: int, metric: Metric) -> Estimate:
    """The harness's value and standard error: for groups, and where samples are missing."""
    value, stderr = reported
    low, high = confidence_interval(metric, value, stderr, Size(n, n) if n else None)
    return Estimate(n, value, stderr, low, high)


# ---- how numbers are written


def interval(estimate: Estimate, metric: Metric, before_few: str = ", ") -> str:
    """The confidence interval as text, empty without one; "too few" where it rests on too little."""
    if estimate.clusters is not None and estimate.value is not None and estimate.clusters < FEWEST:
        return f"too few ({estimate.clusters})"
    if estimate.low is None or estimate.high is None:
        return ""
    ends = f"{metric.shown(estimate.low)} to {metric.shown(estimate.high)}"
    return f"{ends}{before_few}{TOO_FEW}" if estimate.is_of_too_few else ends
