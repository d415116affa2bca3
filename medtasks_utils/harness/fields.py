"""Check lm_eval's fields in a variant, and provide the filter ``function: medtasks_read`` with its ``reading``.

A field that a task of this pack does not support is a one-line error before the model runs.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from medtasks_utils.benchmarks.base import Answer, Benchmark, TaskInfo
from medtasks_utils.errors import DataError, did_you_mean
from medtasks_utils.filters import FLEXIBLE, STRICT
from medtasks_utils.statistics.metrics import Metric

from .catalog import configurations, our_manager
from .lm_eval_names import (
    METRIC_REGISTRY,
    Filter,
    FilterEnsemble,
    MajorityVoteFilter,
    TakeKFilter,
    filter_registry,
    get_filter,
    register_filter,
)
from .signature import digest

READINGS = {STRICT: "strict", FLEXIBLE: "flexible"}
"""The reading of each filter."""

_FROM_DATA = "the rows come from medtasks_data, and process_docs can change them"
_UNSUPPORTED = {
    "custom_dataset": _FROM_DATA,
    "dataset_path": _FROM_DATA,
    "use_prompt": "write the prompt as doc_to_text",
    "doc_to_image": "the benchmarks are text only",
    "doc_to_audio": "the benchmarks are text only",
}
_OUTPUT_TYPES = ("generate_until", "multiple_choice")


_PASS_ON = tuple(
    map(get_filter, ("take_first", "take_first_k", "majority_vote", "lowercase", "uppercase", "remove_whitespace"))
)
"""Filters that find no answer: what passes through them alone is a whole response, for the strict reader."""


@register_filter("medtasks_read")
class ReadFilter(Filter):  # type: ignore[misc]
    """Reads the answer in a response.

    Args:
        reading: ``strict``, by the benchmark's published rule, or ``flexible``, wherever the answer stands.
        read: returns the answer, given the reading, a response and its document; set by
            :class:`medtasks_utils.harness.task.MedTask`, which knows the benchmark and the options.
    """

    def __init__(self, reading: str = "", read: Any = None) -> None:
        if reading not in READINGS.values():
            raise DataError(f"filter_list: medtasks_read takes reading: strict or flexible, not {reading!r}")
        self._read = partial(read, reading)

    def apply(self, resps: Iterable[Sequence[str]], docs: Sequence[dict[str, Any]]) -> list[list[Answer]]:
        """Return the answers in each document's responses."""
        answers = []
        for responses, doc in zip(resps, docs, strict=True):
            answers.append([self._read(response, doc) for response in responses])
        return answers


def check_fields(task: TaskInfo, settings: Mapping[str, Any]) -> None:
    """Refuse the fields that would have no effect.

    Raises:
        DataError: if there is one; the message names it and what to do instead.
    """
    for chain in settings.get("filter_list") or ():
        for step in chain["filter"]:
            if step["function"] not in filter_registry:
                suggestion = did_you_mean(str(step["function"]), filter_registry)
                raise DataError(f"{task.name}: filter_list: there is no filter {step['function']!r}{suggestion}")
    for field, instead in _UNSUPPORTED.items():
        if settings.get(field):
            raise DataError(f"{task.name}: the tasks of this pack do not support {field}: {instead}")
    kind = settings.get("output_type")
    if kind not in _OUTPUT_TYPES:
        raise DataError(f"{task.name}: output_type is {kind!r}; this pack supports {' and '.join(_OUTPUT_TYPES)}")


