"""Which tasks there are: this pack's and the user's, read off their YAML; the harness's own 16,000 only if need be."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.yaml_tasks import task_folders, tasks_path
from medtasks_utils.errors import UsageError, did_you_mean, logger

from .lm_eval_names import TaskManager

Configuration = dict[str, Any]

_MISSPELT = 0.8
"""Likeness to a name of ours from which a name is taken for it; none of the harness's own reaches 0.75."""


def our_manager(metadata: Mapping[str, Any] | None = None) -> TaskManager:
    """A task manager that knows this pack's tasks only."""
    return manager_for((), metadata=metadata)


def manager_for(
    names: Sequence[str], include_path: str | None = None, metadata: Mapping[str, Any] | None = None
) -> TaskManager:
    """A task manager that knows this pack, further folders, and the harness's own tasks if one of them is asked for.

    Reading the harness's 16,000 files takes seconds. Ours come first: a pattern such as ``med*`` that fits some of them
    means those.

    Args:
        names: tasks, groups, tags, patterns and files.
        include_path: a further folder of tasks, which replace ours of the same name.
        metadata: of the tasks.

    Raises:
        UsageError: for a name that nobody knows, or that is nearly one of ours; the harness may have a task of that
            name, with other prompts and scores.
    """
    paths = list(map(str, task_folders()))
    if include_path:
        if not Path(include_path).is_dir():
            raise UsageError(f"--include_path {include_path}: there is no such folder")
        paths = list(dict.fromkeys([*paths, str(Path(include_path).resolve())]))
    manager = TaskManager(include_path=paths, include_defaults=False, metadata=metadata)
    unknown = [name for name in names if not _is_known(manager, name)]
    for name in unknown:
        benchmark = benchmarks().get(name)
        near = f" (did you mean {benchmark.default_task}?)" if benchmark else ""
        if near := near or did_you_mean(name.lower().replace("-", "_"), manager.all_tasks, _MISSPELT):
            raise _unknown(name, f"{near}; a task of the harness's by that name is run by lm_eval run --tasks {name}")
    defined_here = {"dataset_path", "custom_dataset", "class"}
    unknown += [
        settings["task"]
        for settings in configurations(manager, manager.match_tasks(list(names)))
        if settings["task"] not in manager.task_index and not settings.keys() & defined_here
    ]
    if unknown:
        logger.warning("Reading the harness's own task files too, for %s; this takes a while", ", ".join(unknown))
        manager = TaskManager(include_path=paths, metadata=metadata)
    for name in names:
        if not _is_known(manager, name):
            raise _unknown(name, did_you_mean(name, manager.all_tasks))
    return manager


def _unknown(name: str, way_out: str) -> UsageError:
    lost = "".join(f"; {problem}" for problem in benchmarks().problems)
    return UsageError(f"--tasks: there is no task, group or tag {name}{way_out}; medtasks eval --help lists ours{lost}")


def _is_known(manager: TaskManager, name: str) -> bool:
    return bool(manager.match_tasks([name])) or name.endswith(".yaml") or Path(name).is_dir()


def listings() -> list[tuple[str, str]]:
    """All names, benchmark by benchmark, groups first and marked, with the comment that opens their file."""
    index = our_manager().task_index
    found = []
    for name, entry in index.items():
        members = sorted(entry.tags or ())
        file = entry.yaml_path or index[members[0]].yaml_path
        first = file.read_text(encoding="utf-8").partition("\n")[0]
        said = first.partition("#")[2].strip() if entry.yaml_path else f"the same as {', '.join(members)}"
        is_group = entry.kind.name == "GROUP"
        found.append((file.parent != tasks_path(), file.parent.name, not is_group, name + " *" * is_group, said))
    return [(name, said) for *_, name, said in sorted(found)]


def configurations(
    manager: TaskManager, members: Iterable[str | Configuration], overrides: Mapping[str, Any] | None = None
) -> Iterator[Configuration]:
    """The YAML of every task that the members stand for, with what the groups on the way there set.

    Members are names of tasks, groups and tags, or entries of a group's list; of a task that the manager does not know,
    the name is all there is. ``overrides`` replace the tasks' own settings.
    """
    for member in members:
        own = member if isinstance(member, dict) else {"task": member}
        given = {**(overrides or {}), **{key: value for key, value in own.items() if key not in ("task", "group")}}
        name = own.get("group") or own.get("task")
        entry = manager.task_index.get(name) if isinstance(name, str) else None
        if entry is None and isinstance(own.get("task"), list):
            yield from configurations(manager, own["task"], given)
        elif entry is None:
            yield {**given, "task": str(name)}
        elif entry.kind.name == "TAG":
            yield from configurations(manager, sorted(entry.tags), given)
        elif entry.kind.name == "GROUP":
            yield from configurations(manager, entry.cfg["task"], given)
        else:
            yield {**(entry.cfg or {}), **given}
