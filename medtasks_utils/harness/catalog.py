"""What the pack holds, read off its YAML: tasks, groups and tags."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from lm_eval.tasks import TaskManager

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.yaml_tasks import task_folders, tasks_path
from medtasks_utils.harness.index import index_of

Configuration = dict[str, Any]


class Listing(NamedTuple):
    """A name that ``--tasks`` takes, with the comment that opens its file; a group's score is made of several."""

    name: str
    is_group: bool
    description: str


def our_manager(metadata: Mapping[str, Any] | None = None) -> TaskManager:
    """A task manager that knows this pack's tasks only."""
    folders = [str(folder) for folder in task_folders()]
    return TaskManager(include_path=folders, include_defaults=False, metadata=dict(metadata or {}))


def listings() -> list[Listing]:
    """All names, benchmark by benchmark, groups first; what stands for one task under another name says so."""
    index = index_of(our_manager())
    found: dict[str, list[Listing]] = {tasks_path().name: [], **{name: [] for name in benchmarks()}}
    for name, entry in sorted(index.items(), key=lambda item: (item[1].kind != "GROUP", item[0])):
        file = entry.file or index[entry.tasks[0]].file
        if file is None:
            continue
        description = opening_comment(file) if entry.file else f"the same as {', '.join(entry.tasks)}"
        found.setdefault(file.parent.name, []).append(Listing(name, entry.kind == "GROUP", description))
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

    Members are names of tasks, groups and tags, or entries of a group's list; those that the manager does not know are
    passed over. ``overrides`` replace the tasks' own settings.
    """
    index = index_of(manager)
    for member in members:
        own = member if isinstance(member, dict) else {"task": member}
        given = {**(overrides or {}), **{key: value for key, value in own.items() if key not in ("task", "group")}}
        name = own.get("group") or own.get("task")
        entry = index.get(name) if isinstance(name, str) else None
        if entry is None:
            inner = own.get("task")
            yield from configurations(manager, inner if isinstance(inner, list) else (), given)
        elif entry.kind == "TAG":
            yield from configurations(manager, entry.tasks, given)
        elif entry.kind == "GROUP":
            yield from configurations(manager, entry.settings["task"], given)
        else:
            yield {**entry.settings, **given}


def benchmark_of(settings: Mapping[str, Any]) -> str | None:
    """The benchmark of a task that its YAML names, None for a task that is not of this pack."""
    named = settings.get("benchmark")
    return named if named in benchmarks() else None
