"""Runs of the harness, found in folders and read as far as they can be.

The harness writes ``results_<date>.json`` and, with ``--log_samples``, ``samples_<task>_<date>.jsonl`` into a folder
named after the model. Files of one folder with one date are one run. Samples are read when they are asked for.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.results.run import GroupRun, Metrics, ResultsError, Run, TaskRun, Value
from medtasks_utils.results.samples import mapping, number

_DATE = r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?"
_RESULTS_FILE = re.compile(rf"(?!audit_)(?:results|.+_(?P<date>{_DATE}))\.json")
_SAMPLES_FILE = re.compile(rf"samples_(?P<task>.+?)(?:_(?P<date>{_DATE}))?\.jsonl")


@dataclass
class _Files:
    """The files of one run."""

    folder: Path
    date: str
    results: Path | None = None
    samples: dict[str, Path] = field(default_factory=dict)


def read_runs(paths: str | Path | Iterable[str | Path]) -> list[Run]:
    """All runs under the given paths, each once, in the order given and then by folder and date.

    Args:
        paths: results files, sample logs (for the run they belong to), or folders, which are searched to the bottom.

    Raises:
        ResultsError: for a path that does not exist, or where no path holds a run.
    """
    places = [Path(paths)] if isinstance(paths, str | Path) else [Path(path) for path in paths]
    found: dict[tuple[Path, str], _Files] = {}
    for place in places:
        if not place.exists():
            raise ResultsError(f"no file or folder {place}; give the folder that lm_eval wrote with --output_path")
        for files in _find(place):
            found.setdefault((files.folder.resolve(), files.date), files)
    if not found:
        where = ", ".join(map(str, places)) or "no path"
        raise ResultsError(
            f"no results in {where}; lm_eval writes results_<date>.json, and with --log_samples "
            "samples_<task>_<date>.jsonl, into the folder that --output_path names; results.jsonl of the defining "
            "environments becomes such a run by medtasks import"
        )
    runs = [_read(files) for files in found.values()]
    name_apart(runs)
    return runs


def _find(place: Path) -> list[_Files]:
    """The runs in a folder, or the one that a file belongs to."""
    if place.is_dir():
        return _group(path for pattern in ("*.json", "*.jsonl") for path in place.rglob(pattern))
    together = _group([*place.parent.glob("*.json"), *place.parent.glob("*.jsonl")])
    own = [files for files in together if place in (files.results, *files.samples.values())]
    return own or ([] if place.suffix == ".jsonl" else [_Files(place.parent, "", place)])


def _group(paths: Iterable[Path]) -> list[_Files]:
    found: dict[tuple[Path, str], _Files] = {}
    for path in sorted(paths):
        samples = _SAMPLES_FILE.fullmatch(path.name)
        match = samples or _RESULTS_FILE.fullmatch(path.name)
        if match is None:
            continue
        date = match["date"] or ""
        files = found.setdefault((path.parent, date), _Files(path.parent, date))
        if samples:
            files.samples[samples["task"]] = path
        else:
            files.results = files.results or path
    return [found[key] for key in sorted(found)]


def _read(files: _Files) -> Run:
    results: dict[str, Any] = {}
    problems = []
    if not files.results:
        problems.append(f"{files.folder}: no results file with the samples of {files.date or 'no date'}")
    else:
        try:
            results = json.loads(files.results.read_bytes())
            if not isinstance(results, dict) or not isinstance(results.get("results"), dict):
                raise ValueError("it has no results as lm_eval writes them")
        except (OSError, ValueError, RecursionError) as error:
            results = {}
            problems.append(f"{files.results} cannot be read: {error}")
    run = as_run(results, files.folder, files.results, files.date, files.samples)
    run.problems += problems
    return run


def as_run(
    results: dict[str, Any],
    folder: Path,
    path: Path | None = None,
    date: str = "",
    samples: Mapping[str, Path] | None = None,
) -> Run:
    """A run from its results, as the harness returns and saves them.

    Args:
        results: what the results file holds, or would.
        date: as in its name.
        samples: sample logs by task.
    """
    logs = samples or {}
    subtasks, configs = mapping(results.get("group_subtasks")), mapping(results.get("configs"))
    groups = {
        name: GroupRun(name, [str(task) for task in _list(subtasks.get(name))], _metrics(values))
        for name, values in mapping(results.get("groups")).items()
    }
    # The harness lists a group without metrics of its own among the tasks.
    headings = {name for name, tasks in subtasks.items() if tasks and name not in configs}
    names = [name for name in mapping(results.get("results")) if name not in {*groups, *headings}]
    return Run(
        name="",
        model=str(results.get("model_name") or folder.name),
        path=path or folder,
        date=date,
        results=results,
        tasks={name: _task(name, results, logs.get(name)) for name in [*names, *logs]},
        groups=groups,
        problems=[],
    )


def _task(name: str, results: Mapping[str, Any], samples: Path | None) -> TaskRun:
    config = mapping(mapping(results.get("configs")).get(name))
    signature = mapping(mapping(config.get("metadata")).get("signature"))
    return TaskRun(
        task=name,
        benchmark=benchmark_of(name, config),
        metrics=_metrics(mapping(results.get("results")).get(name)),
        config=config,
        samples_path=samples,
        signatures={str(key): str(value) for key, value in signature.items()},
    )


def benchmark_of(task: str, config: Mapping[str, Any]) -> str | None:
    """The benchmark that a task belongs to, as its ``metadata.benchmark`` says; None if it is not one of this pack.

    By its name where the configuration is lost, or is of version 0.1, which names functions of this pack. The harness
    has tasks of its own with such names.
    """
    named = mapping(config.get("metadata")).get("benchmark")
    if named is None and (not config or "medtasks_utils." in str(config.get("process_results"))):
        by_name = (
            own.name for own in benchmarks().values() if task == own.default_task or task.startswith(f"{own.name}_")
        )
        return next(by_name, None)
    return named if named in benchmarks() else None


def _metrics(values: Any) -> Metrics:
    """``{"acc,strict-match": 0.5, "acc_stderr,strict-match": 0.1}`` by metric and filter, where they are numbers."""
    values = mapping(values)
    metrics: Metrics = {}
    for key, value in values.items():
        metric, comma, filter_name = key.rpartition(",")
        known = number(value)
        if comma and known is not None and not metric.endswith("_stderr"):
            metrics[metric, filter_name] = Value(known, number(values.get(f"{metric}_stderr,{filter_name}")))
    return metrics


def name_apart(runs: Sequence[Run]) -> None:
    """Name runs as ``--run_name`` has it, else after the last part of their models' names, with what sets them apart.

    That is the model's whole name, then engine, output folder and date, as far as they differ.
    """
    short = {run.model: re.split(r"[/\\]|__", run.model.rstrip("/\\_"))[-1] or run.model for run in runs}
    models = Counter(short.values())
    for run in runs:
        own = short[run.model] if models[short[run.model]] == 1 else run.model
        run.name = str(mapping(run.results.get("medtasks")).get("run_name") or own)
    for apart in _APART:
        told: dict[str, set[str]] = {}
        for run in runs:
            told.setdefault(run.name, set()).add(apart(run))
        for run in runs:
            if len(told[run.name]) > 1:
                run.name = f"{run.name} {apart(run)}".strip()
    taken: Counter[str] = Counter()
    for run in runs:
        taken[run.name] += 1
        if taken[run.name] > 1:
            run.name += f" #{taken[run.name]}"


_APART: tuple[Callable[[Run], str], ...] = (
    lambda run: str(run.setting("model") or ""),
    lambda run: run.path.resolve().parent.parent.name,  # in which the harness makes a folder of the model's name
    lambda run: run.date.replace("T", " ")[:19],
)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
