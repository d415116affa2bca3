"""Define topics: a topic is a task or a group of tasks over all runs, which the page shows together."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import chain

import numpy as np

from medtasks_utils.benchmarks import benchmarks, metric_of
from medtasks_utils.benchmarks.facts import ReportFacts
from medtasks_utils.benchmarks.registered import AnyBenchmark
from medtasks_utils.benchmarks.shortcuts import Reached
from medtasks_utils.compare.pairing import common_examples, comparability
from medtasks_utils.results import Run, Sample, TaskRun
from medtasks_utils.results.run import Metrics
from medtasks_utils.statistics.intervals import Estimate, estimate, estimate_from_results
from medtasks_utils.statistics.metrics import ADDED_METRICS, PASSES, Metric
from medtasks_utils.statistics.score_arrays import MetricScores, concatenate

MOST_MISSING = 0.01
"""Maximum share of examples that a ranked run may lack; runs are ranked on their common examples."""

TOLERANCE = 1e-6
"""The difference up to which two values count as equal, to allow for rounding."""


@dataclass(eq=False)
class RunResult:
    """The results of one run on a topic.

    Attributes:
        tasks: the task, or the group's tasks that the run has.
        metrics: the values that the harness reported for the topic.
    """

    tasks: list[TaskRun]
    metrics: Metrics

    @cached_property
    def samples(self) -> list[Sample]:
        """The samples of all tasks."""
        return [sample for task in self.tasks for sample in task.samples]

    @cached_property
    def examples(self) -> set[tuple[str, tuple[str, int]]]:
        """The examples of all tasks, as pairs of task and key."""
        return {(task.task, key) for task in self.tasks for key in task.examples}

    def metric_scores(self, filter_name: str, metric: str, by_task: bool = False) -> MetricScores:
        """Return the scores of all samples; with ``by_task``, each task is a stratum."""
        return concatenate([task.metric_scores(filter_name, metric) for task in self.tasks], tasks_are_strata=by_task)

    @property
    def filters(self) -> list[str]:
        """The filters of all tasks."""
        return list(dict.fromkeys(name for task in self.tasks for name in task.filters))

    def signatures(self, filter_name: str) -> list[str]:
        """Return the distinct signatures of the tasks, in order."""
        return list(dict.fromkeys(t.signatures[filter_name] for t in self.tasks if filter_name in t.signatures))


def incompatibility(
    a: Sequence[TaskRun], b: Sequence[TaskRun], filter_name: str, of_explanations: bool, missing: float = 0.0
) -> str:
    """Return why the results of two runs are not comparable; empty if they are.

    Of a task's examples in one run, the other may lack a share of at most ``missing``.
    """
    tasks_of_b = {task.task: task for task in b}
    if {task.task for task in a} != set(tasks_of_b):
        return "other tasks"
    for task in a:
        other = tasks_of_b[task.task]
        verdict = comparability(task, other, filter_name, of_explanations=of_explanations)
        most = max(len(task.samples), len(other.samples))
        if verdict.incompatible or len(common_examples(task, other)[0]) < (1 - missing) * most:
            return verdict.reason
    return ""


@dataclass(frozen=True)
class MetricOfTopic:
    """A metric of a topic under one filter, in all runs that have the topic.

    Attributes:
        estimates: the values by run, with their 95 % intervals.
        without_question: the best score without the question; None if it was not measured on the rows of all runs.
        incomparable: the reasons why some runs are not comparable with most others, by run.
    """

    metric: Metric
    estimates: dict[str, Estimate]
    without_question: Reached | None
    incomparable: dict[str, str]


@dataclass(eq=False)
class Topic:
    """A task or group of tasks, over all runs that have it.

    Attributes:
        benchmark_name: the benchmark of the topic's tasks; None for tasks of no benchmark and groups of several
            benchmarks.
        is_group: True for a group of tasks, whose reported values are means over its tasks.
        results: the result of each run that has the topic, by the run's name.
    """

    name: str
    benchmark_name: str | None
    is_group: bool
    results: dict[str, RunResult] = field(default_factory=dict)

    @property
    def benchmark(self) -> AnyBenchmark | None:
        """The benchmark that the topic's tasks have in common; None if there is none."""
        return benchmarks()[self.benchmark_name] if self.benchmark_name else None

    @property
    def facts(self) -> ReportFacts:
        """The benchmark's settings for the report; the defaults without a common benchmark."""
        return self.benchmark.report if self.benchmark else ReportFacts()

    @property
    def is_overall(self) -> bool:
        """True for a group of different benchmarks, which is shown in the summary and has no section."""
        return self.is_group and self.benchmark_name is None

    @property
    def label(self) -> str:
        """The benchmark's official name, followed by the task's name if it is a variant.

        Without a common benchmark, it is ``Overall`` for a group, and the task's name otherwise.
        """
        if self.benchmark is None:
            return "Overall" if self.is_overall else self.name
        return self.title if self.is_default else f"{self.title} ({self.name})"

    @property
    def title(self) -> str:
        """The benchmark's official name; without a benchmark, :attr:`label`."""
        return self.benchmark.title if self.benchmark else self.label

    @property
    def is_default(self) -> bool:
        """True if the task is its benchmark's default task, or has no benchmark; False for a variant."""
        return self.benchmark is None or self.name == self.benchmark.tasks.default

    @property
    def guessing(self) -> float | None:
        """The accuracy of guessing among non-abstaining answers, in per cent; None without a fixed set of answers."""
        abstention = self.facts.abstention
        choices = self.benchmark.answers.keys() - {abstention and abstention.answer} if self.benchmark else ()
        return 100 / len(choices) if choices else None

    @cached_property
    def filters(self) -> list[str]:
        """The distinct filters of all runs: those of the reported values or, in a run without values, of its tasks."""
        names = ([name for _, name in result.metrics] or result.filters for result in self.results.values())
        return list(dict.fromkeys(chain.from_iterable(names)))

    @property
    def tasks(self) -> list[str]:
        """The names of the topic's tasks over all runs."""
        return list(dict.fromkeys(task.task for result in self.results.values() for task in result.tasks))

    @property
    def only_task(self) -> str:
        """The name of the topic's task, for links to samples; empty if it has more than one."""
        return self.tasks[0] if len(self.tasks) == 1 else ""

    @property
    def rankable(self) -> list[str]:
        """The runs that have samples of all of their tasks."""
        return [
            run for run, result in self.results.items() if result.tasks and all(task.samples for task in result.tasks)
        ]

    @property
    def sampled(self) -> dict[str, RunResult]:
        """The results with samples, by run."""
        return {run: result for run, result in self.results.items() if result.samples}

    def metrics(self, filter_name: str) -> list[str]:
        """Return the names of the metrics that any run has under a filter.

        The benchmark's own metrics come first, in the order of its declaration; the others follow alphabetically. If no
        run reports a metric, the metrics of the samples are used.
        """
        declared = [metric.name for metric in self.benchmark.metrics] if self.benchmark else []
        names = {metric for r in self.results.values() for metric, name in r.metrics if name == filter_name}
        names = names or self._logged[filter_name]
        return [*(metric for metric in declared if metric in names), *sorted(names.difference(declared))]

    @cached_property
    def _logged(self) -> dict[str, set[str]]:
        """The names of the metrics that any sample has, by filter."""
        names = defaultdict[str, set[str]](set)
        for result in self.sampled.values():
            for sample in result.samples:
                for filter_name, values in sample.metrics.items():
                    names[filter_name].update(values)
        return names

    @cached_property
    def headline(self) -> list[str]:
        """The names of the metrics in a summary, starting with the one on which runs are compared.

        The others are the benchmark's first reported metric, its headline metrics, and metrics that a variant adds, but
        not those whose names begin with ``pass@`` or ``pass^``. Without a benchmark, the names are those of all
        metrics, by filter and then alphabetically.
        """
        names = list(chain.from_iterable(map(self.metrics, self.filters)))
        if self.benchmark is None:
            return list(dict.fromkeys(names))
        minor = {metric.name for metric in (*self.benchmark.metrics, *ADDED_METRICS)}
        minor.difference_update(names[:1], self.facts.headline)
        minor.update(name for name in names if name.startswith(PASSES))
        compared = [name for name in self.facts.compared if name in names][:1]
        return list(dict.fromkeys([*compared, *(name for name in names if name not in minor)]))

    @cached_property
    def in_runs(self) -> Callable[[str, str], MetricOfTopic]:
        """A cached function that returns a metric in all runs, given a filter and the metric's name."""
        return cache(self._in_runs)

    def _in_runs(self, filter_name: str, name: str) -> MetricOfTopic:
        """Return a metric in all runs; for a group of different benchmarks, the definition of the first one is used."""
        names = (task.benchmark_name for result in self.results.values() for task in result.tasks)
        metric = metric_of(name, self.benchmark_name or next(filter(None, names), None))
        return MetricOfTopic(
            metric,
            {run: self._estimate(result, filter_name, metric) for run, result in self.results.items()},
            self.reached_without_question(name),
            self._incomparable(filter_name, metric.is_of_explanations),
        )

    def _estimate(self, result: RunResult, filter_name: str, metric: Metric) -> Estimate:
        """Return the value of a metric, computed from the samples.

        If there are no samples, or if their value differs from the one that the harness reported, return the reported
        value.
        """
        if not result.tasks:
            return Estimate(0, None)
        reported = result.metrics.get((metric.name, filter_name))
        by_task = self.is_group and reported is not None
        of_samples = estimate(result.metric_scores(filter_name, metric.name, by_task), metric, over_strata=by_task)
        if reported is None:
            return of_samples
        if of_samples.value is not None and abs(of_samples.value - reported.value) < TOLERANCE:
            return of_samples
        is_clustered = any(task.benchmark and task.benchmark.data.cluster for task in result.tasks)
        asked = 0 if result.samples and not of_samples.n else sum(task.asked for task in result.tasks)
        return estimate_from_results(metric, *reported, asked, not is_clustered and not self.is_group)

    def by_group(self, breakdown: str, filter_name: str, name: str) -> dict[str, dict[str, Estimate]]:
        """Return the estimates of a metric by group of a breakdown and by run; examples in no group are left out."""
        groups: dict[str, dict[str, Estimate]] = {}
        for run, result in self.sampled.items():
            names = np.array([group for task in result.tasks for group in task.groups[breakdown]], dtype=object)
            scores, metric = result.metric_scores(filter_name, name), result.tasks[0].metric(name)
            for group in filter(None, dict.fromkeys(names)):
                groups.setdefault(group, {})[run] = estimate(scores[names == group], metric)
        return groups

    def reached_without_question(self, metric: str) -> Reached | None:
        """Return the best score without the question, for a group the mean over its tasks.

        None if a task has no such score, or the runs have different ones.
        """
        distinct = {tuple(t.without_question(metric) for t in result.tasks) for result in self.results.values()}
        by_task = distinct.pop() if len(distinct) == 1 else ()
        measured = list(filter(None, by_task))
        if not measured or len(measured) < len(by_task):
            return None
        readers = dict.fromkeys(reached.reader for reached in measured)
        return Reached(sum(reached.value for reached in measured) / len(measured), ", ".join(readers))

    def _incomparable(self, filter_name: str, of_explanations: bool) -> dict[str, str]:
        """Return the reasons why some runs are not comparable with most others; on a tie, earlier runs decide.

        Reasons leave out the differing values, which the signatures show.
        """
        tasks = {run: result.tasks for run, result in self.results.items() if filter_name in result.filters}
        alike: dict[str, list[str]] = {}  # comparable runs, by the first of them

        def reason(run: str, other: str) -> str:
            return incompatibility(tasks[other], tasks[run], filter_name, of_explanations, MOST_MISSING).split(" (")[0]

        for run in tasks:
            first = next((first for first in alike if not reason(run, first)), run)
            alike.setdefault(first, []).append(run)
        most = max(alike.values(), key=len, default=[])
        return {run: reason(run, most[0]) for run in tasks if run not in most}


def topics_of(runs: Sequence[Run]) -> list[Topic]:
    """Return a topic for each group and task of the runs, except for the tasks of a group of a single benchmark.

    Groups of several benchmarks are first, then the topics of each benchmark, then tasks of no benchmark.
    """
    topics: dict[str, Topic] = {}
    for run in runs:
        grouped: set[str] = set()
        for name in (*run.groups, *run.tasks):
            if name in grouped:
                continue
            tasks = run.tasks_of(name)
            names = {task.benchmark_name for task in tasks}
            benchmark_name = names.pop() if len(names) == 1 else None
            group = run.groups.get(name)
            if group and benchmark_name:
                grouped.update(task.task for task in tasks)
            topic = topics.setdefault(name, Topic(name, benchmark_name, bool(group)))
            topic.results[run.name] = RunResult(tasks, (group or run.tasks[name]).metrics)
    order = [*benchmarks(), None]
    return sorted(topics.values(), key=lambda topic: (not topic.is_overall, order.index(topic.benchmark_name)))
