"""``medtasks publish``: a run's results in the Hub's ``.eval_results/*.yaml`` form, one file a data set.

The form is that of https://huggingface.co/docs/hub/eval-results, written here so that any release of the Hub's client
will do; a test reads it with ``huggingface_hub.EvalResultEntry``, which releases from 1.4 on have. The value is what
the benchmark is reported by: the first metric of its card, under its published rule (``strict-match``), shares in per
cent. The notes name metric, filter, tools and signature.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from huggingface_hub import CommitOperationAdd, HfApi, constants

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.errors import MedtasksError, first_line
from medtasks_utils.harness.signature import NOTHING, parse
from medtasks_utils.results import Run, TaskRun, Value
from medtasks_utils.statistics.aggregation import joined
from medtasks_utils.statistics.intervals import estimate
from medtasks_utils.writing import write_whole

FILTERS = ("strict-match", "none")  # none: of tasks that score log-likelihoods
FOLDER = ".eval_results"
SAME = 1e-6  # as the harness writes numbers


class PublishError(MedtasksError):
    """Results that cannot be published, or not without a word from the user."""


@dataclass(frozen=True)
class Scored:
    """A task, or a group of tasks of one benchmark, with the number that stands for it, in the metric's own unit.

    ``reported`` is that of the results file, and should be the same.
    """

    name: str
    tasks: Sequence[TaskRun]
    metric: str
    filter: str
    value: float
    reported: float


def write(files: Mapping[str, str], folder: Path) -> list[Path]:
    """Write files of a model's repository into a folder.

    Raises:
        WriteError: for a file that cannot be written.
    """
    for name, text in files.items():
        write_whole(folder / name, text, make_folder=True)
    return [folder / name for name in files]


def contents(run: Run, allow_partial: bool = False) -> dict[str, str]:
    """The files of a run by path in the model's repository.

    ``allow_partial`` publishes results of a part of the rows too, and of files of one's own.

    Raises:
        PublishError: where there is nothing to publish, or only parts without ``allow_partial``.
    """
    by_data_set: dict[str, list[dict[str, Any]]] = {}
    held_back = []
    can_be_allowed = False
    for scored in _scored(run):
        of_sample = any(_source(task) == "sample" for task in scored.tasks)
        reasons = (
            ["the rows are the bundled sample"] if of_sample else list(dict.fromkeys(_what_is_partial(run, scored)))
        )
        if of_sample or (reasons and not allow_partial):
            held_back.append(f"{scored.name}: {'; '.join(reasons)}")
            can_be_allowed |= not of_sample
            continue
        entry = _entry(run, scored)
        by_data_set.setdefault(entry["dataset"]["id"], []).append(entry)
    if not by_data_set:
        why = "; ".join(held_back) or "it has no task of this pack with a results file"
        way_out = " (--allow_partial publishes parts all the same)" if can_be_allowed else ""
        raise PublishError(f"{run.path}: nothing to publish: {why}{way_out}")
    return {
        f"{FOLDER}/{data_set.rpartition('/')[2].lower()}.yaml": yaml.safe_dump(
            entries, sort_keys=False, allow_unicode=True
        )
        for data_set, entries in by_data_set.items()
    }


def open_pull_request(run: Run, repository: str, files: Mapping[str, str]) -> str:
    """Open a pull request on the model's repository, and return its address.

    Raises:
        PublishError: if the Hub cannot be reached or refuses.
    """
    operations = [CommitOperationAdd(name, text.encode()) for name, text in files.items()]
    try:
        done = HfApi().create_commit(
            repository, operations, commit_message=f"Add evaluation results of {run.name}", create_pr=True
        )
    except Exception as error:  # of the client's HTTP library, whichever that is, or of the client itself
        raise PublishError(
            f"no pull request on {repository} at {constants.ENDPOINT} ({first_line(error)}): does the repository "
            "exist, and has `hf auth login` been run with a token that may write?"
        ) from None
    return str(done.pr_url)


def _scored(run: Run) -> Iterator[Scored]:
    """Groups of one benchmark, then the tasks that are in none."""
    grouped: set[str] = set()
    for group in run.groups.values():
        members = [run.tasks[name] for name in group.tasks if name in run.tasks]
        if members and len({task.benchmark for task in members}) == 1 and members[0].benchmark:
            grouped.update(task.task for task in members)
            yield from _headline(group.group, members, group.metrics)
    for task in run.tasks.values():
        if task.benchmark and task.task not in grouped:
            yield from _headline(task.task, [task], task.metrics)


def _headline(name: str, tasks: Sequence[TaskRun], metrics: Mapping[tuple[str, str], Value]) -> Iterator[Scored]:
    """The first metric of the benchmark that there is, computed from the samples where there are any."""
    for metric in benchmarks()[tasks[0].benchmark or ""].metrics:
        for filter_name in FILTERS:
            reported = metrics.get((metric.name, filter_name))
            if reported is not None:
                scores = joined([task.scores(filter_name, metric.name) for task in tasks], by_part=len(tasks) > 1)
                of_samples = estimate(scores, metric, "macro" if len(tasks) > 1 else None).value
                value = reported.value if of_samples is None else of_samples
                yield Scored(name, tasks, metric.name, filter_name, value, reported.value)
                return


def _what_is_partial(run: Run, scored: Scored) -> Iterator[str]:
    """Why a number does not stand for the whole benchmark."""
    limit = run.results.get("config", {}).get("limit")
    if limit is not None:
        yield f"--limit {limit:g}"
    if abs(scored.value - scored.reported) > SAME:
        yield f"{scored.metric} is {scored.reported:.4f} as reported, but {scored.value:.4f} by the samples"
    counts = run.results.get("n-samples", {})
    for task in scored.tasks:
        if _source(task) != "hub":
            yield "the rows are files of one's own"
        count = counts.get(task.task, {})
        if limit is None and count.get("effective") != count.get("original"):
            yield f"{count.get('effective')} of {count.get('original')} examples"
        chosen = parse(task.signatures.get(scored.filter, "")).get("select", NOTHING)
        if chosen != NOTHING:
            yield f"a part of the rows ({chosen})"


def _source(task: TaskRun) -> str:
    metadata = task.config.get("metadata")
    return str(metadata.get("data_source", "hub")) if isinstance(metadata, dict) else "hub"


def _entry(run: Run, scored: Scored) -> dict[str, Any]:
    card = benchmarks()[scored.tasks[0].benchmark or ""]
    metric = card.metric(scored.metric)
    assert metric is not None, "the headline is out of the card's metrics"
    options = scored.tasks[0].config.get("dataset_kwargs") or {}
    named = str(scored.tasks[0].config.get("dataset_path"))
    of_hub = all(_source(task) == "hub" for task in scored.tasks)
    pinned = {repository.name: repository.revision for repository in card.repositories.values()}
    revision = (options.get("revision") or pinned.get(named)) if of_hub else None
    tools = [name for name in ("python", "calculator") if options.get(f"add_{name}_tool")]
    signatures = dict.fromkeys(t.signatures[scored.filter] for t in scored.tasks if scored.filter in t.signatures)
    unit = " in per cent" if metric.scale == 100 else ""
    notes = [
        f"{scored.metric}{unit}, {scored.filter}",
        f"tools: {' and '.join(tools)}" if tools else "no tools",
        *(() if of_hub else ("rows of files of one's own, of no known revision",)),
        *(f"signature {signature}" for signature in signatures),
    ]
    date = _iso(run.date)
    return {
        "dataset": {"id": named, "task_id": scored.name, **({"revision": revision} if revision else {})},
        "value": round(scored.value * metric.scale, 4),
        **({"date": date} if date else {}),
        "notes": "; ".join(notes),
    }


def _iso(date: str) -> str | None:
    """``2026-11-21T08-27-59.103191`` as ISO 8601; None where there is no date."""
    day, _, time = date.partition("T")
    return f"{day}T{time[:8].replace('-', ':')}" if time else None
