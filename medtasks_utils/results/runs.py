"""Runs of the harness, found in folders and read as far as they can be.

The harness writes ``results_<date>.json`` and, with ``--log_samples``, ``samples_<task>_<date>.jsonl`` into a folder
named after the model. Files of one folder with one date are one run. Samples are read when they are asked for.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.errors import MedtasksError

from .run import GroupRun, Metrics, Run, TaskRun, Value
from .samples import mapping, number

_DATE = r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?"
_RESULTS_FILE = re.compile(rf"(?!audit_)(?:results|.+_(?P<date>{_DATE}))\.json")
_SAMPLES_FILE = re.compile(rf"samples_(?P<task>.+?)(?:_(?P<date>{_DATE}))?\.jsonl")


def read_runs(paths: str | Path | Iterable[str | Path]) -> list[Run]:
    """All runs under the given paths, each once, in the order given and then by folder and date.

    Args:
        paths: results files, sample logs (for the run they belong to), or folders, which are searched to the bottom.

    Raises:
        MedtasksError: for a path that does not exist, or where no path holds a run.
    """
    places = [Path(paths)] if isinstance(paths, str | Path) else [Path(path) for path in paths]
    found: dict[tuple[Path, str], dict[str, Path]] = {}
    for place in places:
        if not place.exists():
            raise MedtasksError(f"no file or folder {place}; give the folder that lm_eval wrote with --output_path")
        for key, files in _files(place).items():
            found.setdefault(key, files)
    if not found:
        where = ", ".join(map(str, places)) or "no path"
        raise MedtasksError(
            f"no results in {where}; lm_eval writes results_<date>.json, and with --log_samples "
            "samples_<task>_<date>.jsonl, into the folder that --output_path names; results.jsonl of the defining "
            "environments becomes such a run by medtasks import"
        )
    runs = [_read(date, files) for (_, date), files in found.items()]
    name_apart(runs)
    return runs


def _files(place: Path) -> dict[tuple[Path, str], dict[str, Path]]:
    """Of the runs in a folder, or the one that a file belongs to: by folder and date, sample logs by task.

    The results file stands under an empty name.
    """
    found: dict[tuple[Path, str], dict[str, Path]] = defaultdict(dict)
    for path in sorted(place.rglob("*.json*") if place.is_dir() else place.parent.glob("*.json*")):
        samples = _SAMPLES_FILE.fullmatch(path.name)
        match = samples or _RESULTS_FILE.fullmatch(path.name)
        if match:
            found[path.parent.resolve(), match["date"] or ""][samples["task"] if samples else ""] = path
    return {key: found[key] for key in sorted(found) if place.is_dir() or place in found[key].values()}


def _read(date: str, files: Mapping[str, Path]) -> Run:
    path = files.get("")
    logs = {task: log for task, log in files.items() if task}
    place = path or next(iter(logs.values())).parent
    if path is None:
        return as_run({}, place, date, logs, [f"{place}: no results file with the samples of {date or 'no date'}"])
    try:
        return as_run(json.loads(path.read_bytes()), place, date, logs)
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as error:
        return as_run({}, place, date, logs, [f"{path} cannot be read: {error!r}"])


def as_run(
    results: dict[str, Any],
    path: Path,
    date: str = "",
    logs: Mapping[str, Path] | None = None,
    problems: Sequence[str] = (),
) -> Run:
    """A run from its results, as the harness returns and saves them.

    Args:
        results: what the results file holds, or would.
        path: the file, or the folder where there is none.
        date: as in its name.
        logs: sample logs by task.
        problems: of its files, in words.
    """
    logs = logs or {}
    values, configs = results["results"] if results else {}, results.get("configs", {})
    subtasks = results.get("group_subtasks", {})
    groups = {
        name: GroupRun(name, subtasks.get(name, []), _metrics(own)) for name, own in results.get("groups", {}).items()
    }
    named = dict.fromkeys(filter(None, map(_named_benchmark, configs.values())))
    unusable = [problem for name in named if (problem := benchmarks().problem(name))]
    # The harness lists a group without metrics of its own among the tasks, and configures tasks alone.
    names = dict.fromkeys([*(name for name in values if name in configs), *logs])
    return Run(
        name="",
        model=str(results.get("model_name") or (path.parent if results else path).name),
        path=path,
        date=date,
        results=results,
        tasks={name: _task(name, values.get(name, {}), configs.get(name, {}), logs.get(name)) for name in names},
        groups=groups,
        problems=[*problems, *unusable],
    )


def _task(name: str, values: Mapping[str, Any], config: dict[str, Any], samples: Path | None) -> TaskRun:
    signatures = mapping(mapping(config.get("metadata")).get("signature"))
    return TaskRun(name, benchmark_of(name, config), _metrics(values), config, samples, signatures)


def benchmark_of(task: str, config: Mapping[str, Any]) -> str | None:
    """The benchmark that a task belongs to, as its ``metadata.benchmark`` says; None if it is not one of this pack.

    By its name where the configuration is lost. The harness has tasks of its own with such names.
    """
    if config:
        named = _named_benchmark(config)
        return named if named and benchmarks().problem(named) is None else None
    usable = benchmarks().usable()
    return next((own.name for own in usable if task == own.default_task or task.startswith(f"{own.name}_")), None)


def _named_benchmark(config: Mapping[str, Any]) -> str | None:
    """Return the registered benchmark that a task's configuration names; None if it names none."""
    named = mapping(config.get("metadata")).get("benchmark")
    return named if isinstance(named, str) and named in benchmarks() else None


def _metrics(values: Mapping[str, Any]) -> Metrics:
    """``{"acc,strict-match": 0.5, "acc_stderr,strict-match": 0.1}`` by metric and filter, where they are numbers."""
    metrics: Metrics = {}
    for key, value in values.items():
        metric, comma, filter_name = key.rpartition(",")
        known = number(value)
        if comma and known is not None and not metric.endswith("_stderr"):
            metrics[metric, filter_name] = Value(known, number(values.get(f"{metric}_stderr,{filter_name}")))
    return metrics


def name_apart(runs: Sequence[Run]) -> None:
    """Name runs after the last part of their models' names, with what sets them apart.

    That is the first part of the model's name, then engine, output folder, date and file, as far as they differ.
    """
    for run in runs:
        run.name = re.split(r"[/\\]|__", run.model.rstrip("/\\_"))[-1] or run.model
    for apart in _APART:
        told: dict[str, set[str]] = defaultdict(set)
        for run in runs:
            told[run.name].add(apart(run))
        for run in runs:
            if len(told[run.name]) > 1:
                run.name = f"{run.name} {apart(run)}".strip()


_APART: tuple[Callable[[Run], str], ...] = (
    lambda run: run.model.rpartition("/")[0],
    lambda run: str(run.setting("model") or ""),
    lambda run: run.path.resolve().parent.parent.name,  # in which the harness makes a folder of the model's name
    lambda run: run.date.replace("T", " ")[:19],
    lambda run: str(run.path),
)


# ---- what medtasks audit found in a run, in a file beside its sample log


def audit_file(samples: Path) -> Path:
    """Where the audit of a sample log is kept."""
    return samples.with_name(f"audit_{samples.stem.removeprefix('samples_')}.json")


def read_audit(samples: Path | None) -> dict[str, Any] | None:
    """The audit of a sample log, as in ``docs/audit.md``; None where there is none, or no log."""
    path = audit_file(samples) if samples else None
    return json.loads(path.read_text(encoding="utf-8")) if path and path.exists() else None
