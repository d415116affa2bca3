"""What a run says: its tasks, their metrics and samples."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from medtasks_utils.benchmarks import benchmarks, metric_of
from medtasks_utils.benchmarks.base import KNOWN_ISSUES, Benchmark
from medtasks_utils.benchmarks.shortcuts import Reached, most_reached
from medtasks_utils.harness.signature import digest
from medtasks_utils.statistics.metrics import Metric
from medtasks_utils.statistics.ratio import Codes
from medtasks_utils.statistics.scores import MetricScores, Score, codes

from .samples import Row, Sample, SampleLog, mapping, read_samples


class Value(NamedTuple):
    """A metric's value over a task, and its standard error if it has one."""

    value: float
    stderr: float | None


Metrics = dict[tuple[str, str], Value]
"""By metric and filter."""


@dataclass(eq=False)
class TaskRun:
    """What one run says of one task.

    Attributes:
        task: its name.
        benchmark: the benchmark of this pack that it belongs to, or None.
        metrics: as the harness reported them.
        config: the task's configuration, with the options under ``dataset_kwargs`` and more under ``metadata``.
        samples_path: its sample log; None without one.
        signatures: by filter; empty for tasks and versions that write none.
    """

    task: str
    benchmark: str | None
    metrics: Metrics
    config: dict[str, Any]
    samples_path: Path | None = None
    signatures: dict[str, str] = field(default_factory=dict)
    _scores: dict[tuple[str, str], MetricScores] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def card(self) -> Benchmark | None:
        """Its benchmark's; None for a task of others."""
        return benchmarks()[self.benchmark] if self.benchmark else None

    def facts(self, metric: str) -> Metric:
        """What is known of a metric."""
        return metric_of(metric, self.benchmark)

    def without_question(self, metric: str) -> Reached | None:
        """Return what a reader without the question reaches on these rows; None where that was not measured."""
        content = mapping(self.config.get("metadata")).get("content", "")
        shortcuts = self.card.shortcuts if self.card else None
        return most_reached(shortcuts, content, metric) if shortcuts else None

    @cached_property
    def _log(self) -> SampleLog:
        if self.samples_path is None:
            return SampleLog([], [f"{self.task}: no samples; lm_eval writes them with --log_samples"])
        card = self.card
        return read_samples(self.samples_path, {"cluster": card.cluster, "stratum": card.stratum} if card else {})

    @cached_property
    def _codes(self) -> tuple[Codes, Codes]:
        return codes(sample.cluster for sample in self.samples), codes(sample.stratum or "" for sample in self.samples)

    @cached_property
    def examples(self) -> dict[tuple[str, int], int]:
        """The samples' places, by what two runs' samples of one example share, and how many such came before.

        The hash of the document, without what belongs to the prompt, such as a solved example, and what is only said of
        it.
        """
        card = self.card
        left_out = {*card.prompt_fields, *card.unsigned_fields, KNOWN_ISSUES} if card else set()
        seen: Counter[str] = Counter()
        found = {}
        for place, sample in enumerate(self.samples):
            content = {name: value for name, value in sample.doc.items() if name not in left_out}
            key = digest(content, length=64) if card else sample.doc_hash
            found[key, seen[key]] = place
            seen[key] += 1
        return found

    @cached_property
    def groups(self) -> dict[str, list[str | None]]:
        """The group of each sample by breakdown; None leaves it out."""
        breakdowns = self.card.breakdowns if self.card else ()
        return {each.name: [each.key(sample.doc) for sample in self.samples] for each in breakdowns}

    def scores(self, filter_name: str, metric: str) -> MetricScores:
        """The scores of all samples in order; of one without a value, none."""
        key = filter_name, metric
        if key not in self._scores:
            # Samples that were saved without scores of single generations have no terms to add up.
            has_scores = any(sample.scores.get(filter_name) for sample in self.samples)
            is_lost = self.facts(metric).aggregation.needs_terms and not has_scores
            rows = [() if is_lost else sample.scores_of(filter_name, metric) for sample in self.samples]
            self._scores[key] = MetricScores.of(rows, *self._codes)
        return self._scores[key]

    def rescored(self, filter_name: str, rescore: Callable[[str, Row], Score]) -> MetricScores:
        """Return the scores of all samples in order if each answer that a filter read is scored in another way.

        Args:
            rescore: the score of an answer, as logged, to a document.
        """
        rows = [
            [rescore(answer, sample.doc) for answer in sample.answers.get(filter_name, ())] for sample in self.samples
        ]
        return MetricScores.of(rows, *self._codes)

    @property
    def samples(self) -> list[Sample]:
        """Its examples, in order; read from disk once, on first use."""
        return self._log.samples

    @property
    def problems(self) -> list[str]:
        """What is wrong with its samples; reads them."""
        return self._log.problems

    @property
    def remarks(self) -> list[str]:
        """What it says of its rows: what stands in for a split that was not there, and which rows were left out."""
        metadata = mapping(self.config.get("metadata"))
        left_out = metadata.get("rows_left_out", {}).items()
        return [*metadata.get("remarks", ()), *(f"{n} rows left out: {reason}" for reason, n in left_out)]

    @property
    def filters(self) -> list[str]:
        """Names of the filters, in the harness's order."""
        reported = dict.fromkeys(name for _, name in self.metrics)
        return list(reported or dict.fromkeys(name for sample in self.samples for name in sample.answers))


@dataclass
class GroupRun:
    """What one run says of a group of tasks: its members' names, and metrics as the harness reported them."""

    group: str
    tasks: list[str]
    metrics: Metrics


@dataclass
class Run:
    """One run of the harness.

    Attributes:
        name: short, and unique among the runs read together.
        model: the model's name as the harness has it.
        path: the results file; where there is none, the folder.
        date: as in the file names, such as ``2026-11-21T08-27-59.103191``; empty if they have none.
        results: all that the results file holds; empty if it is not there or unreadable.
        tasks: by name.
        groups: by name.
        problems: what is wrong with the run's files, in words; those of samples are each task's own.
    """

    name: str
    model: str
    path: Path
    date: str
    results: dict[str, Any]
    tasks: dict[str, TaskRun]
    groups: dict[str, GroupRun]
    problems: list[str]

    def setting(self, name: str) -> Any:
        """One of the settings that it was started with, such as ``limit``; None where that is not known."""
        return mapping(self.results.get("config")).get(name)

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """By task, how many examples there are (``original``), and how many were asked (``effective``)."""
        return dict(self.results.get("n-samples", {}))
