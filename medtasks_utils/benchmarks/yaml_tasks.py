"""What the pack's YAML says of its tasks, read without the harness."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from . import benchmarks
from .registered import OWN

PACKAGE = Path(__file__).parents[1]


def tasks_path() -> Path:
    """Return the folder with the tasks' YAML. In a checkout, ``medtasks_utils/tasks`` is a link to it."""
    return (PACKAGE / "tasks").resolve()


def task_folders() -> list[Path]:
    """The folders with the YAML of all benchmarks: this package's, and those that other distributions name."""
    others = [benchmark.tasks for benchmark in benchmarks().usable(leave_out=OWN) if benchmark.tasks]
    return [tasks_path(), *others]


@cache
def tasks_named(name: str) -> list[dict[str, Any]]:
    """The settings of the tasks that the name of a task, tag, group or benchmark stands for; empty for any other."""
    every = [_settings(path) for folder in task_folders() for path in sorted(folder.rglob("[!_]*.yaml"))]
    known = {settings.get("group") or settings["task"]: settings for settings in every}
    if name in benchmarks() and name not in known:
        name = benchmarks()[name].default_task
    found = known.get(name)
    if found is None:
        return [settings for settings in known.values() if name == settings.get("tag")]
    if "group" not in found:
        return [found]
    members = [member["task"] if isinstance(member, dict) else member for member in found["task"]]
    return [settings for member in members for settings in tasks_named(member)]


@cache
def _settings(path: Path) -> dict[str, Any]:
    """Return what a file sets, over what it includes: one file or a list, of which the later ones win."""
    own: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), _Loader)
    named = own.pop("include", [])
    settings: dict[str, Any] = {}
    for included in named if isinstance(named, list) else [named]:
        settings |= _settings(path.parent / included)
    return settings | own


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML in which ``!function`` is a text."""


_Loader.add_constructor("!function", lambda loader, node: str(node.value))
