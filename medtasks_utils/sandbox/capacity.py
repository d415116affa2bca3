"""How much there is room for: descriptors, processes of the user, memory of the machine or a control group."""

from __future__ import annotations

import contextlib
import resource
from pathlib import Path

_GROUPS = Path("/sys/fs/cgroup")
_FILES = {"": ("memory.max", "anon"), "memory": ("memory.limit_in_bytes", "total_rss")}
"""By controller (none in version 2): the file with a group's limit, and how its statistics call what it holds."""


def sessions(most: int) -> int:
    """How many live sessions, up to ``most``, leave half of the descriptors and of the user's processes to others.

    The limit on open files is raised as far as they need and it can be.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4 * most if hard < 0 else min(4 * most, hard)  # each takes two
    if 0 <= soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 4, resource.getrlimit(resource.RLIMIT_NPROC)[0] // 2
    return max(1, min(most, *(limit for limit in limits if limit >= 0)))


def is_memory_short(wanted: int) -> bool:
    """Whether less is left than wanted, and than an eighth of all.

    Args:
        wanted: bytes, of the machine or of a control group that this process is in.
    """
    found = _numbers(Path("/proc/meminfo"))
    rooms = [(found["MemAvailable:"] << 10, found["MemTotal:"] << 10)]
    for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        _, controller, path = line.split(":", 2)
        if controller in _FILES:
            limit, held = _FILES[controller]
            inner = Path(_GROUPS, controller, path.lstrip("/"))
            for group in (inner, *inner.parents):
                with contextlib.suppress(OSError, ValueError):  # no group, or without a limit
                    total = int((group / limit).read_text(encoding="ascii"))
                    rooms.append((total - _numbers(group / "memory.stat")[held], total))
    return any(left < min(wanted, total // 8) for left, total in rooms)


def _numbers(file: Path) -> dict[str, int]:
    return {name: int(value) for name, value, *_ in map(str.split, file.read_text(encoding="ascii").splitlines())}
