"""What the pack holds, read off its YAML and its classes: benchmarks, tasks and groups, hub repositories."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lm_eval.tasks import TaskManager

from medtasks_utils.harness.options import BENCHMARKS
from medtasks_utils.harness.sources import tasks_path

if TYPE_CHECKING:
    from medtasks_utils.harness.task import MedTask

Configuration = dict[str, Any]

_CLASSES = {
    "medmcqa": "medtasks_utils.benchmarks.medmcqa.task.MedMCQA",
    "medexqa": "medtasks_utils.benchmarks.medexqa.task.MedExQA",
    "medcalc_bench": "medtasks_utils.benchmarks.medcalc_bench.task.MedCalcBench",
    "medhallu": "medtasks_utils.benchmarks.medhallu.task.MedHallu",
}


class Listing(NamedTuple):
    """A name that ``--tasks`` takes.

    Attributes:
        name: of the task, group or tag.
        is_group: whether its score is made of several tasks' scores.
        description: one line, the comment that opens its file.
    """

    name: str
    is_group: bool
    description: str


class Repository(NamedTuple):
    """A hub repository that tasks read; the fields are :meth:`.Source.folder`'s arguments."""

    benchmark: str
    repository: str
    revision: str | None
    patterns: tuple[str, ...]


def our_manager(metadata: Mapping[str, Any] | None = None) -> TaskManager:
    """A task manager that knows this pack's tasks only."""
    return TaskManager(include_path=str(tasks_path()), include_defaults=False, metadata=dict(metadata or {}))


def listings() -> list[Listing]:
    """All names, benchmark by benchmark, groups first; what stands for one task under another name says so."""
    index = our_manager().task_index
    found: dict[str, list[Listing]] = {tasks_path().name: [], **{name: [] for name in BENCHMARKS}}
    for name, entry in sorted(index.items(), key=lambda item: (item[1].kind.name != "GROUP", item[0])):
        if entry.kind.name == "TAG":
            folder = index[min(entry.tags)].yaml_path.parent.name
            description = f"the same as {', '.join(sorted(entry.tags))}"
        else:
            folder = entry.yaml_path.parent.name
            description = opening_comment(entry.yaml_path)
        found.setdefault(folder, []).append(Listing(name, entry.kind.name == "GROUP", description))
    return [listing for folder in found.values() for listing in folder]


def opening_comment(file: Path) -> str:
    """The comment in the first line of a YAML file, empty if there is none."""
    with file.open(encoding="utf-8") as lines:
        first = lines.readline().strip()
    return first.removeprefix("#").strip() if first.startswith("#") else ""


def configurations(
    manager: TaskManager, members: Iterable[str | Configuration], overrides: Mapping[str, Any] | None = None
) -> Iterator[Configuration]:
    """The YAML of every task that the members stand for, with what the groups on the way there set.

    Args:
        manager: which names are known; others are passed over.
        members: names of tasks, groups and tags, or entries of a group's list.
        overrides: settings that replace the tasks' own.
    """
    index = manager.task_index
    for member in members:
        own = member if isinstance(member, dict) else {"task": member}
        given = {**(overrides or {}), **{key: value for key, value in own.items() if key not in ("task", "group")}}
        name = own.get("group") or own.get("task")
        entry = index.get(name) if isinstance(name, str) else None
        if entry is None:
            inner = own.get("task")
            yield from configurations(manager, inner if isinstance(inner, list) else (), given)
        elif entry.kind.name == "TAG":
            yield from configurations(manager, sorted(entry.tags), given)
        elif entry.kind.name == "GROUP":
            yield from configurations(manager, entry.cfg["task"], given)
        else:
            yield {**entry.cfg, **given}


def benchmark_class(benchmark: str) -> type[MedTask]:
    """A benchmark's class; its module is imported now, so that a run imports only what it uses."""
    module, _, name = _CLASSES[benchmark].rpartition(".")
    found: type[MedTask] = getattr(importlib.import_module(module), name)
    return found


def benchmark_of(configuration: Mapping[str, Any]) -> str | None:
    """The benchmark of a task by the class that its YAML names, None for a task that is not of this pack."""
    named = Path(str(configuration.get("class", ""))).name  # unresolved, it stands there with its folder
    return next((benchmark for benchmark, name in _CLASSES.items() if name == named), None)


def repositories() -> list[Repository]:
    """Every hub repository that a task of the pack reads by default, each once."""
    manager = our_manager()
    found = []
    for configuration in configurations(manager, manager.all_subtasks):
        benchmark = benchmark_of(configuration)
        if benchmark is not None:
            revision = (configuration.get("dataset_kwargs") or {}).get("revision")
            patterns = tuple(benchmark_class(benchmark).file_patterns)
            found.append(Repository(benchmark, configuration["dataset_path"], revision, patterns))
    return sorted(dict.fromkeys(found), key=lambda repository: BENCHMARKS.index(repository.benchmark))
