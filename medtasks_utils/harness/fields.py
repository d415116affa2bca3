"""The harness's fields in a variant: what a task of this pack cannot take is one line before the model runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval.api.filter import FilterEnsemble
from lm_eval.api.registry import METRIC_REGISTRY, get_filter

from medtasks_utils.benchmarks.base import Benchmark, TaskInfo
from medtasks_utils.errors import DataError
from medtasks_utils.harness.filters import ReadFilter
from medtasks_utils.harness.signature import digest

_WITHOUT_USE = {
    "custom_dataset": "its rows come from medtasks_data; process_docs changes them",
    "dataset_path": "its rows come from medtasks_data; process_docs changes them",
    "use_prompt": "write the prompt as doc_to_text",
    "doc_to_image": "its benchmarks are text",
    "doc_to_audio": "its benchmarks are text",
}
_OUTPUT_TYPES = ("generate_until", "multiple_choice")
_OVER_GENERATIONS = ("majority_vote", "take_first_k")
_OUR_CHAINS = {
    name: [{"function": "medtasks_read", "reading": reading}, {"function": "take_first"}]
    for name, reading in (("strict-match", "strict"), ("flexible-extract", "flexible"))
}


def check_fields(task: TaskInfo, settings: Mapping[str, Any]) -> None:
    """Refuse the fields that would be of no effect.

    Raises:
        DataError: naming the field and what to do instead.
    """
    for field, instead in _WITHOUT_USE.items():
        if settings.get(field):
            raise DataError(f"{task.name}: a task of this pack takes no {field}: {instead}")
    if settings.get("output_type") not in _OUTPUT_TYPES:
        raise DataError(
            f"{task.name}: output_type is {settings.get('output_type')!r}; a task of this pack takes "
            f"{' or '.join(_OUTPUT_TYPES)}"
        )


def check_metrics(task: TaskInfo, benchmark: Benchmark, entries: Sequence[Mapping[str, Any]]) -> None:
    """Refuse entries of ``metric_list`` that nobody knows; ``entries`` are those that are not the benchmark's.

    Raises:
        DataError: naming them and what there is.
    """
    unknown = [
        str(entry["metric"])
        for entry in entries
        if not (callable(entry["metric"]) or entry.get("hf_evaluate") or entry["metric"] in METRIC_REGISTRY)
    ]
    if unknown:
        raise DataError(
            f"{task.name}: metric_list names {', '.join(unknown)}, which is neither a metric of {benchmark.name} "
            f"({', '.join(metric.name for metric in benchmark.metrics)}) nor one of the harness; for one of your own, "
            "give process_results too"
        )


def check_filters(task: TaskInfo, repeats: int, ensemble: FilterEnsemble) -> None:
    """Make each filter once, so that whatever is wrong with it shows now, and not after the model ran.

    Raises:
        DataError: for filters that cannot do what they are for in this task.
    """
    several = [get_filter(name) for name in _OVER_GENERATIONS]
    for one in ensemble.filters:
        one()
        if one.func is ReadFilter and not task.generates:
            raise DataError(
                f"{task.name}: filter_list: medtasks_read reads generated text, and output_type multiple_choice has "
                "none: set filter_list to null"
            )
        if one.func in several and repeats > 1:
            raise DataError(
                f"{task.name}: filter_list: {ensemble.name} takes several generations together, and with repeats each "
                "is read and scored by itself, with maj@k and its like beside; leave that filter out"
            )


def filters_as_signed(config: Any, names: Sequence[str]) -> dict[str, str]:
    """The filters by name as signatures show them: our two by their names, others with a hash of what they do."""
    chains = {entry["name"]: entry["filter"] for entry in config.filter_list or ()}
    return {
        name: name if chains.get(name) == _OUR_CHAINS.get(name) else f"{name}#{digest(chains.get(name))}"
        for name in names
    }
