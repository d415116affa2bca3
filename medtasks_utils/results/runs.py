"""Runs of the harness, found in folders and read as far as they can be.

The harness writes ``results_<date>.json`` and, with ``--log_samples``, ``samples_<task>_<date>.jsonl`` into a folder
named after the model. Files of one folder with one date are one run. Samples are read when they are asked for.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.results.run import GroupRun, Metrics, ResultsError, Run, TaskRun, Value
from medtasks_utils.results.samples import mapping, number

_DATE = r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?"
_RESULTS_FILE = re.compile(rf"(?!audit_)(?:results|.+_(?P<date>{_DATE}))\.json")
_SAMPLES_FILE = re.compile(rf"samples_(?P<task>.+?)(?:_(?P<date>{_DATE}))?\.jsonl")
# Runs saved by version 0.1 name the class that scored them; without a configuration, only the task's name is left.
_SCORER = re.compile(r"medtasks_utils\.(?:benchmarks\.)?(\w+)\.")
_TASK_NAME = re.compile(r"(medmcqa)_openmed|(medexqa)(?:_\w+)?|(medcalc_bench)(?:_\w+)?|(medhallu)(?:_\w+)?")


@dataclass
class _Files:
    """The files of one run."""

    folder: Path
    date: str
    results: list[Path] = field(default_factory=list)
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
    own = [files for files in together if place in (*files.results, *files.samples.values())]
    return own or ([] if place.suffix == ".jsonl" else [_Files(place.parent, "", [place])])


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
            files.results.append(path)
    return sorted(found.values(), key=lambda files: (files.folder, files.date))


def _read(files: _Files) -> Run:
    path = files.results[0] if files.results else files.folder
    problems = [f"{other.name}: another results file of the same date, not read" for other in files.results[1:]]
    results: dict[str, Any] = {}
    if not files.results:
        problems.append(f"{files.folder}: no results file with the samples of {files.date or 'no date'}")
    else:
        try:
            results = _read_json(path)
        except (OSError, ValueError, RecursionError) as error:
            problems.append(f"{path} cannot be read: {error}")
    return as_run(results, files.folder, path, files.date, files.samples, problems)


def as_run(
    results: dict[str, Any],
    folder: Path,
    path: Path | None = None,
    date: str = "",
    samples: Mapping[str, Path] | None = None,
    problems: Sequence[str] = (),
) -> Run:
    """A run from its results, as the harness returns and saves them.

    Args:
        results: what the results file holds, or would.
        date: as in its name.
        samples: sample logs by task.
    """
    logs = samples or {}
    groups = {
        name: GroupRun(name, _strings(mapping(results.get("group_subtasks")).get(name)), _metrics(values))
        for name, values in mapping(results.get("groups")).items()
    }
    names = [name for name in mapping(results.get("results")) if name not in groups and not _is_heading(results, name)]
    tasks = {name: _task(name, results, logs.get(name)) for name in [*names, *logs]}
    return Run(
        name="",
        model=str(results.get("model_name") or folder.name),
        path=path or folder,
        date=date,
        results=results,
        tasks=tasks,
        groups=groups,
        problems=list(problems),
    )


def _read_json(path: Path) -> dict[str, Any]:
    results = json.loads(path.read_bytes().decode("utf-8", "replace"))
    if not isinstance(results, dict) or not isinstance(results.get("results"), dict):
        raise ValueError("it has no results as lm_eval writes them")
    return results


def _is_heading(results: Mapping[str, Any], name: str) -> bool:
    """Whether an entry is a group without metrics of its own, which the harness lists among the tasks."""
    return bool(mapping(results.get("group_subtasks")).get(name)) and name not in mapping(results.get("configs"))


def _task(name: str, results: Mapping[str, Any], samples: Path | None) -> TaskRun:
    config = mapping(mapping(results.get("configs")).get(name))
    signature = mapping(config.get("metadata")).get("signature")
    return TaskRun(
        task=name,
        benchmark=benchmark_of(name, config),
        metrics=_metrics(mapping(results.get("results")).get(name)),
        config=config,
        samples_path=samples,
        signatures={str(key): str(value) for key, value in mapping(signature).items()},
    )


def benchmark_of(task: str, config: Mapping[str, Any]) -> str | None:
    """The benchmark that a task belongs to, as its ``metadata.benchmark`` says; None if it is not one of this pack.

    The harness has tasks of its own with such names, so the name counts only where the run's configuration is lost.
    """
    named = mapping(config.get("metadata")).get("benchmark")
    if named is None and config:
        match = _SCORER.match(str(config.get("process_results")))
        named = match[1] if match else None
    elif named is None:
        match = _TASK_NAME.fullmatch(task)
        named = next((name for name in match.groups() if name), None) if match else None
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
    """Name runs after the last part of their models' names, with as much more as sets them apart."""
    short = {run.model: re.split(r"[/\\]|__", run.model.rstrip("/\\_"))[-1] or run.model for run in runs}
    models = Counter(short.values())
    for run in runs:
        run.name = short[run.model] if models[short[run.model]] == 1 else run.model
    counts = Counter(run.name for run in runs)
    taken: Counter[str] = Counter()
    for run in runs:
        if counts[run.name] > 1:
            run.name = f"{run.name} {run.date.replace('T', ' ')[:19]}".strip()
        taken[run.name] += 1
        if taken[run.name] > 1:
            run.name += f" #{taken[run.name]}"


def _strings(value: Any) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []
