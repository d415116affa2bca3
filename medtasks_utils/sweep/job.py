"""A job's folder, and how it ended.

The folder holds ``log.txt``, what ``medtasks eval`` writes, its answers so far among it, and ``job.json`` (how its last
process ended). A job is done when that ended with 0.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from medtasks_utils.sweep.plan import Job

LOST = -1000
"""In place of an exit code: the node is gone, or its worker."""

_SHOWN = 8  # lines


def is_done(job: Job) -> bool:
    """Whether its last process ended well."""
    with suppress(OSError):
        return bool(json.loads((job.folder / "job.json").read_text(encoding="utf-8"))["code"] == 0)
    return False


def last_lines(folder: Path) -> str:
    """The end of its log."""
    with suppress(OSError):
        lines = (folder / "log.txt").read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join([line for line in lines if line.strip()][-_SHOWN:])
    return ""
