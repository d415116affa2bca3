"""The run that tasks are part of, and what is kept of it when it fails."""

from __future__ import annotations

import json
import tempfile
import time
import uuid
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from medtasks_utils.errors import MedtasksError, ScoringError, logger

_CLIENTS = ("aiohttp", "requests", "urllib3")
"""HTTP clients of API models: what they raise is about the server, and no bug."""


class GeneratingTask(Protocol):
    """A task as its run sees it."""

    instances: Any
    task_name: str

    def kept(self, instance: Any) -> dict[str, Any]:
        """What is kept of a request's response."""


class Run:
    """The tasks that the harness generates for together: it builds the requests of all before it scores any."""

    def __init__(self) -> None:
        self._tasks: weakref.WeakSet[Any] = weakref.WeakSet()
        self.is_scoring = False

    def join(self, task: GeneratingTask) -> None:
        """Make a task part of this run; the first that joins after one was scored begins another."""
        if self.is_scoring:
            self._tasks.clear()
            self.is_scoring = False
        self._tasks.add(task)

    @contextmanager
    def generations_kept(self, name: str) -> Iterator[None]:
        """Let no failure of a task after generation cost the generations: write them to a file, and say where.

        Raises:
            ScoringError: in place of any other error.
        """
        try:
            yield
        except Exception as error:
            path = self._save_generations(name)
            away = type(error).__module__.partition(".")[0] in _CLIENTS
            cause = None if isinstance(error, MedtasksError) or away else error
            what = f"the server failed: {error or type(error).__name__}" if away else str(error)
            raise ScoringError(f"{name}: {what}; the generations are kept in {path}") from cause
        except KeyboardInterrupt:
            logger.warning("%s: interrupted; the generations are kept in %s", name, self._save_generations(name))
            raise

    def _save_generations(self, name: str) -> Path:
        """Write the responses of all tasks, since the ones still to be scored would be lost too.

        Where the working directory takes no file, the one for temporary files does.
        """
        file = f"medtasks_rescue_{name}_{time.strftime('%Y%m%dT%H%M%S')}_{uuid.uuid4().hex[:8]}.jsonl"
        try:
            return self._write_generations(Path(file))
        except OSError:
            return self._write_generations(Path(tempfile.gettempdir(), file))

    def _write_generations(self, path: Path) -> Path:
        with path.open("w", encoding="utf-8") as file:
            for task in self._tasks:
                for kept in map(task.kept, task.instances):
                    if kept["resps"]:
                        file.write(json.dumps({"task": task.task_name, **kept}, default=str) + "\n")
        return path.resolve()


this_run = Run()
