"""Define a saved run, with its tasks, their metrics and their samples."""

from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from medtasks_utils.benchmarks import benchmarks, metric_of
from medtasks_utils.benchmarks.base import Benchmark
from medtasks_utils.benchmarks.facts import KNOWN_ISSUES, ReportFacts, TaskInfo
from medtasks_utils.benchmarks.shortcuts import Reached, most_reached
from medtasks_utils.filters import DEFAULT_FILTER, FLEXIBLE, STRICT
from medtasks_utils.statistics.metrics import Metric
from medtasks_utils.statistics.score_arrays import Codes, MetricScores, integer_codes
from medtasks_utils.writing import JsonObject, digest

from .samples import Sample, SampleLog, mapping, read_samples


class Value(NamedTuple):
    """The value of a metric over a task or group, and its standard error, which is None if it was not reported."""

    value: float
    stderr: float | None


Metrics = dict[tuple[str, str], Value]
"""Values by metric and filter."""


@dataclass(eq=False)
class TaskRun:
    """One task of a saved run.

    Attributes:
        task: the task's name.
        benchmark_name: the name of its benchmark; None for a task outside this package.
        metrics: the values that the harness reported.
        config: the task's configuration, with its options under ``dataset_kwargs`` and other facts in ``metadata``.
        samples_path: the sample log; None if none was written.
        asked: the number of evaluated examples; 0 if unknown.
        available: the number of examples in the data, including those that ``--limit`` leaves out; 0 if unknown.
        system_instruction: the system message of ``--system_instruction``; None without one.
        fewshot_seed: the seed with which few-shot examples are drawn; None if unknown.
    """

    task: str
    benchmark_name: str | None
    metrics: Metrics
    config: JsonObject
    samples_path: Path | None = None
    asked: int = 0
    available: int = 0
    system_instruction: str | None = None
    fewshot_seed: int | None = None
    _scores: dict[tuple[str, str], MetricScores] = field(default_factory=dict)

    @cached_property
    def benchmark(self) -> Benchmark[Any] | None:
        """The benchmark of the task, bound to the options of the run; None for a task outside this package."""
        if self.benchmark_name is None:
            return None
        kind = benchmarks()[self.benchmark_name]
        options = kind.options_class.saved(mapping(self.config.get("dataset_kwargs")))
        return kind(options, TaskInfo(self.task, self.config.get("dataset_name")))

    @property
    def facts(self) -> ReportFacts:
        """The benchmark's settings for reports and comparisons; the defaults for a task outside this package."""
        return self.benchmark.report if self.benchmark else ReportFacts()

    @property
    def metadata(self) -> JsonObject:
        """Additional facts about the task, from its configuration."""
        return mapping(self.config.get("metadata"))

    @property
    def source(self) -> str:
        """The source of the rows: ``hub`` (the default), ``sample``, a directory, or the path of an imported run."""
        return str(self.metadata.get("data_source", "hub"))

    @property
    def signatures(self) -> dict[str, str]:
        """The signatures of the task's results by filter; empty if the run has none."""
        return mapping(self.metadata.get("signature"))

    @property
    def parts_of_prompts(self) -> list[Any]:
        """The components of prompts besides rows and options: templates, system message and few-shot examples."""
        templates = ("description", "doc_to_text", "doc_to_choice", "gen_prefix", "fewshot_config")
        parts = [self.config.get(name) for name in (*templates, "target_delimiter", "fewshot_delimiter")]
        shots = self.config.get("num_fewshot")
        return [*parts, self.system_instruction, shots, shots and self.fewshot_seed]

    @cached_property
    def prompt_hashes(self) -> dict[tuple[str, int], str]:
        """lm_eval's hashes of the samples' prompts, chat template included, by key (:func:`content_keys`)."""
        return {key: self.samples[place].prompt_hash for key, place in self.examples.items()}

    def metric(self, name: str) -> Metric:
        """Return a metric of the task by name."""
        return metric_of(name, self.benchmark_name)

    def without_question(self, metric: str) -> Reached | None:
        """Return the best score that a classifier reaches on these rows without seeing the question; None if unknown.

        If all of the Hub's rows were evaluated, a score measured on a part of these or on another release is also used.
        """
        content = self.metadata.get("content", "")
        shortcuts = self.benchmark.data.shortcuts if self.benchmark else None
        is_whole = self.source == "hub" and self.asked == self.available
        whole = (self.task, self.available) if is_whole else None
        return most_reached(shortcuts, content, metric, whole) if shortcuts else None

    @cached_property
    def _log(self) -> SampleLog:
        if self.samples_path is None:
            return SampleLog([], [f"{self.task}: no samples; use --log_samples to save them"])
        return read_samples(self.samples_path)

    @cached_property
    def _codes(self) -> tuple[Codes, Codes]:
        clusters = integer_codes(sample.cluster for sample in self.samples)
        return clusters, integer_codes(sample.stratum or "" for sample in self.samples)

    @cached_property
    def examples(self) -> dict[tuple[str, int], int]:
        """The index of each sample, by its key (:func:`content_keys`)."""
        keys = content_keys([sample.doc for sample in self.samples], self.benchmark)
        return {key: place for place, key in enumerate(keys)}

    @cached_property
    def groups(self) -> dict[str, list[str | None]]:
        """The group of each sample, by breakdown; None for a sample in no group."""
        docs = [sample.doc for sample in self.samples]
        return {breakdown.name: list(map(breakdown.key, docs)) for breakdown in self.facts.breakdowns}

    def metric_scores(self, filter_name: str, metric: str) -> MetricScores:
        """Return the scores of all samples in order; samples for which the metric was not computed have none."""
        key = filter_name, metric
        if key not in self._scores:
            logged_as = self.metric(metric).aggregation.logged_as or metric
            rows = [sample.scores_of(filter_name, logged_as) for sample in self.samples]
            self._scores[key] = MetricScores.of(rows, *self._codes)
        return self._scores[key]

    @property
    def samples(self) -> list[Sample]:
        """The samples, in order; read from disk once, on first use."""
        return self._log.samples

    def with_samples(self, samples: list[Sample]) -> "TaskRun":
        """Return a copy with different samples of the same examples in the same order, for example without texts."""
        task = copy(self)
        task._log = SampleLog(samples, self.problems)
        return task

    @property
    def problems(self) -> list[str]:
        """Problems in the sample log, as sentences; loads the log if necessary."""
        return self._log.problems

    @property
    def remarks(self) -> list[str]:
        """Remarks for readers of the results, such as about a held-out split, and the numbers of rows left out."""
        left_out = self.metadata.get("rows_left_out", {}).items()
        return [*self.metadata.get("remarks", ()), *(f"rows left out: {n} ({reason})" for reason, n in left_out)]

    @property
    def default_filter(self) -> str:
        """The default filter, ``strict-match``.

        For imported responses (without a signature), it is ``flexible-extract`` if ``strict-match`` finds less than a
        tenth as many answers.
        """
        strict, flexible = (self.metrics.get(("answered", name)) for name in (STRICT, FLEXIBLE))
        reads_little = strict and flexible and 10 * strict.value < flexible.value
        return FLEXIBLE if reads_little and not self.signatures else DEFAULT_FILTER

    @property
    def note_on_filter(self) -> list[str]:
        """A sentence on why the default is not ``strict-match``; empty if the default is ``strict-match``."""
        if self.default_filter == DEFAULT_FILTER:
            return []
        strict, flexible = (f"{100 * self.metrics['answered', name].value:.1f} %" for name in (STRICT, FLEXIBLE))
        return [
            f"the scores of {self.task} are those of {FLEXIBLE}, which reads an answer in {flexible} of the "
            f"responses; {STRICT} reads one in {strict}"
        ]

    @property
    def filters(self) -> list[str]:
        """The filters with reported values, in the harness's order; if no values are reported, those of the samples."""
        reported = dict.fromkeys(name for _, name in self.metrics)
        return list(reported or dict.fromkeys(name for sample in self.samples for name in sample.answers))


