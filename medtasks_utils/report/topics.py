"""Define topics: a topic is a task or a group of tasks over all runs, which the page shows together."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from medtasks_utils.benchmarks import benchmarks, metric_of
from medtasks_utils.benchmarks.base import Benchmark
from medtasks_utils.benchmarks.shortcuts import Reached
from medtasks_utils.compare.pairing import comparability
from medtasks_utils.results import Run, Sample, TaskRun
from medtasks_utils.results.run import Metrics
from medtasks_utils.statistics.intervals import Estimate, estimate, estimate_from_results
from medtasks_utils.statistics.metrics import REPEAT_METRICS, REPLY_METRICS, Metric
from medtasks_utils.statistics.score_arrays import MetricScores, concatenate

TOLERANCE = 1e-6
"""The difference below which two values are taken as equal, since they may differ by rounding."""


@dataclass
class RunResult:
    """The results of one run on a topic.

    Attributes:
        tasks: the task, or those tasks of the group that the run has.
        metrics: the values that the harness reported for the topic.
        is_group: True if these values are means over tasks.
        asked: the number of evaluated examples; 0 if unknown.
    """

    tasks: list[TaskRun]
    metrics: Metrics
    is_group: bool = False
    asked: int = 0

    @cached_property
    def samples(self) -> list[Sample]:
        """The samples of all tasks."""
        return [sample for task in self.tasks for sample in task.samples]

    def scores(self, filter_name: str, metric: str, by_task: bool = False) -> MetricScores:
        """Return the scores of all samples; with ``by_task``, each task is a stratum."""
        return concatenate([task.scores(filter_name, metric) for task in self.tasks], tasks_are_strata=by_task)

    @property
    def filters(self) -> list[str]:
        """The filters of all tasks."""
        return list(dict.fromkeys(chain.from_iterable(task.filters for task in self.tasks)))

    def signatures(self, filter_name: str) -> list[str]:
        """Return the distinct signatures of the tasks, in order."""
        return list(dict.fromkeys(t.signatures[filter_name] for t in self.tasks if filter_name in t.signatures))


def incompatibility(a: Sequence[TaskRun], b: Sequence[TaskRun], filter_name: str, of_explanations: bool) -> str:
    """Return the reason why the results of two runs must not be compared; an empty string if they may be."""
    tasks_of_b = {task.task: task for task in b}
    if {task.task for task in a} != set(tasks_of_b):
        return "other tasks"
    for task in a:
        reason = comparability(task, tasks_of_b[task.task], filter_name, of_explanations=of_explanations).reason
        if reason:
            return reason
    return ""


@dataclass(eq=False)
class Topic:
    """A task or group of tasks, over all runs that have it.

    Attributes:
        benchmark_name: the benchmark of its tasks; None for tasks of no benchmark and groups of several benchmarks.
        results: the result of each run, by name, in the order of the runs.
    """

    name: str
    benchmark_name: str | None
    results: dict[str, RunResult] = field(default_factory=dict)

    @property
    def benchmark(self) -> Benchmark | None:
        """The benchmark of its tasks, if they have one in common."""
        return benchmarks()[self.benchmark_name] if self.benchmark_name else None

    @property
    def is_overall(self) -> bool:
        """True if it is a group of several benchmarks, which is shown in the summary and has no section."""
        return self.benchmark_name is None and any(result.is_group for result in self.results.values())

    @property
    def label(self) -> str:
        """The benchmark's name as its authors write it, followed by the name of the task if it is a variant."""
        if self.benchmark is None:
            return "Overall" if self.is_overall else self.name
        title = self.benchmark.title
        return title if self.name == self.benchmark.default_task else f"{title} ({self.name})"

    def metric(self, name: str) -> Metric:
        """Return a metric by name; in a group of several benchmarks, the metric of the first of them."""
        names = (task.benchmark_name for result in self.results.values() for task in result.tasks)
        return metric_of(name, self.benchmark_name or next(filter(None, names), None))

    @property
    def filters(self) -> list[str]:
        """The filters that any run has; for a group, those of its reported values, or of its tasks if it has none."""
        names: list[str] = []
        for result in self.results.values():
            of_group = [name for _, name in result.metrics] if result.is_group else []
            names += of_group or result.filters
        return list(dict.fromkeys(names))

    @property
    def only_task(self) -> str:
        """The name of the topic's task, for links to its samples; empty if it has several tasks."""
        tasks = {task.task for result in self.results.values() for task in result.tasks}
        return tasks.pop() if len(tasks) == 1 else ""

    def samples(self) -> dict[str, list[Sample]]:
        """Return the samples by run, for the runs that have any."""
        return {name: samples for name, result in self.results.items() if (samples := result.samples)}

    def metrics(self, filter_name: str) -> list[str]:
        """Return the names of the metrics that any run has under a filter, the most important first."""
        declared = [metric.name for metric in self.benchmark.metrics] if self.benchmark else []
        names = {metric for r in self.results.values() for metric, name in r.metrics if name == filter_name}
        if not names:
            for samples in self.samples().values():
                names.update(samples[0].metrics.get(filter_name, ()))
        return [*(metric for metric in declared if metric in names), *sorted(names.difference(declared))]

    @property
    def headline(self) -> list[str]:
        """The metrics that a summary shows.

        These are the first metric, the benchmark's headline metrics (``acc`` without a benchmark), and those that a
        variant of the task adds in its ``metric_list``.
        """
        names = [name for filter_name in self.filters for name in self.metrics(filter_name)]
        further = [*(self.benchmark.headline_metrics if self.benchmark else ("acc",))]
        declared = (
            {metric.name for metric in (*self.benchmark.metrics, *REPLY_METRICS, *REPEAT_METRICS)}
            if self.benchmark
            else set()
        )
        for result in self.results.values():
            for task in result.tasks:
                listed = [entry["metric"] for entry in task.config.get("metric_list") or ()]
                further += [name for name in listed if name not in declared]
        return list(dict.fromkeys([*names[:1], *(name for name in further if name in names)]))

    def estimate(self, run: str, filter_name: str, metric_name: str) -> Estimate:
        """Return a run's value of a metric, with its 95 % interval.

        The value is computed from the samples. If there are none, or if it differs from the value that the harness
        reported, the reported value is returned.
        """
        result, metric = self.results.get(run), self.metric(metric_name)
        if result is None or not result.tasks:
            return Estimate(0, None)
        reported = result.metrics.get((metric_name, filter_name))
        by_task = result.is_group and reported is not None
        of_samples = estimate(result.scores(filter_name, metric_name, by_task), metric, over_strata=by_task)
        if reported is None:
            return of_samples
        if of_samples.value is not None and abs(of_samples.value - reported.value) < TOLERANCE:
            return of_samples
        is_clustered = any(task.benchmark and task.benchmark.cluster for task in result.tasks)
        n = 0 if is_clustered or result.is_group else result.asked  # how many of them are independent is not known
        return estimate_from_results(metric, *reported, n)

    def without_question(self, metric: str) -> Reached | None:
        """Return the best score without the question; None if it was not measured on the rows of all runs.

        For a group of tasks, this is the mean over the tasks.
        """
        distinct = {tuple(t.without_question(metric) for t in result.tasks) for result in self.results.values()}
        by_task = distinct.pop() if len(distinct) == 1 else ()
        measured = [reached for reached in by_task if reached is not None]
        if not measured or len(measured) < len(by_task):
            return None
        readers = dict.fromkeys(reached.reader for reached in measured)
        return Reached(sum(reached.value for reached in measured) / len(measured), ", ".join(readers))

    def incomparable_runs(self, filter_name: str, metric: str) -> dict[str, str]:
        """Return, by run, the reason why it is not comparable with most others; on a tie, the earlier runs decide.

        Reasons are without the differing values, which the signatures show.
        """
        tasks = {run: result.tasks for run, result in self.results.items() if filter_name in result.filters}

        def reason(run: str, other: str) -> str:
            of_explanations = self.metric(metric).is_of_explanations
            return incompatibility(tasks[run], tasks[other], filter_name, of_explanations).split(" (")[0]

        reference = max(tasks, key=lambda run: sum(not reason(run, other) for other in tasks), default="")
        reasons = {run: reason(reference, run) for run in tasks}
        return {run: text for run, text in reasons.items() if text}

    def numbered_reasons(self, names: Sequence[str], filter_name: str, metric: str) -> dict[int, str]:
        """Return :meth:`incomparable_runs` by the index of the run on the page."""
        return {names.index(run): reason for run, reason in self.incomparable_runs(filter_name, metric).items()}


def topics_of(runs: Sequence[Run]) -> list[Topic]:
    """Return the topics; a group of one benchmark replaces its tasks.

    Groups of several benchmarks are first, then the topics of each benchmark, then tasks of no benchmark.
    """
    topics: dict[str, Topic] = {}

    def add(run: Run, name: str, benchmark_name: str | None, result: RunResult) -> None:
        result.asked = sum(run.counts.get(task.task, {}).get("effective", 0) for task in result.tasks)
        topics.setdefault(name, Topic(name, benchmark_name)).results[run.name] = result

    for run in runs:
        grouped: set[str] = set()
        for group_name, group in run.groups.items():
            members = [run.tasks[name] for name in group.tasks if name in run.tasks]
            names = {task.benchmark_name for task in members}
            benchmark_name = names.pop() if len(names) == 1 else None
            grouped.update(task.task for task in members if benchmark_name)
            add(run, group_name, benchmark_name, RunResult(members, group.metrics, is_group=True))
        for task in run.tasks.values():
            if task.task not in grouped:
                add(run, task.task, task.benchmark_name, RunResult([task], task.metrics))
    order = [*benchmarks(), None]
    return sorted(topics.values(), key=lambda topic: (not topic.is_overall, order.index(topic.benchmark_name)))
