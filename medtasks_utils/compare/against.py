"""Compare a new run with a saved one while it runs: ``medtasks eval --against RUN``.

Each task's examples are evaluated in batches, in random order. A task ends as soon as the comparison is decided: the
model is better than the saved run, worse, or within a few points of it (:mod:`medtasks_utils.statistics.sequential`).
The metric is the first compared metric of the benchmark that is a mean or a macro average of means, usually ``acc``. A
group of tasks of one benchmark, such as ``medexqa``, is decided as a whole, by its mean over tasks.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain, repeat
from pathlib import Path
from typing import Any, NamedTuple

from medtasks_utils.errors import MedtasksError, UsageError, logger
from medtasks_utils.results import TaskRun, as_run
from medtasks_utils.results.run import content_keys
from medtasks_utils.statistics.aggregation import Mean
from medtasks_utils.statistics.metrics import Metric
from medtasks_utils.statistics.score_arrays import MetricScores, concatenate
from medtasks_utils.statistics.scores import Score
from medtasks_utils.statistics.sequential import (
    WITHIN,
    decision,
    levels,
    look_sizes,
    random_order,
    repeated_interval,
)
from medtasks_utils.writing import JsonObject

from .contrast import contrast
from .incompatibilities import incompatibilities
from .pairing import one_run

_ONLY_OF_EXAMPLES = ("rows", "n", "scorers")  # signature fields that may differ, since a batch has only some examples


class Standing(NamedTuple):
    """The state of a comparison after some batches.

    Differences are the new run's value minus the saved run's, in the metric's own unit.

    Attributes:
        decision: ``better``, ``worse``, ``within`` (the margin) or ``undecided``.
        asked: the number of examples that the new run has evaluated.
        of: the number of selected examples that the saved run has as well.
        difference: the difference over the examples evaluated so far; None if none has a score in both runs.
        low: the lower end of the repeated confidence interval for the difference; None if it cannot be computed yet.
        high: the upper end of the interval; None if it cannot be computed yet.
    """

    decision: str
    asked: int
    of: int
    difference: float | None = None
    low: float | None = None
    high: float | None = None


class TaskAgainst:
    """The examples of a task that are also in a saved run, with their scores in both runs.

    Examples that only the new run selects are left out, with a warning if the saved run has other examples as well.

    Args:
        saved: the task in the saved run.
        documents: all examples of the task, in order.
        numbers: the indices of the examples that the new run selects, for example with ``--limit``.

    Raises:
        MedtasksError: if the saved run has no samples of these examples.
    """

    def __init__(self, saved: TaskRun, documents: Sequence[Mapping[str, Any]], numbers: Sequence[int]) -> None:
        self._keys = keys = content_keys(documents, saved.benchmark)
        self.numbers = [number for number in numbers if keys[number] in saved.examples]
        if not self.numbers:
            raise MedtasksError(
                f"--against: none of the {len(numbers):,} examples of {saved.task} is among the {len(saved.samples):,} "
                "samples of the saved run; use the same data and examples"
            )
        if len(self.numbers) < min(len(numbers), len(saved.examples)):
            logger.warning(
                "%s: only %d of the saved run's %d examples are selected, so only these are evaluated",
                *(saved.task, len(self.numbers), len(saved.examples)),
            )
        self.saved = saved
        self._filter = saved.default_filter if saved.default_filter in saved.filters else saved.filters[0]
        self.samples: dict[int, JsonObject] = {}

    @property
    def metric(self) -> Metric:
        """The first compared metric that is a mean or a macro average of means, and has saved scores; else ``acc``.

        For example, a single specialty of MedExQA has no macro average, so a later metric is used for it.
        """
        for name in self.saved.facts.compared:
            metric = self.saved.metric(name)
            is_of_means = isinstance(metric.aggregation.within_stratum or metric.aggregation, Mean)
            if is_of_means and self.saved.metric_scores(self._filter, name).applies.any():
                return metric
        return self.saved.metric("acc")

    def add(self, results: JsonObject) -> None:
        """Add the samples in the harness's results of a batch.

        Raises:
            MedtasksError: if the runs are not comparable.
        """
        samples, new = results["samples"][self.saved.task], as_run(results, Path()).tasks[self.saved.task]
        new.prompt_hashes = {self._keys[sample["doc_id"]]: sample["prompt_hash"] for sample in samples}
        reasons = [
            difference.message
            for difference in incompatibilities(self.saved, new, self._filter)
            if difference.not_comparable and difference.field not in _ONLY_OF_EXAMPLES
        ]
        if reasons:
            raise MedtasksError(
                f"--against: {self.saved.task} is not comparable with the saved run: {'; '.join(reasons)}"
            )
        self.samples.update((sample["doc_id"], sample) for sample in samples if sample["filter"] == self._filter)

    def saved_scores(self, metric: str) -> MetricScores:
        """Return the saved run's scores of the examples in :attr:`numbers`."""
        places = [self.saved.examples[self._keys[number]] for number in self.numbers]
        return self.saved.metric_scores(self._filter, metric)[places]

    def new_scores(self, metric: str) -> list[Sequence[Score]]:
        """Return the new run's scores of the examples in :attr:`numbers`; empty for an example not evaluated yet."""
        values = [[self.samples[number].get(metric)] if number in self.samples else [] for number in self.numbers]
        return [getattr(value[0], "scores", value) if value else () for value in values]


