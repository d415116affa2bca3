"""Find the tasks of this package and of the user. lm_eval's own 14,000 task files are read only if necessary."""

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from fnmatch import fnmatch
from pathlib import Path

from yaml import YAMLError

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.yaml_tasks import place_of, task_folders
from medtasks_utils.errors import DataError, UsageError, did_you_mean, logger, reason_of
from medtasks_utils.writing import JsonObject, Settings, one_line

from .lm_eval_names import TaskManager, load_yaml

_MISSPELT = 0.8
"""Minimum similarity, 0 to 1, at which a name counts as a misspelling of one of ours; lm_eval's names are below
0.75."""


def manager_for(
    names: Sequence[str] = (), include_path: str | None = None, metadata: Settings | None = None
) -> TaskManager:
    """Return a task manager that knows our tasks, those in ``include_path`` and, if necessary, lm_eval's own.

    Our tasks are those of this package and of benchmarks in other distributions.

    lm_eval's 14,000 files, which take seconds to read, are read only if a name is not one of ours. A pattern such as
    ``med*`` that matches some of our tasks matches only ours.

    Args:
        names: the requested tasks, groups, tags, patterns and files.
        include_path: an additional folder of tasks, which replace our tasks of the same name.
        metadata: the metadata with which tasks are loaded.

    Raises:
        UsageError: if ``include_path`` is not a folder, for an unknown name, and for a name similar to one of ours,
            since lm_eval may have a different task of that name.
        DataError: for a task file that cannot be read.
    """
    paths = task_folders()
    if include_path:
        folder = Path(include_path).resolve()
        if not folder.is_dir():
            raise UsageError(f"--include_path {include_path}: no such folder")
        paths = list(dict.fromkeys([*paths, folder]))
        logging.getLogger("lm_eval.tasks._index").addFilter(lambda record: "from None" not in record.getMessage())
    manager = TaskManager(include_path=paths, include_defaults=False, metadata=metadata)
    tasks = list(_members(manager, manager.match_tasks(names)))
    if include_path:
        _check_files(folder, [*names, *tasks])
        # A variant inherits the tag of the task that it includes, but the tag still stands for our tasks only.
        ours = manager_for().task_index
        manager.task_index.update({name: entry for name, entry in ours.items() if entry.kind.name == "TAG"})
    unknown = [name for name in names if not _is_known(manager, name)]
    meant = {"all": "medtasks", **{benchmark.name: benchmark.tasks.default for benchmark in benchmarks().usable()}}
    for name in unknown:
        closest = get_close_matches(name.lower().replace("-", "_"), [*meant, *manager.all_tasks], 1, _MISSPELT)
        if closest:
            hint = f" (did you mean {meant.get(closest[0], closest[0])}?)"
            raise _unknown(name, f"{hint}; for a task of lm_eval itself, use lm_eval run")
    unknown += [name for name in tasks if name not in manager.task_index]
    if unknown:
        logger.warning("Reading lm_eval's own task files to find %s; this takes a while", ", ".join(unknown))
        manager = TaskManager(include_path=paths, metadata=metadata)
    for name in names:
        if not _is_known(manager, name):
            raise _unknown(name, did_you_mean(name, manager.all_tasks))
    return manager


def make_tasks(manager: TaskManager, names: Sequence[str]) -> JsonObject:
    """Build the tasks, and return them by name; files among the names are left out.

    A task that occurs more than once, directly or in groups, is returned once. Unless a file or folder is named,
    ``manager.load`` returns these objects from then on, so that lm_eval uses them.

    Raises:
        UsageError: if two names define the same task differently.
    """
    made: JsonObject = {"tasks": {}, "groups": {}, "group_map": {}}
    for name in manager.match_tasks(names):
        loaded = manager.load([name])
        for task in made["tasks"].keys() & loaded["tasks"].keys():
            if made["tasks"][task].dump_config() != loaded["tasks"][task].dump_config():
                raise UsageError(
                    f"--tasks: {name} sets up {task} differently from the names before it: run it separately"
                )
        for kind, members in loaded.items():
            made[kind] |= members
    if all(manager.match_tasks([name]) for name in names):  # other names are files
        vars(manager)["load"] = lambda tasks: made
    return made["tasks"]  # type: ignore[no-any-return]


def _unknown(name: str, hint: str) -> UsageError:
    # A benchmark that could not be loaded may define the name.
    problems = "".join(f"; {problem}" for problem in benchmarks().problems)
    return UsageError(f"there is no task, group or tag {name}{hint}; medtasks eval --help lists ours{problems}")


def _check_files(folder: Path, names: Sequence[str]) -> None:
    """Check that the files that define the named tasks and groups can be read; lm_eval silently skips unreadable files.

    Raises:
        DataError: for the first file that cannot be read; the message names the file and line.
    """
    for path in sorted(folder.rglob("*.yaml")):
        defined = re.search(r"^(?:task|group):\s*['\"]?([^\s'\"]+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        if not defined or not any(fnmatch(defined[1], name) for name in names):
            continue
        try:
            load_yaml(path)
        except YAMLError as error:
            raise DataError(f"{path} cannot be read: {one_line(str(error))}") from None
        except Exception as error:  # modules with functions may raise anything
            function = re.search("function '(.+?)'", str(error))
            place = place_of(path, f".*!function .*{function[1]}" if function else "include")
            raise DataError(f"{place}: {reason_of(error)}") from None


def _is_known(manager: TaskManager, name: str) -> bool:
    return bool(manager.match_tasks([name])) or name.endswith(".yaml") or Path(name).is_dir()


def _members(manager: TaskManager, members: Iterable[str | JsonObject]) -> Iterator[str]:
    """Yield the names of all tasks in the given tasks, groups and tags, except tasks defined inside a group.

    A name that the manager lacks is yielded as it is.

    Args:
        manager: the task manager; it may lack some of the names.
        members: names of tasks, groups and tags, or entries in the list of a group.
    """
    for member in members:
        entry = member if isinstance(member, dict) else {"task": member}
        name = entry.get("group") or entry.get("task")
        indexed = manager.task_index.get(name) if isinstance(name, str) else None
        if indexed is None and isinstance(entry.get("task"), list):
            yield from _members(manager, entry["task"])
        elif indexed is None:
            if not entry.keys() & {"dataset_path", "custom_dataset", "class"}:
                yield str(name)
        elif indexed.kind.name == "TAG":
            yield from indexed.tags
        elif indexed.kind.name == "GROUP":
            yield from _members(manager, indexed.cfg["task"])
        else:
            yield str(name)
