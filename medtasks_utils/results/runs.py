"""Find saved runs in folders, and read them as far as possible.

The harness writes ``results_<date>.json`` and, with ``--log_samples``, ``samples_<task>_<date>.jsonl`` into a folder
named after the model. Files with the same folder and date form one run. Samples are read on first use.
"""

import filecmp
import json
import operator
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from textwrap import shorten
from typing import Any

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.errors import MedtasksError, logger, reason_of
from medtasks_utils.harness.signature import NO_VALUE, parse
from medtasks_utils.inference.reply_files import files_of_replies
from medtasks_utils.writing import JsonObject, one_line, without_secrets

from .run import GroupRun, Metrics, Run, TaskRun, Value
from .samples import mapping, number

_DATE = r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?"
_FILE = re.compile(
    rf"samples_(?P<task>.+?)(?:_(?P<date>{_DATE}))?\.jsonl|(?!audit_)(?:results|.+_(?P<of_results>{_DATE}))\.json"
)


def read_runs(paths: str | Path | Iterable[str | Path]) -> list[Run]:
    """Read the runs under the given paths, in the order of the paths and then by folder and date.

    Paths are results files, sample logs (read with the rest of their run), or folders, which are searched recursively.
    Copies of a run are left out, with a warning.

    Raises:
        MedtasksError: for a path that does not exist, if no path contains a run, or if a results file cannot be read.
    """
    places = [Path(paths)] if isinstance(paths, str | Path) else list(map(Path, paths))
    files_by_run: dict[tuple[Path, str], dict[str, Path]] = {}
    for place in places:
        if not place.exists():
            raise MedtasksError(f"no file or folder {place}: name the folder that lm_eval wrote with --output_path")
        for key, files in _files(place).items():
            files_by_run.setdefault(key, files)
    if not files_by_run:
        where = ", ".join(map(str, places)) or "no path"
        if any(files_of_replies(place, ".jsonl") for place in places):
            raise MedtasksError(f"no results in {where}, only replies of an unfinished run: run its command again")
        raise MedtasksError(
            f"no results in {where}; lm_eval writes results_<date>.json, and with --log_samples "
            "samples_<task>_<date>.jsonl, to the folder of --output_path. medtasks import converts runs of other "
            "harnesses"
        )
    runs = _without_copies([_read(date, files) for (_, date), files in files_by_run.items()])
    name_apart(runs)
    return runs


def _without_copies(runs: Sequence[Run]) -> list[Run]:
    """Return the runs in their order, without copies: of equal runs, keep the first one with the most files."""
    originals: list[Run] = []
    for run in sorted(runs, key=lambda run: -len(run.files)):
        original = next((other for other in originals if is_copy(run, other)), None)
        if original:
            logger.warning("%s is left out: it is a copy of the run in %s", run.path, original.path.parent)
        else:
            originals.append(run)
    return sorted(originals, key=runs.index)


def is_copy(run: Run, other: Run) -> bool:
    """Return whether a run is a copy of another one.

    The runs have the same date, and each of the run's files is equal to the other run's file for the same task. The
    other run may have more files. A run without files is not a copy.
    """
    if run.date != other.date or not run.files or not run.files.keys() <= other.files.keys():
        return False
    return all(filecmp.cmp(path, other.files[name], shallow=False) for name, path in run.files.items())


def _files(place: Path) -> dict[tuple[Path, str], dict[str, Path]]:
    """Return the files of each run in a folder, or of the run to which a file belongs.

    Keys are the folder and the date; values are sample logs by task, with the results file under an empty name.
    """
    runs: dict[tuple[Path, str], dict[str, Path]] = defaultdict(dict)
    for path in sorted(place.rglob("*.json*") if place.is_dir() else place.parent.glob("*.json*")):
        if match := _FILE.fullmatch(path.name):
            runs[path.parent.resolve(), match["date"] or match["of_results"] or ""][match["task"] or ""] = path
    return {key: runs[key] for key in sorted(runs) if place.is_dir() or place in runs[key].values()}