def with_our_fields(task: TaskInfo, benchmark: Benchmark, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return a variant's fields, with the benchmark's generation settings where the variant gives only some.

    ``do_sample`` and ``temperature`` belong together: who sets one of them gets neither of ours.

    Raises:
        DataError: for a ``doc_to_target`` other than the benchmark's, against which our metrics do not score.
    """
    if not task.generates:
        return {**settings}
    ours = next(configurations(our_manager(), [benchmark.default_task]))
    metrics = settings.get("metric_list")
    names = {metric.name for metric in benchmark.metrics}
    uses_ours = metrics is None or any(entry["metric"] in names and "aggregation" not in entry for entry in metrics)
    if uses_ours and settings.get("doc_to_target") != ours.get("doc_to_target"):
        raise DataError(
            f"{task.name}: doc_to_target cannot change what the metrics of {benchmark.name} score against: change "
            f"{benchmark.truth} in the rows by process_docs, or list only other metrics in metric_list"
        )
    given, default = settings.get("generation_kwargs") or {}, {**ours.get("generation_kwargs", {})}
    if {"do_sample", "temperature"} & given.keys():
        default = {name: value for name, value in default.items() if name not in ("do_sample", "temperature")}
    return {**settings, "generation_kwargs": {**default, **given}}


def check_our_metrics(task: TaskInfo, ours: Sequence[Metric], entries: Sequence[Mapping[str, Any]]) -> None:
    """Refuse what an entry of ``metric_list`` says of a metric of ours and cannot change.

    Args:
        task: the task.
        ours: the metrics that the task reports.
        entries: the entries for metrics of this pack.

    Raises:
        DataError: for a metric that the task does not report, or another aggregation or direction.
    """
    known = {metric.name: metric for metric in ours}
    for entry in entries:
        metric = known.get(entry["metric"])
        if metric is None:
            raise DataError(
                f"{task.name}: metric_list names {entry['metric']}, which needs other options; with these, the task "
                f"reports {', '.join(known)}"
            )
        facts = {
            "metric": metric.name,
            "aggregation": metric.aggregation.name,
            "higher_is_better": metric.higher_is_better,
        }
        for field, value in entry.items():
            if facts.get(field) != value:
                raise DataError(
                    f"{task.name}: metric_list: {field} of {metric.name} is {facts.get(field)} and cannot be {value}: "
                    "leave it out, or define a metric of your own with process_results"
                )


def check_metrics(task: TaskInfo, benchmark: Benchmark, entries: Sequence[Mapping[str, Any]]) -> None:
    """Refuse unknown metrics in ``metric_list``.

    Args:
        task: the task.
        benchmark: its benchmark.
        entries: the entries for metrics that are not the benchmark's.

    Raises:
        DataError: for the first unknown one; the message lists the benchmark's.
    """
    for entry in entries:
        name = entry["metric"]
        if not (callable(name) or entry.get("hf_evaluate") or name in METRIC_REGISTRY):
            raise DataError(
                f"{task.name}: metric_list names {name}, which is neither a metric of {benchmark.name} "
                f"({', '.join(metric.name for metric in benchmark.metrics)}) nor one of lm_eval; to define your own, "
                "give process_results too"
            )


def bind_filters(task: TaskInfo, repeats: int, ensemble: FilterEnsemble, read: Callable[..., Answer]) -> None:
    """Give our filters their reader, and make each filter once, so that a mistake shows before the run.

    Args:
        task: the task.
        repeats: generations per example.
        ensemble: the filters under one name.
        read: returns the answer, given ``strict`` or ``flexible``, a response and its document.

    Raises:
        DataError: for a filter that cannot work in this task.
    """
    kinds = [make_filter.func for make_filter in ensemble.filters]
    if task.generates and all(kind in _PASS_ON for kind in kinds):
        ensemble.filters = [partial(ReadFilter, reading="strict"), *ensemble.filters]
    bound = []
    for make_filter in ensemble.filters:
        kind = make_filter.func
        if kind is ReadFilter:
            make_filter = partial(make_filter, read=read)
        make_filter()
        if kind is ReadFilter and not task.generates:
            raise DataError(
                f"{task.name}: filter_list: medtasks_read reads generated text, but with output_type multiple_choice "
                "the model generates none: set filter_list to null"
            )
        if kind in (MajorityVoteFilter, TakeKFilter) and repeats > 1:
            raise DataError(
                f"{task.name}: filter_list: {ensemble.name} combines several generations, but with repeats each "
                "generation is scored by itself and maj@k is reported too: leave that filter out"
            )
        bound.append(make_filter)
    ensemble.filters = bound


def filters_as_signed(config: Any, names: Sequence[str]) -> dict[str, str]:
    """Return how signatures show filters, by name: ours by name only, others with a hash of their definition."""
    chains = {entry["name"]: entry["filter"] for entry in config.filter_list or ()}
    signed = {}
    for name in names:
        ours = [{"function": "medtasks_read", "reading": READINGS.get(name)}, {"function": "take_first"}]
        signed[name] = name if chains.get(name, ours) == ours else f"{name}#{digest(chains[name])}"
    return signed
