"""How much there is room for: descriptors, processes of the user, memory of the machine or a control group."""

import resource
import sys
from contextlib import suppress
from pathlib import Path

_GROUPS = Path("/sys/fs/cgroup")
_FILES = {"": ("memory.max", "anon"), "memory": ("memory.limit_in_bytes", "total_rss")}
"""By controller (none in version 2): the file with a group's limit, and how its statistics call what it holds."""


def sessions(most: int) -> int:
    """How many live sessions, up to ``most``, leave half of the descriptors and of the user's processes to others.

    The limit on open files is raised as far as they need and it can be.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = max(soft, min(hard, 4 * most))  # each takes two
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    processes, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    return max(1, min(most, files // 4, most if processes < 0 else processes // 2))


def is_memory_short(wanted: int) -> bool:
    """Whether less is left than wanted, and than an eighth of all.

    Args:
        wanted: bytes, of the machine or of a control group that this process is in.
    """
    if sys.platform != "linux":
        return False
    found = _numbers(Path("/proc/meminfo"))
    rooms = [(found["MemAvailable:"] << 10, found["MemTotal:"] << 10)]
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controller, path = line.split(":", 2)
        limit, held = _FILES.get(controller, ("", ""))
        inner = Path(_GROUPS, controller, path.lstrip("/"))
        for group in (inner, *inner.parents):
            with suppress(OSError, ValueError):  # no group, or without a limit
                total = int((group / limit).read_text())
                rooms.append((total - _numbers(group / "memory.stat")[held], total))
    return any(left < min(wanted, total // 8) for left, total in rooms)


def _numbers(file: Path) -> dict[str, int]:
    return {name: int(value) for name, value, *_ in map(str.split, file.read_text().splitlines())}
