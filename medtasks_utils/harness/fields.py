"""The harness's fields in a variant, and our readings as a filter: ``function: medtasks_read`` with ``reading``.

What a task of this pack cannot take is one line before the model runs.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from medtasks_utils.benchmarks.base import Answer, Benchmark, TaskInfo
from medtasks_utils.errors import DataError
from medtasks_utils.filters import FLEXIBLE, STRICT

from .lm_eval_names import (
    METRIC_REGISTRY,
    Filter,
    FilterEnsemble,
    MajorityVoteFilter,
    TakeKFilter,
    register_filter,
)
from .signature import digest

READINGS = {STRICT: "strict", FLEXIBLE: "flexible"}
"""By filter."""

_FROM_DATA = "its rows come from medtasks_data; process_docs changes them"
_WITHOUT_USE = {
    "custom_dataset": _FROM_DATA,
    "dataset_path": _FROM_DATA,
    "use_prompt": "write the prompt as doc_to_text",
    "doc_to_image": "its benchmarks are text",
    "doc_to_audio": "its benchmarks are text",
}
_OUTPUT_TYPES = ("generate_until", "multiple_choice")


@register_filter("medtasks_read")
class ReadFilter(Filter):  # type: ignore[misc]
    """What a response answers, by the benchmark's published rule or by our best reading.

    Args:
        reading: ``strict`` or ``flexible``.
        read: put there by the task (:class:`medtasks_utils.harness.task.MedTask`), which knows benchmark and options.
    """

    def __init__(self, reading: str = "", read: Any = None) -> None:
        if reading not in READINGS.values():
            raise DataError(f"filter_list: medtasks_read takes reading: strict or flexible, not {reading!r}")
        self._read = partial(read, reading)

    def apply(self, resps: Iterable[Sequence[str]], docs: Sequence[dict[str, Any]]) -> list[list[Answer]]:
        """The answers to each document's responses."""
        pairs = zip(resps, docs, strict=True)
        return [[self._read(response, doc) for response in responses] for responses, doc in pairs]


def check_fields(task: TaskInfo, settings: Mapping[str, Any]) -> None:
    """Refuse the fields that would be of no effect.

    Raises:
        DataError: naming the field and what to do instead.
    """
    for field, instead in _WITHOUT_USE.items():
        if settings.get(field):
            raise DataError(f"{task.name}: a task of this pack takes no {field}: {instead}")
    kind = settings.get("output_type")
    if kind not in _OUTPUT_TYPES:
        raise DataError(f"{task.name}: output_type is {kind!r}; a task of this pack takes {' or '.join(_OUTPUT_TYPES)}")


def check_metrics(task: TaskInfo, benchmark: Benchmark, entries: Sequence[Mapping[str, Any]]) -> None:
    """Refuse entries of ``metric_list`` that nobody knows; ``entries`` are those that are not the benchmark's.

    Raises:
        DataError: naming one and what there is.
    """
    for entry in entries:
        name = entry["metric"]
        if not (callable(name) or entry.get("hf_evaluate") or name in METRIC_REGISTRY):
            raise DataError(
                f"{task.name}: metric_list names {name}, which is neither a metric of {benchmark.name} "
                f"({', '.join(metric.name for metric in benchmark.metrics)}) nor one of the harness; for one of your "
                "own, give process_results too"
            )


def bind_filters(task: TaskInfo, repeats: int, ensemble: FilterEnsemble, read: Callable[..., Answer]) -> None:
    """Give our readings what they need, and make each filter once: what is wrong with one shows now, not after the run.

    ``read`` gives the answer, given ``strict`` or ``flexible``, a response and its document.

    Raises:
        DataError: for filters that cannot do what they are for in this task.
    """
    ensemble.filters = [partial(one, read=read) if one.func is ReadFilter else one for one in ensemble.filters]
    for one in ensemble.filters:
        one()
        if one.func is ReadFilter and not task.generates:
            raise DataError(
                f"{task.name}: filter_list: medtasks_read reads generated text, and output_type multiple_choice has "
                "none: set filter_list to null"
            )
        if one.func in (MajorityVoteFilter, TakeKFilter) and repeats > 1:
            raise DataError(
                f"{task.name}: filter_list: {ensemble.name} takes several generations together, and with repeats each "
                "is read and scored by itself, with maj@k and its like beside; leave that filter out"
            )


def filters_as_signed(config: Any, names: Sequence[str]) -> dict[str, str]:
    """The filters by name as signatures show them: our two by their names, others with a hash of what they do."""
    chains = {entry["name"]: entry["filter"] for entry in config.filter_list or ()}
    shown = {}
    for name in names:
        ours = [{"function": "medtasks_read", "reading": READINGS.get(name)}, {"function": "take_first"}]
        shown[name] = name if chains.get(name, ours) == ours else f"{name}#{digest(chains[name])}"
    return shown