def _read(date: str, logs: dict[str, Path]) -> Run:
    """Read one run from its sample logs and, under an empty name, its results file, which is removed from ``logs``.

    Raises:
        MedtasksError: if the results file cannot be read.
    """
    results_path = logs.pop("", None)
    path = results_path or next(iter(logs.values())).parent
    try:
        results = json.loads(results_path.read_bytes()) if results_path else {}
        return as_run(results, path, date, logs)
    except Exception as error:
        raise MedtasksError(f"{path} cannot be read: {reason_of(error)}") from None


def as_run(results: JsonObject, path: Path, date: str = "", logs: Mapping[str, Path] = {}) -> Run:
    """Build a run, without a name, from the results that the harness returns and saves.

    Args:
        results: the content of the results file; empty without one.
        path: the results file, or the folder if there is none.
        date: the date in the file's name.
        logs: sample logs by task.
    """
    values, configs = results["results"] if results else {}, results.get("configs", {})
    subtasks = results.get("group_subtasks", {})
    groups = {
        name: GroupRun(subtasks.get(name, []), metrics_of(group)) for name, group in results.get("groups", {}).items()
    }
    counts = mapping(results.get("n-samples"))
    # The harness lists groups without their own metrics among the tasks, but only tasks have a configuration.
    tasks = {}
    for name in dict.fromkeys([*(name for name in values if name in configs), *logs]):
        config, count = configs.get(name, {}), mapping(counts.get(name))
        asked, available = count.get("effective"), count.get("original")
        if not (isinstance(asked, int) and isinstance(available, int)):
            asked = available = 0
        tasks[name] = TaskRun(
            name,
            benchmark_of(name, config),
            metrics_of(values.get(name, {})),
            config,
            logs.get(name),
            asked=asked,
            available=available,
            system_instruction=results.get("system_instruction"),
            fewshot_seed=mapping(results.get("config")).get("fewshot_seed"),
        )
    model = results.get("model_name") or (path.parent if results else path).name
    return Run("", model, path, date, results, tasks, groups)


def benchmark_of(task: str, config: Mapping[str, Any]) -> str | None:
    """Return the name of a task's benchmark; None for a task outside this package, or if its benchmark is unusable.

    The configuration states the benchmark in ``metadata.benchmark``. The task's name is used only without a
    configuration, since the harness has other tasks with such names.
    """
    named = mapping(config.get("metadata")).get("benchmark")
    for benchmark in benchmarks().usable():
        has_its_name = task == benchmark.tasks.default or task.startswith(f"{benchmark.name}_")
        if named == benchmark.name or (has_its_name and not config):
            return benchmark.name
    return None


def metrics_of(values: Mapping[str, Any]) -> Metrics:
    """Convert the harness's values, such as ``{"acc,strict-match": 0.5, "acc_stderr,strict-match": 0.1}``.

    Values that are not finite numbers are left out.
    """
    metrics: Metrics = {}
    for key, value in values.items():
        metric, comma, filter_name = key.rpartition(",")
        known = number(value)
        if comma and known is not None and not metric.endswith("_stderr"):
            metrics[metric, filter_name] = Value(known, number(values.get(f"{metric}_stderr,{filter_name}")))
    return metrics


def merged(runs: Sequence[Run]) -> list[Run]:
    """Merge runs of one set-up with different tasks, such as the jobs of a sweep, and give all runs unique names.

    A set-up is the model with its engine, arguments, generation settings, chat template and system message. A task that
    a later run has extended (``--extend``) is kept only in that run. Runs of a set-up are merged within each folder,
    then across folders; each time, only if no two of them have a task or group in common.
    """
    result = _without_outgrown(runs)
    for is_in_folder in (True, False):
        by_setup: dict[object, list[Run]] = defaultdict(list)
        for run in result:
            by_setup[_setup(run), is_in_folder and run.path.parent].append(run)
        result = []
        for alike in by_setup.values():
            names = list(chain.from_iterable((*run.tasks, *run.groups) for run in alike))
            is_apart = len(alike) == 1 or len(names) > len(set(names))
            result += alike if is_apart else [united(alike)]
    name_apart(result)
    return result


