"""Check the YAML fields of a task variant, and register the filter ``medtasks_read``.

An unsupported field raises a one-line error before the model runs.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel, StrictInt, ValidationError

from medtasks_utils.benchmarks.answers import Answer
from medtasks_utils.benchmarks.base import Benchmark
from medtasks_utils.benchmarks.facts import TaskInfo
from medtasks_utils.benchmarks.registered import AnyBenchmark
from medtasks_utils.benchmarks.yaml_tasks import place_of, tasks_named
from medtasks_utils.errors import DataError, did_you_mean, in_words
from medtasks_utils.filters import FLEXIBLE, STRICT
from medtasks_utils.statistics.metrics import ADDED_METRICS, CONFIDENCE_METRICS, REPLY_METRICS, Metric, repeat_metrics
from medtasks_utils.writing import JsonObject, Settings, digest

from .confidences import WAY_TO_ONE, confidence_metrics
from .lm_eval_names import (
    AGGREGATION_REGISTRY,
    METRIC_REGISTRY,
    FewshotConfig,
    Filter,
    FilterEnsemble,
    MajorityVoteFilter,
    TakeKFilter,
    TaskConfig,
    filter_registry,
    get_filter,
    register_filter,
)
from .settings import mistakes_in_generation

READINGS = {STRICT: "strict", FLEXIBLE: "flexible"}
"""The argument ``reading`` of each of our filters, by the filter's name."""

OURS = ("class", "benchmark", "tools_description")
"""YAML keys unknown to lm_eval; ``tools_description`` is appended to the description of a task with tools."""

_STRUCTURE = ("include", "group", "task_list")
_FROM_DATA = "the rows come from medtasks_data, and process_docs can change them"
_NO_EFFECT = "lm_eval ignores it"
_UNSUPPORTED = {
    "custom_dataset": _FROM_DATA,
    "dataset_path": _FROM_DATA,
    "use_prompt": "write the prompt as doc_to_text",
    "doc_to_image": "the benchmarks are text only",
    "doc_to_audio": "the benchmarks are text only",
    "should_decontaminate": _NO_EFFECT,
    "doc_to_decontamination_query": _NO_EFFECT,
}
_OUTPUT_TYPES = ("generate_until", "multiple_choice")


class _Step(BaseModel):
    function: str


class _FilterChain(BaseModel):
    filter: list[_Step]


class _Entry(BaseModel):
    metric: Any


class _Typed(BaseModel):
    """The types of YAML fields that must be lists, mappings or integers."""

    filter_list: list[_FilterChain] | None = None
    metric_list: list[_Entry] | None = None
    generation_kwargs: JsonObject | None = None
    dataset_kwargs: JsonObject | None = None
    fewshot_config: JsonObject | None = None
    num_fewshot: StrictInt | None = None


_PASS_ON = tuple(
    map(get_filter, ("take_first", "take_first_k", "majority_vote", "lowercase", "uppercase", "remove_whitespace"))
)
"""Filters that do not extract an answer. If a task has only these, the strict reading is inserted before them."""


@register_filter("medtasks_read")
class ReadFilter(Filter):  # type: ignore[misc]
    """The filter that reads the answer in a response.

    Args:
        reading: ``strict`` (the benchmark's published rule) or ``flexible`` (an answer anywhere in the response).
        read: a function that returns the answer, given ``strict`` or ``flexible``, a response and its document. It is
            set by :class:`medtasks_utils.harness.task.MedTask`, which knows the benchmark and the options.
    """

    def __init__(self, reading: str = "", read: Any = None) -> None:
        if reading not in READINGS.values():
            raise DataError(f"filter_list: medtasks_read: reading must be strict or flexible, not {reading!r}")
        self._read = partial(read, reading)

    def apply(self, resps: Iterable[Sequence[str]], docs: Sequence[JsonObject]) -> list[list[Answer]]:
        """Return the answer in each response of each document."""
        answers = []
        for responses, doc in zip(resps, docs, strict=True):
            answers.append([self._read(response, doc) for response in responses])
        return answers


def field_error(task: TaskInfo, settings: Settings, field: str, problem: str) -> DataError:
    """Return an error about a YAML field of a task; its message names the file and line, if the file is known."""
    file = Path(str((settings.get("metadata") or {}).get("config_source")))
    place = f" ({place_of(file, field)})" if file.is_file() else ""
    return DataError(f"{task.name}: {field}: {problem}{place}")


