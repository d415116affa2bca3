"""What keeps a worker in: namespaces, Landlock, seccomp, limits; each is on only if an attempt that it must stop fails.

Nothing here raises where a kernel lacks something: a layer is off then, with a reason. A layer that was on and fails
in a worker ends that worker.
"""

import mmap
import os
import resource
import socket
import sys
from contextlib import suppress
from pathlib import Path

from . import filters, root
from .filters import Layer
from .system import die_with_parent, give_up_privileges, open_process

_WITNESS = "/proc/self/status"  # a file that code must not read
_LINUX = sys.platform == "linux"
_EITHER = {"namespaces", "landlock"}  # of these, one will do
_NOTHING_OF = "CORE FSIZE NPROC MEMLOCK MSGQUEUE SIGPENDING"


class Confinement:
    """The layers of a worker.

    Args:
        folder: the folder with the libraries.
        entries: what of it code may read.
        memory_mb: megabytes that code may add.
        off: layers to leave out, for tests.
        anyway: whether plain Python runs even so, for tests.

    Attributes:
        layers: by name, why a layer is off, or an empty string.
        filters: what puts a worker under them for good, to be called in their order there.
        missing: what has to be on for plain Python, and is not: seccomp; limits; one of namespaces and Landlock.
    """

    def __init__(self, *, folder: str, entries: list[root.Entry], memory_mb: int, off: list[str], anyway: bool) -> None:
        self._folder, self._entries, self._memory = folder, entries, memory_mb << 20
        self.filters: list[Layer] = [die_with_parent] if _LINUX else []

        tried: dict[str, tuple[list[Layer], list[Layer]]] = {  # by name: how it is put on, and what it must stop
            "namespaces": (
                [root.enter_namespaces, lambda: root.enter_root(folder, entries)],
                [lambda: os.open(_WITNESS, os.O_RDONLY)],
            ),
            "landlock": (
                [give_up_privileges, lambda: self._landlock()()],
                [lambda: os.open(_WITNESS, os.O_RDONLY), lambda: os.open(folder, os.O_TMPFILE | os.O_WRONLY)],
            ),
            "seccomp": ([give_up_privileges, lambda: filters.seccomp()()], [socket.socket, os.fork]),
            "limits": (  # among them the means by which the run stops and ends a worker
                [lambda: open_process(os.getpid()), lambda: _limit(_address_space() + (256 << 20))],
                [lambda: mmap.mmap(-1, 512 << 20)],
            ),
        }
        self.layers = {
            name: "switched off" if name in off else _reason(*attempt) if _LINUX else "only on Linux"
            for name, attempt in tried.items()
        }
        lacking = {name for name, reason in self.layers.items() if reason}
        self.missing = sorted(set() if anyway else lacking if lacking >= _EITHER else lacking - _EITHER)

    def _landlock(self) -> Layer:
        return filters.landlock([self._folder, *(inside for inside, _ in self._entries)])

    def enter_namespaces(self) -> None:
        """For the process that starts the one that forks."""
        if not self.layers["namespaces"]:
            root.enter_namespaces()

    def confine_zygote(self) -> None:
        """For the process that forks, once it has imported everything: a root with nothing but the libraries."""
        if not self.layers["limits"]:
            memory = _address_space() + self._memory
            self.filters.append(lambda: _limit(memory))
        if not self.layers["seccomp"]:
            self.filters.append(filters.seccomp())
        if not self.layers["namespaces"]:
            root.enter_root(self._folder, self._entries)
        if not self.layers["landlock"]:
            self.filters.insert(0, self._landlock())
        if _LINUX:
            with suppress(OSError):  # it is not root
                os.setgroups([])
                os.setresgid(*[root.NOBODY] * 3)
                os.setresuid(root.NOBODY, root.NOBODY, 0)
                is_enough = os.path.exists(self._entries[0][0])  # for it to read the libraries
                os.setresuid(*[root.NOBODY if is_enough else 0] * 3)
            give_up_privileges()
            die_with_parent()
        self._entries.clear()  # where they are outside is no worker's business


def _reason(steps: list[Layer], attempts: list[Layer]) -> str:
    """Why a layer is off, or an empty string: a process made for that puts it on, and tries what it must stop."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            for step in steps:
                step()
            for attempt in attempts:
                with suppress(OSError):
                    attempt()
                    raise RuntimeError("it has no effect")
            os.write(writing, b" ")
        except Exception as error:  # a library or kernel without it
            os.write(writing, str(error).encode())
        finally:
            os._exit(0)
    os.close(writing)
    said = os.read(reading, 999).decode(errors="replace") or "it ended a process"
    os.close(reading)
    os.waitpid(child, 0)
    return said.strip()


def _limit(memory: int) -> None:
    os.nice(5)
    for name, value in {**dict.fromkeys(_NOTHING_OF.split(), 0), "NOFILE": 64, "AS": memory}.items():
        with suppress(ValueError):  # the limit that this process was given is lower still
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))


def _address_space() -> int:
    """Bytes of address space that this process has taken."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * mmap.PAGESIZE