def _without_outgrown(runs: Sequence[Run]) -> list[Run]:
    """Return the runs without the tasks that a later run in the same folder has extended, and without their groups.

    A run that loses all of its tasks is left out, and a run that extends another describes this in ``growth``.
    """
    result = []
    for run in runs:
        outgrown = {*chain.from_iterable(other.tasks for other in runs if _has_grown(run, other))}
        tasks = {name: task for name, task in run.tasks.items() if name not in outgrown}
        groups = {name: group for name, group in run.groups.items() if outgrown.isdisjoint(group.tasks)}
        if tasks or not outgrown:
            growth = growth_of(run, [older for older in runs if _has_grown(older, run)])
            result.append(replace(run, tasks=tasks, groups=groups, growth=growth) if outgrown or growth else run)
    return result


def _asked(run: Run) -> int:
    return sum(task.asked for task in run.tasks.values())


def growth_of(run: Run, grown: Sequence[Run]) -> str:
    """Return a phrase on a run that extends the runs ``grown``; empty unless it has more questions than one of them.

    The phrase has the smallest number of questions, the run's own number, and its date. The time is added if an earlier
    run has the same date.
    """
    asked = [_asked(version) for version in (run, *grown)]
    if min(asked) == asked[0]:
        return ""
    day, minute = run.date[:10], run.date[11:16].replace("-", ":")
    is_of_one_day = any(older.date.startswith(day) for older in grown)
    when = f"{day} {minute}".strip() if is_of_one_day else day
    return f"grew from {min(asked):,} to {asked[0]:,} questions, {when}"


def _has_grown(run: Run, other: Run) -> bool:
    """Return whether ``other`` extends ``run``: it has more tasks, files, examples, repeats or tokens, none fewer.

    ``other`` must be later, of the same set-up and folder, and have reused replies; the token limit may differ.
    Examples, repeats and tokens are compared over the common tasks.
    """

    def sizes(of: Run) -> list[float]:
        common = [of.tasks[name] for name in run.tasks if name in other.tasks]
        settings = ({**task.config, **mapping(task.config.get("generation_kwargs"))} for task in common)
        limits = (number(of_task.get(name)) or 0.0 for of_task in settings for name in ("repeats", "max_gen_toks"))
        return [*(task.asked for task in common), *limits]

    took_over = mapping(other.results.get("medtasks")).get("answers_taken_over") and other.date > run.date
    if (
        not took_over
        or other.path.parent != run.path.parent
        or _setup(run, "max_gen_toks") != _setup(other, "max_gen_toks")
    ):
        return False
    before, after = sizes(run), sizes(other)
    # Files are more if the disk had no room for samples before.
    has_more = before != after or len(other.files) > len(run.files) or not other.tasks.keys() <= run.tasks.keys()
    return has_more and all(map(operator.le, before, after))


_OF_REQUESTS = ("base_url", "num_concurrent", "max_retries", "timeout")
"""Model arguments about the transport of requests, which may differ between runs of one set-up."""


def _setup(run: Run, *ignored: str) -> str:
    """Return a key that runs of one set-up share, even if they differ in the arguments named in ``ignored``."""

    hashes = [run.results.get(f"{name}_sha") for name in ("chat_template", "system_instruction")]
    arguments = (arguments_of(run, name) for name in ("model_args", "gen_kwargs"))
    settings = [[(key, value) for key, value in of_run if key not in (*_OF_REQUESTS, *ignored)] for of_run in arguments]
    return repr([run.model, run.setting("model"), settings, hashes, run.has_scores])


def arguments_of(run: Run, name: str) -> list[tuple[str, str]]:
    """Return a setting's arguments as sorted pairs; the setting is a mapping, or a string as on the command line."""
    value = run.setting(name)
    pairs = mapping(value) or dict(part.partition("=")[::2] for part in str(value or "").split(","))
    return sorted((key, str(text)) for key, text in pairs.items() if key)


def united(runs: Sequence[Run]) -> Run:
    """Return a copy of the first run with the tasks and groups of all runs, and the total duration, tokens and cost."""
    spent = {name: sum((run.spent(name) for run in runs), Counter()) for name in ("tokens", "cost")}
    seconds = "total_evaluation_time_seconds"
    return replace(
        runs[0],
        results={**runs[0].results, seconds: sum(run.seconds(seconds) for run in runs), "medtasks": spent},
        tasks=dict(chain.from_iterable(run.tasks.items() for run in runs)),
        groups=dict(chain.from_iterable(run.groups.items() for run in runs)),
    )


