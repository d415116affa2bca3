"""The harness's index of tasks, read without building any."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from lm_eval.tasks import TaskManager


class IndexEntry(NamedTuple):
    """A name that the harness has indexed, and its kind: ``TASK``, ``GROUP``, ``TAG``, or another of the harness's.

    ``settings`` are what its ``file`` sets, with what that includes; a tag has none, and stands for ``tasks``.
    """

    name: str
    kind: str
    file: Path | None
    settings: dict[str, Any]
    tasks: tuple[str, ...]


def index_of(manager: TaskManager) -> dict[str, IndexEntry]:
    """What a task manager has indexed (``TaskManager.task_index``), without building any task.

    Without this, ``medtasks eval`` could not check options before a model is loaded, nor list the tasks.
    """
    return {
        name: IndexEntry(name, entry.kind.name, entry.yaml_path, entry.cfg or {}, tuple(sorted(entry.tags or ())))
        for name, entry in manager.task_index.items()
    }