def checked_fields(task: TaskInfo, benchmark: AnyBenchmark, settings: Settings) -> JsonObject:
    """Check a variant's YAML fields, and return them with missing generation settings filled in from the main task.

    Only tasks that generate text have generation settings. ``do_sample`` and ``temperature`` belong together: if the
    variant sets one of them, neither is filled in.

    Args:
        task: the task.
        benchmark: its benchmark.
        settings: the fields of the variant's YAML; ``metadata["config_source"]`` is the file.

    Raises:
        DataError: for a field that does not exist, has the wrong type or would have no effect; the message names the
            field, its line, and the remedy.
    """
    ours = tasks_named(benchmark.tasks.default)[0]
    for field, problem in _problems(task, benchmark, settings, ours):
        raise field_error(task, settings, field, problem)
    if not task.generates:
        return {**settings}
    generation, default = settings.get("generation_kwargs") or {}, {**ours.get("generation_kwargs", {})}
    if {"do_sample", "temperature"} & generation.keys():
        default = {name: value for name, value in default.items() if name not in ("do_sample", "temperature")}
    return {**settings, "generation_kwargs": {**default, **generation}}


def _problems(task: TaskInfo, benchmark: AnyBenchmark, settings: Settings, ours: Settings) -> Iterator[tuple[str, str]]:
    """Yield the name of each YAML field that is unknown, malformed, unsupported or without effect, and a message.

    Args:
        task: the task.
        benchmark: the benchmark of the task.
        settings: the fields of the task's YAML.
        ours: the fields of the benchmark's own task.
    """
    try:
        _Typed.model_validate(settings)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        yield str(first["loc"][0]), f"{in_words(first)} at {place}, not {first['input']!r}"
    mistakes = mistakes_in_generation(settings.get("generation_kwargs") or {})
    yield from (("generation_kwargs", mistake) for mistake in mistakes)
    fields = [*TaskConfig.__dataclass_fields__, *OURS, *_STRUCTURE]
    of_config = [*FewshotConfig.__dataclass_fields__]
    stated = [(name, name, fields) for name in settings]
    stated += [("fewshot_config", name, of_config) for name in settings.get("fewshot_config") or ()]
    for field, name, known in stated:
        if name not in known:
            yield field, f"there is no field {name}{did_you_mean(name, known)}; the fields are {', '.join(known)}"
    for problem in _problems_of_filters(settings.get("filter_list") or ()):
        yield "filter_list", problem
    for field, instead in _UNSUPPORTED.items():
        if settings.get(field):
            yield field, f"the tasks of this package do not support it: {instead}"
    kind = settings.get("output_type")
    if kind not in _OUTPUT_TYPES:
        yield "output_type", f"{kind!r} is not supported; use {' or '.join(_OUTPUT_TYPES)}"
    if settings.get("dataset_name") and not ours.get("dataset_name"):
        yield "dataset_name", f"{benchmark.name} has no subsets: omit it"
    if settings.get("test_split") and settings.get("validation_split") != ours.get("validation_split"):
        yield "validation_split", "it has no effect, since test_split is evaluated: set test_split instead"
    metrics = settings.get("metric_list")
    names = {metric.name for metric in benchmark.metrics}
    uses_ours = metrics is None or any(entry["metric"] in names and "aggregation" not in entry for entry in metrics)
    if task.generates and uses_ours and settings.get("doc_to_target") != ours.get("doc_to_target"):
        problem = (
            f"the metrics of {benchmark.name} do not use it: change the field {benchmark.data.truth} of the rows in "
            "process_docs, or list only other metrics in metric_list"
        )
        yield "doc_to_target", problem


def _problems_of_filters(chains: Sequence[JsonObject]) -> Iterator[str]:
    """Yield a message for each duplicate filter name, and for each step that names an unknown filter."""
    for name, count in Counter(chain.get("name") for chain in chains).items():
        if count > 1:
            yield f"{count} filters are named {name!r}, and only one would be used: give each a different name"
    for chain in chains:
        for step in chain["filter"]:
            name = step["function"]
            if name not in filter_registry:
                known = sorted(filter_registry)
                suggestion = did_you_mean(str(name), known)
                yield f"there is no filter {name!r}{suggestion}; the filters are {', '.join(known)}"


