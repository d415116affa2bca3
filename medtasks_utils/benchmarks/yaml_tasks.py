"""Read the YAML files of tasks without the harness."""

import re
from functools import cache
from itertools import chain
from pathlib import Path

import yaml

from medtasks_utils.writing import JsonObject

from . import benchmarks
from .registered import OWN

PACKAGE = Path(__file__).parents[1]


def tasks_path() -> Path:
    """Return the folder with the tasks' YAML files, to which ``medtasks_utils/tasks`` is a link in a checkout."""
    return (PACKAGE / "tasks").resolve()


def task_folders() -> list[Path]:
    """Return the folders with YAML files of tasks: this package's, and those of other distributions' benchmarks."""
    external = (benchmark.tasks.folder for benchmark in benchmarks().usable(leave_out=OWN))
    return [tasks_path(), *filter(None, external)]


@cache
def tasks_named(name: str) -> list[JsonObject]:
    """Return the settings of the tasks behind a name, which may be that of a task, tag, group or benchmark.

    The name of a benchmark stands for its default task or group, unless a task or group has the same name. The list is
    empty for an unknown name.
    """
    known = {settings.get("group") or settings["task"]: settings for settings in map(_settings, _task_files())}
    if name in benchmarks() and name not in known:
        name = benchmarks()[name].tasks.default
    named = known.get(name)
    if named is None:
        return [settings for settings in known.values() if name == settings.get("tag")]
    if "group" not in named:
        return [named]
    members = [member["task"] if isinstance(member, dict) else member for member in named["task"]]
    return list(chain.from_iterable(map(tasks_named, members)))


def listings() -> list[tuple[str, str]]:
    """Return the name of each task, group and tag of a registered benchmark, with the comment at the top of its file.

    A group's name is followed by an asterisk. A tag has no file; in place of the comment, its task is named.
    """
    rows = []
    for path in _task_files():
        settings, first_line = _settings(path), path.read_text(encoding="utf-8").partition("\n")[0]
        name = f"{settings['group']} *" if "group" in settings else settings["task"]
        rows.append((name, first_line.removeprefix("#").strip()))
        if "tag" in settings:
            rows.append((settings["tag"], f"the same as {name}"))
    return rows


def _task_files() -> list[Path]:
    """Return the YAML files of tasks and groups, without those for inclusion, whose names begin with an underscore."""
    return list(chain.from_iterable(sorted(folder.rglob("[!_]*.yaml")) for folder in task_folders()))


@cache
def _settings(path: Path) -> JsonObject:
    """Load a file's settings, merged over those of its included files; later inclusions take precedence."""
    stated: JsonObject = yaml.load(path.read_text(encoding="utf-8"), _Loader)
    settings: JsonObject = {}
    for included in _included(path, stated):
        settings |= _settings(included)
    return settings | stated


def _included(path: Path, stated: JsonObject) -> list[Path]:
    """Remove the setting ``include`` from a file's settings, and return the files that it names."""
    named = stated.pop("include", [])
    return [path.parent / name for name in (named if isinstance(named, list) else [named])]


def place_of(path: Path, line: str) -> str:
    """Return the place of the first matching line in a file or its included files, as ``file:line``.

    Args:
        path: a YAML file.
        line: a regular expression that matches at the beginning of the line.

    Returns:
        The place; the file's path if no line matches.
    """
    text = path.read_text(encoding="utf-8")
    match = re.search(f"^{line}", text, re.MULTILINE)
    if match:
        return f"{path}:{text.count(chr(10), 0, match.start()) + 1}"
    places = [place_of(included, line) for included in _included(path, yaml.load(text, _Loader))]
    return next((place for place in places if not place.endswith(".yaml")), str(path))


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """A YAML loader that loads ``!function`` values as strings."""


_Loader.add_constructor("!function", lambda loader, node: str(node.value))
