"""Write a run's results in the Hub's ``.eval_results/*.yaml`` format, one file per data set: ``medtasks publish``.

The format is described at https://huggingface.co/docs/hub/eval-results. The Hub's client is not needed to write it, so
any release of the client works; a test reads it with ``huggingface_hub.EvalResultEntry``, which exists since 1.4. The
value is the benchmark's first reported metric under its published rule (``strict-match`` or, for log-likelihoods,
``none``), with shares in per cent. The notes state the metric, the filter, the tools and the signature.
"""

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from itertools import product
from typing import NamedTuple

import yaml

from medtasks_utils.benchmarks.options import tools_in
from medtasks_utils.errors import MedtasksError
from medtasks_utils.filters import DEFAULT_FILTER
from medtasks_utils.harness.signature import NO_VALUE, parse
from medtasks_utils.results import Run
from medtasks_utils.statistics.metrics import Metric
from medtasks_utils.writing import JsonObject

from .topics import RunResult, topics_of

_IS_SAMPLE = "the rows are the bundled sample"
_PUBLISHED_FILTERS = (DEFAULT_FILTER, "none")  # tasks that score log-likelihoods have the filter "none"


class Headline(NamedTuple):
    """The published metric of a task, or of a group of tasks of one benchmark."""

    name: str
    result: RunResult
    metric: Metric
    filter: str


def contents(run: Run, allow_partial: bool) -> dict[str, str]:
    """Return the contents of a run's files by path in the model's repository.

    ``allow_partial`` and errors are those of :func:`publishable`.
    """
    by_data_set: dict[str, list[JsonObject]] = defaultdict(list)
    for headline in publishable(run, allow_partial):
        entry = _entry(run, headline)
        by_data_set[entry["dataset"]["id"]].append(entry)
    return {
        f".eval_results/{data_set.rpartition('/')[2].lower()}.yaml": yaml.safe_dump(
            entries, sort_keys=False, allow_unicode=True
        )
        for data_set, entries in by_data_set.items()
    }


def publishable(run: Run, allow_partial: bool) -> list[Headline]:
    """Return the headline values of a run that may be published.

    With ``allow_partial``, these include results on a part of the rows and on local files, but never on the bundled
    sample.

    Raises:
        MedtasksError: if there is nothing to publish, or only partial results without ``allow_partial``.
    """
    whole = []
    held_back = []
    for headline in _headlines(run):
        reasons = dict.fromkeys(why_partial(run, headline))
        if _IS_SAMPLE in reasons or (reasons and not allow_partial):
            held_back.append(f"{headline.name}: {'; '.join(reasons)}")
        else:
            whole.append(headline)
    if not whole:
        why = "the run reports no score for a medtasks task"
        if held_back:
            why = (
                f"{'; '.join(held_back)} (--allow_partial publishes partial results, but never results on the bundled "
                "sample)"
            )
        raise MedtasksError(f"{run.path}: nothing to publish: {why}")
    return whole


def _headlines(run: Run) -> Iterator[Headline]:
    """Yield the headline value of each group of one benchmark, and of each task that is in no such group."""
    for topic in topics_of([run]):
        result, metrics = topic.results[run.name], topic.benchmark.metrics if topic.benchmark else ()
        for metric, filter_name in product(metrics, _PUBLISHED_FILTERS):
            if (metric.name, filter_name) in result.metrics:
                yield Headline(topic.name, result, metric, filter_name)
                break


def why_partial(run: Run, headline: Headline) -> Iterator[str]:
    """Yield the reasons why a value does not cover all rows of the benchmark, or all responses; nothing if it does."""
    limit = run.setting("limit")
    if limit is not None:
        yield f"--limit {limit:g}"
    for task in headline.result.tasks:
        if task.source != "hub":
            yield _IS_SAMPLE if task.source == "sample" else "the rows come from local files, not the Hub"
        yield from task.note_on_filter
        if limit is None and task.asked != task.available:
            yield f"{task.asked} of {task.available} examples"
        selection = parse(task.signatures.get(headline.filter, "")).get("select", NO_VALUE)
        if selection != NO_VALUE:
            yield f"a part of the rows ({selection})"


def _entry(run: Run, headline: Headline) -> JsonObject:
    """Return a headline value as an entry in the Hub's format."""
    tasks, metric = headline.result.tasks, headline.metric
    config, benchmark = tasks[0].config, tasks[0].benchmark
    options, repository = config.get("dataset_kwargs") or {}, str(config.get("dataset_path"))
    dataset = {"id": repository, "task_id": headline.name}
    is_from_hub = {task.source for task in tasks} == {"hub"}
    repositories = benchmark.data.repositories.values() if benchmark else ()
    pinned = {pin.name: pin.revision for pin in repositories}
    revision = options.get("revision") or pinned.get(repository)
    if is_from_hub and revision:
        dataset["revision"] = revision
    tools = tools_in(options)
    notes = [
        f"{metric.name}{' in per cent' if metric.unit == 'share' else ''}, {headline.filter}",
        f"tools: {' and '.join(tools)}" if tools else "no tools",
        *(() if is_from_hub else ("rows from local files of unknown revision",)),
        *(f"signature {signature}" for signature in headline.result.signatures(headline.filter)),
    ]
    value = headline.result.metrics[metric.name, headline.filter].value
    written = {"date": datetime.strptime(run.date[:19], "%Y-%m-%dT%H-%M-%S").isoformat()} if run.date else {}
    return {"dataset": dataset, "value": round(value * metric.scale, 4), **written, "notes": "; ".join(notes)}
