"""``medtasks publish``: a run's results in the Hub's ``.eval_results/*.yaml`` form, one file a data set.

The form is that of https://huggingface.co/docs/hub/eval-results, written here so that any release of the Hub's client
will do; a test reads it with ``huggingface_hub.EvalResultEntry``, which releases from 1.4 on have. The value is what
the benchmark is reported by: the first metric of its card, under its published rule (``strict-match``), shares in per
cent. The notes name metric, filter, tools and signature.
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import yaml

from medtasks_utils.benchmarks.options import tools_in
from medtasks_utils.errors import MedtasksError
from medtasks_utils.filters import DEFAULT_FILTER
from medtasks_utils.harness.signature import NOTHING, parse
from medtasks_utils.results import Run, TaskRun
from medtasks_utils.statistics.metrics import Metric

from .units import Result, arrange

_PUBLISHED_FILTERS = (DEFAULT_FILTER, "none")  # none: of tasks that score log-likelihoods


class Headline(NamedTuple):
    """A task, or a group of tasks of one benchmark, with the number that stands for it, in the metric's own unit."""

    name: str
    result: Result
    metric: Metric
    filter: str
    value: float


def contents(run: Run, allow_partial: bool = False) -> dict[str, str]:
    """The files of a run by path in the model's repository.

    ``allow_partial`` publishes results of a part of the rows too, and of files of one's own.

    Raises:
        MedtasksError: where there is nothing to publish, or only parts without ``allow_partial``.
    """
    by_data_set: dict[str, list[dict[str, Any]]] = defaultdict(list)
    held_back = []
    for own in _headlines(run):
        is_sample = "sample" in map(_source, own.result.tasks)
        reasons = ["the rows are the bundled sample"] if is_sample else list(dict.fromkeys(_what_is_partial(run, own)))
        if is_sample or (reasons and not allow_partial):
            held_back.append(f"{own.name}: {'; '.join(reasons)}")
        else:
            by_data_set[str(own.result.tasks[0].config.get("dataset_path"))].append(_entry(run, own))
    if not by_data_set:
        why = "; ".join(held_back) or "it has no task of this pack with a results file"
        raise MedtasksError(
            f"{run.path}: nothing to publish: {why} (--allow_partial publishes parts, but never the bundled sample)"
        )
    return {
        f".eval_results/{data_set.rpartition('/')[2].lower()}.yaml": yaml.safe_dump(
            entries, sort_keys=False, allow_unicode=True
        )
        for data_set, entries in by_data_set.items()
    }


def _headlines(run: Run) -> Iterator[Headline]:
    """Of groups of one benchmark, and of the tasks that are in none."""
    for unit in arrange([run]):
        result, metrics = unit.results[run.name], unit.card.metrics if unit.card else ()
        for metric, filter_name in product(metrics, _PUBLISHED_FILTERS):
            if (metric.name, filter_name) in result.metrics:
                yield Headline(unit.name, result, metric, filter_name, result.metrics[metric.name, filter_name].value)
                break


def _what_is_partial(run: Run, own: Headline) -> Iterator[str]:
    """Why a number does not stand for the whole benchmark."""
    limit = run.setting("limit")
    if limit is not None:
        yield f"--limit {limit:g}"
    for task in own.result.tasks:
        if _source(task) != "hub":
            yield "the rows are files of one's own"
        count = run.counts.get(task.task, {})
        if limit is None and count.get("effective") != count.get("original"):
            yield f"{count.get('effective')} of {count.get('original')} examples"
        chosen = parse(task.signatures.get(own.filter, "")).get("select", NOTHING)
        if chosen != NOTHING:
            yield f"a part of the rows ({chosen})"


def _source(task: TaskRun) -> str:
    return str(task.config.get("metadata", {}).get("data_source", "hub"))


def _entry(run: Run, own: Headline) -> dict[str, Any]:
    tasks = own.result.tasks
    config, card = tasks[0].config, tasks[0].card
    options, named = config.get("dataset_kwargs") or {}, config.get("dataset_path")
    dataset = {"id": str(named), "task_id": own.name}
    is_of_hub = {_source(task) for task in tasks} == {"hub"}
    pinned = {known.name: known.revision for known in (card.repositories.values() if card else ())}
    revision = options.get("revision") or pinned.get(str(named))
    if is_of_hub and revision:
        dataset["revision"] = revision
    tools = tools_in(options)
    notes = [
        f"{own.metric.name}{' in per cent' if own.metric.unit == 'share' else ''}, {own.filter}",
        f"tools: {' and '.join(tools)}" if tools else "no tools",
        *(() if is_of_hub else ("rows of files of one's own, of no known revision",)),
        *(f"signature {signature}" for signature in own.result.signatures(own.filter)),
    ]
    day, _, time = run.date.partition("T")  # 2026-11-21T08-27-59.103191
    date = {"date": f"{day}T{time[:8].replace('-', ':')}"} if time else {}
    return {
        "dataset": dataset,
        "value": round(own.value * own.metric.scale, 4),
        **date,
        "notes": "; ".join(notes),
    }