def metrics_of(benchmark: Benchmark[Any], settings: Settings) -> tuple[list[Metric], list[Settings]]:
    """Return the benchmark's metrics that a task reports, and the entries of ``metric_list`` for other metrics.

    Without ``metric_list``, the task reports all metrics that the benchmark has with its options.

    Raises:
        DataError: for an unknown or unreported metric, and if ``metric_list`` changes the aggregation or direction
            of one of the benchmark's metrics.
    """
    task = benchmark.task
    metrics = benchmark.reported()
    metrics += REPLY_METRICS if task.generates else ()
    metrics += (*repeat_metrics(benchmark.options.repeats), *confidence_metrics(benchmark))
    entries = settings.get("metric_list")
    if entries is None:
        return metrics, []
    defines_metrics = callable(settings.get("process_results"))
    ours = {metric.name for metric in (*benchmark.metrics, *ADDED_METRICS)}
    reported = {metric.name: metric for metric in metrics}
    chosen, others = [], []
    for entry in entries:
        name = entry["metric"]
        problem = ""
        if name in reported and not (defines_metrics and "aggregation" in entry):
            metric = reported[name]
            facts = {"aggregation": metric.aggregation.name, "higher_is_better": metric.higher_is_better}
            chosen.append(metric)
            if not entry.items() <= {"metric": name, **facts}.items():
                problem = f"{name} has {facts}: omit other settings, or define your own metric with process_results"
        elif defines_metrics or callable(name) or entry.get("hf_evaluate") or name in METRIC_REGISTRY.keys() - ours:
            others.append(entry)
            aggregation, known = entry.get("aggregation"), AGGREGATION_REGISTRY.keys()
            if not callable(aggregation) and aggregation not in known and (aggregation or name not in METRIC_REGISTRY):
                problem = f"{name} needs an aggregation, one of {', '.join(known)} or a function, not {aggregation!r}"
        elif name in [metric.name for metric in CONFIDENCE_METRICS]:
            problem = f"{name} {WAY_TO_ONE}"
        else:
            problem = (
                f"{name} is neither a metric that this task reports with these options ({', '.join(reported)}) nor one "
                "of lm_eval's; to define a metric of your own, set process_results too"
            )
        if problem:
            raise field_error(task, settings, "metric_list", problem)
    return chosen, others


def bind_filters(benchmark: Benchmark[Any], ensemble: FilterEnsemble, read: Callable[..., Answer]) -> None:
    """Bind our filters to the function that reads answers, and build each filter once to detect errors before the run.

    If no filter extracts an answer from generated text, the strict reading is inserted before the other filters.
    ``read`` takes ``strict`` or ``flexible``, a response and its document.

    Raises:
        DataError: for a filter that cannot work in this task.
    """
    task = benchmark.task
    if task.generates and all(make_filter.func in _PASS_ON for make_filter in ensemble.filters):
        ensemble.filters = [partial(ReadFilter, reading="strict"), *ensemble.filters]
    ensemble.filters = [
        partial(make_filter, read=read) if make_filter.func is ReadFilter else make_filter
        for make_filter in ensemble.filters
    ]
    for make_filter in ensemble.filters:
        make_filter()
        if make_filter.func is ReadFilter and not task.generates:
            raise DataError(
                f"{task.name}: filter_list: medtasks_read reads generated text, but with output_type multiple_choice "
                "the model generates none; set filter_list to null"
            )
        if make_filter.func in (MajorityVoteFilter, TakeKFilter) and benchmark.options.repeats > 1:
            raise DataError(
                f"{task.name}: filter_list: {ensemble.name} combines several generations, but with repeats each "
                "generation is scored separately, and maj@k is reported too; remove this filter"
            )


def readings_of(ensembles: Iterable[FilterEnsemble]) -> set[str]:
    """Return the readings, ``strict`` or ``flexible``, that bound filters use."""
    steps = [make_filter for ensemble in ensembles for make_filter in ensemble.filters]
    return {make_filter.keywords["reading"] for make_filter in steps if make_filter.func is ReadFilter}


def filters_as_signed(config: Any, names: Sequence[str]) -> dict[str, str]:
    """Return each filter's entry in signatures: its name and, for filters that are not ours, a hash of its steps."""
    chains = {entry["name"]: entry["filter"] for entry in config.filter_list or ()}
    signed = {}
    for name in names:
        ours = [{"function": "medtasks_read", "reading": READINGS.get(name)}, {"function": "take_first"}]
        signed[name] = name if chains.get(name, ours) == ours else f"{name}#{digest(chains[name])}"
    return signed