def name_apart(runs: Sequence[Run]) -> None:
    """Give each run a unique name: the last part of its model's name, and its distinguishing features.

    Features are tried in order until all names differ: the first part of the model's name, engine, number of questions,
    generation settings, model arguments (such as the revision), fields of signatures, system message, output folder,
    hashes of prompts, date and file.
    """
    for run in runs:
        run.name = re.split(r"[/\\]|__", run.model.rstrip("/\\_"))[-1] or run.model
    for parts_of in _PARTS:
        by_name: dict[str, list[Run]] = defaultdict(list)
        for run in runs:
            by_name[run.name].append(run)
        for of_name in by_name.values():
            tasks = [name for name in of_name[0].tasks if all(name in run.tasks for run in of_name)]
            parts = [parts_of(run, [run.tasks[name] for name in tasks]) for run in of_name]
            in_all = set.intersection(*map(set, parts))
            for run, of_run in zip(of_name, parts, strict=True):
                run.name = " ".join([run.name, *(part for part in of_run if part not in in_all)]).strip()


_SIGNED = ("opts", "select", "shots", "repeats", "gen")
"""The fields of signatures that distinguish runs, most informative first."""
_HASHED = ("chat", "rendered", "prompts")
"""The fields of signatures that are hashes, which reveal a difference, but not its nature."""
_LONGEST_MESSAGE = 30  # characters of a system message in a name


def _signed(field: str, tasks: Sequence[TaskRun]) -> list[str]:
    """Return a field of each task's first signature as ``field=value``; tasks without a value are left out."""
    fields = [parse(next(iter(task.signatures.values()), "")) for task in tasks]
    return [f"{field}={of_task[field]}" for of_task in fields if of_task.get(field, NO_VALUE) != NO_VALUE]


def model_arguments(run: Run) -> list[str]:
    """Return the model arguments that can affect results, as ``name=value``: no paths, request settings or secrets."""
    arguments = dict(arguments_of(run, "model_args"))
    of_model = {name: value for name, value in arguments.items() if name not in ("pretrained", "model", *_OF_REQUESTS)}
    return [f"{name}={value}" for name, value in without_secrets(of_model).items()]


def system_message(run: Run) -> list[str]:
    """Return the beginning of the system message, in quotation marks, as a list; empty without a message."""
    message = one_line(str(run.results.get("system_instruction") or ""))
    return [f"“{shorten(message, _LONGEST_MESSAGE, placeholder='…')}”"] if message else []


_PARTS: tuple[Callable[[Run, Sequence[TaskRun]], Sequence[str]], ...] = (
    lambda run, _: [run.model.rpartition("/")[0]],
    lambda run, _: [str(run.setting("model") or "")],
    lambda _, tasks: [f"{sum(task.asked for task in tasks):,} questions"],
    lambda run, _: [f"{name}={value}" for name, value in arguments_of(run, "gen_kwargs")],
    lambda run, _: model_arguments(run),
    *(partial(lambda field, _, tasks: _signed(field, tasks), field) for field in _SIGNED),
    lambda run, _: system_message(run),
    lambda run, _: [run.path.resolve().parent.parent.name],  # the output folder, which has a folder for each model
    *(partial(lambda field, _, tasks: _signed(field, tasks), field) for field in _HASHED),
    lambda run, _: [run.date.replace("T", " ")[:19]],
    lambda run, _: [str(run.path)],
)


def with_baseline_first(runs: Sequence[Run], name: str) -> list[Run]:
    """Return the runs with the baseline first, and the others in their order.

    ``name`` is the baseline's name, its model, its results file, or a folder with this file and no other run.

    Raises:
        MedtasksError: if no run matches the name, or more than one.
    """
    place = Path(name).resolve()
    matching = [run for run in runs if name in (run.name, run.model) or run.path.resolve().is_relative_to(place)]
    if len(matching) != 1:
        names = ", ".join(run.name for run in runs)
        raise MedtasksError(f"{len(matching)} runs match {name!r}; --baseline must name one of {names}")
    return sorted(runs, key=lambda run: run is not matching[0])


def audit_file(samples: Path) -> Path:
    """Return the path of the audit of a sample log, in the same folder (``docs/audit.md``)."""
    return samples.with_name(f"audit_{samples.stem.removeprefix('samples_')}.json")