class TopicAgainst:
    """The running comparison of a task, or of a group's mean, with a saved run; it schedules the examples.

    Args:
        name: the name of the task or group.
        tasks: the task, or the tasks of the group.
        within: the largest difference that counts as equal, in percentage points.

    Attributes:
        metric: the metric that is compared.
        standing: the state of the comparison.
    """

    def __init__(self, name: str, tasks: Mapping[str, TaskAgainst], within: float) -> None:
        self.name, self.tasks = name, tasks
        is_group, metric = len(tasks) > 1, next(iter(tasks.values())).metric
        self.metric = metric.over_strata() if is_group else metric
        parts = [task.saved_scores(metric.name) for task in tasks.values()]
        self._saved_scores = concatenate(parts, tasks_are_strata=is_group)
        self._within = within / 100 * (self.metric.range[1] or 1.0)
        strata = self._saved_scores.strata * self.metric.aggregation.averages_parts
        self._order = random_order(self._saved_scores.clusters, strata)
        self._sizes = look_sizes(len(self._order), len(set(strata)))
        self._look = 0
        self._examples = [*chain.from_iterable(zip(repeat(name), task.numbers) for name, task in tasks.items())]
        self.standing = Standing("undecided", 0, len(self._examples))

    @property
    def is_open(self) -> bool:
        """True if the comparison is undecided and examples are left."""
        return self.standing.decision == "undecided" and self._look < len(self._sizes)

    def next_batch(self) -> dict[str, list[int]]:
        """Advance to the next look, and return the indices of the examples to evaluate, by task, in ascending order."""
        begin, end = [0, *self._sizes][self._look : self._look + 2]
        self._look += 1
        batch: dict[str, list[int]] = defaultdict(list)
        for name, number in sorted(self._examples[place] for place in chain.from_iterable(self._order[begin:end])):
            batch[name].append(number)
        return batch

    def add(self, results: JsonObject) -> None:
        """Add the samples in the harness's results of a batch, and update :attr:`standing`.

        Raises:
            MedtasksError: if the runs are not comparable.
        """
        for name, task in self.tasks.items():
            if name in results["samples"]:
                task.add(results)
        saved = self._saved_scores
        rows = [*chain.from_iterable(task.new_scores(self.metric.name) for task in self.tasks.values())]
        new = MetricScores.of(rows, saved.clusters, saved.strata)
        result = contrast(saved, new, self.metric, whole_examples=True)
        asked = sum(len(task.samples) for task in self.tasks.values())
        self.standing = Standing("undecided", asked, len(self._examples), result.difference if result else None)
        if result and result.sensitivity:
            size, level = self._sizes[self._look - 1], levels(self._sizes)[self._look - 1]
            interval = repeated_interval(result.difference, result.sensitivity, size / self._sizes[-1], level)
            self.standing = self.standing._replace(decision=decision(interval, self._within), **interval._asdict())

    def __str__(self) -> str:
        """Return the standing as one line, with shares in percentage points."""
        standing, scale = self.standing, self.metric.scale
        of_group = f" of {self.name}" * (len(self.tasks) > 1)
        text = f"{standing.asked:,} of {standing.of:,} examples{of_group} evaluated"
        if standing.difference is not None:
            text += f", {self.metric.name} {scale * standing.difference:+.1f} points against the saved run"
        if standing.low is not None and standing.high is not None:
            text += f" [{scale * standing.low:+.1f}, {scale * standing.high:+.1f}]"
        left = f", at most {standing.of - standing.asked:,} left" * (standing.decision == "undecided")
        return f"{text}: {standing.decision}{left}"


class SavedRun:
    """The saved run with which a new run is compared.

    Args:
        path: a results file, or a folder with one run.
        tasks: the names in ``--tasks`` of the new run.
        within: the largest difference that counts as equal, in percentage points; None for the default of 2.

    Raises:
        MedtasksError: if there is no such run, or more than one.
    """

    def __init__(self, path: str, tasks: Sequence[str], within: float | None = None) -> None:
        self._run = one_run(path, tasks)
        self._within = WITHIN if within is None else within

    def check_tasks(self, tasks: Sequence[str]) -> None:
        """Raise a UsageError if the saved run lacks one of the given tasks."""
        for task in tasks:
            if task not in self._run.tasks:
                names = ", ".join(self._run.tasks) or "none"
                raise UsageError(f"--against: {self._run.path} has no task {task}; it has {names}")

    def begin(
        self, name: str, selected: Mapping[str, tuple[Sequence[Mapping[str, Any]], Sequence[int]]]
    ) -> TopicAgainst:
        """Begin the comparison of a task, or of a group of tasks, with the saved run.

        ``selected`` maps each task to all of its examples, and the indices of those that the new run evaluates.

        Raises:
            MedtasksError: if the saved run has no samples of a task's selected examples.
        """
        tasks = {task: TaskAgainst(self._run.tasks[task], *examples) for task, examples in selected.items()}
        return TopicAgainst(name, tasks, self._within)