def content_keys(documents: Sequence[Mapping[str, Any]], benchmark: Benchmark[Any] | None) -> list[tuple[str, int]]:
    """Return a key for each example of a task: a hash, and the number of equal examples before it.

    For a benchmark, the hash ignores known issues, fields used only by the prompt, such as a solved example, and fields
    that the signature ignores, so that an example has the same key in every run.
    """
    left_out = {*benchmark.data.only_in_prompt, *benchmark.data.unsigned, KNOWN_ISSUES} if benchmark else ()
    seen: Counter[str] = Counter()
    keys = []
    for doc in documents:
        example = benchmark.in_data_order(dict(doc)) if benchmark else doc
        text = digest({name: value for name, value in example.items() if name not in left_out}, length=64)
        keys.append((text, seen[text]))
        seen[text] += 1
    return keys


@dataclass
class GroupRun:
    """A group of tasks in a saved run: the names of its tasks, and the values that the harness reported."""

    tasks: list[str]
    metrics: Metrics


@dataclass
class Run:
    """A saved run of the harness.

    Attributes:
        name: a short name, unique among the runs read together.
        model: the model's name as the harness saves it.
        path: the results file, or the folder if there is none.
        date: the date in the file names, such as ``2026-11-21T08-27-59.103191``; empty if they have none.
        results: the content of the results file; empty if it is missing.
        tasks: tasks by name.
        groups: groups by name.
        notes: remarks on the run that are not in its files, such as on parts of it that failed.
        growth: a phrase on the earlier run that this one extends and replaces; empty if there is none.
    """

    name: str
    model: str
    path: Path
    date: str
    results: JsonObject
    tasks: dict[str, TaskRun]
    groups: dict[str, GroupRun]
    notes: list[str] = field(default_factory=list)
    growth: str = ""

    @property
    def files(self) -> dict[str, Path]:
        """The sample logs by task, and the results file, if there is one, under an empty name."""
        logs = {name: task.samples_path for name, task in self.tasks.items() if task.samples_path}
        return {**logs, "": self.path} if self.path.is_file() else logs

    def tasks_of(self, name: str) -> list[TaskRun]:
        """Return the task of this name or, for a group, those of its tasks that the run has; empty for other names."""
        names = self.groups[name].tasks if name in self.groups else [name]
        return [self.tasks[task] for task in names if task in self.tasks]

    def setting(self, name: str) -> Any:
        """Return a setting of the run, such as ``limit``; None if it is unknown."""
        return mapping(self.results.get("config")).get(name)

    def spent(self, name: str) -> Counter[str]:
        """Return the run's ``tokens`` by kind or, for a job of a sweep, its ``cost``; empty if unknown."""
        return Counter(mapping(self.results.get("medtasks")).get(name))

    def seconds(self, name: str) -> float:
        """Return a time or duration of the results in seconds; 0 if unknown.

        ``name`` is its key in the results file, where the harness may write the number as text.
        """
        return float(self.results.get(name) or 0)

    @property
    def problems(self) -> list[str]:
        """The run's notes, unusable benchmarks and a missing results file, as sentences; empty if there is none.

        Problems in sample logs are in :attr:`TaskRun.problems`.
        """
        named = {task.metadata.get("benchmark") for task in self.tasks.values()}
        unusable = filter(None, map(benchmarks().problem, filter(named.__contains__, benchmarks())))
        missing = f"{self.path}: the samples have no results file (date: {self.date or 'none'})"
        return [*self.notes, *unusable, *([] if self.results else [missing])]

    @property
    def has_scores(self) -> bool:
        """True unless the run has no task, or only the metric ``bypass``, as with ``--predict_only``."""
        metrics = {metric for task in self.tasks.values() for metric, _ in task.metrics}
        return bool(self.tasks) and metrics != {"bypass"}
