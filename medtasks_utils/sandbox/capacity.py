"""Determine how many processes and how much memory the machine can spare.

The limits that count are those on open files, on the user's processes, and on the memory of control groups.
"""

import resource
import sys
from contextlib import suppress
from pathlib import Path

_CGROUPS = Path("/sys/fs/cgroup")
_CGROUP_FILES = {"": ("memory.max", "anon"), "memory": ("memory.limit_in_bytes", "total_rss")}
"""By controller ("" for cgroup version 2): the file with the memory limit, and the key of the usage in memory.stat."""


def most_sessions(wanted: int) -> int:
    """Return how many sessions may have a process at the same time, at most ``wanted``.

    Sessions use at most half of the open files and half of the processes that the user is allowed. The soft limit on
    open files is raised as far as necessary and permitted.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = max(soft, min(hard, 4 * wanted))  # a session needs two
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    processes, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    return max(1, min(wanted, files // 4, wanted if processes < 0 else processes // 2))


def is_memory_short(wanted: int) -> bool:
    """Return True if free memory is below both ``wanted`` and an eighth of the total.

    The whole machine is checked, and every control group that this process belongs to.

    Args:
        wanted: the memory needed, in bytes.
    """
    if sys.platform != "linux":
        return False
    machine = _numbers(Path("/proc/meminfo"))
    free_and_total = [(machine["MemAvailable:"] << 10, machine["MemTotal:"] << 10)]
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controller, path = line.split(":", 2)
        limit_file, used_key = _CGROUP_FILES.get(controller, ("", ""))
        innermost = Path(_CGROUPS, controller, path.lstrip("/"))
        for group in (innermost, *innermost.parents):
            with suppress(OSError, ValueError):  # not a control group, or one without a limit
                total = int((group / limit_file).read_text())
                free_and_total.append((total - _numbers(group / "memory.stat")[used_key], total))
    return any(free < min(wanted, total // 8) for free, total in free_and_total)


def _numbers(file: Path) -> dict[str, int]:
    """Parse a file with lines such as ``MemTotal: 123 kB`` into numbers by name."""
    return {name: int(value) for name, value, *_ in map(str.split, file.read_text().splitlines())}
