"""What keeps a worker in: namespaces, Landlock, seccomp, limits; each is on only if an attempt that it must stop fails.

Nothing here raises where a kernel lacks something: a layer is off then, with a reason. A layer that was on and fails
in a worker ends that worker.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import resource
import socket
import sys
from collections.abc import Callable
from pathlib import Path

from . import filters, root
from .system import die_with_parent, give_up_privileges, open_process

_LINUX = sys.platform == "linux"
_NOTHING_OF = "CORE FSIZE NPROC MEMLOCK MSGQUEUE SIGPENDING"


class Confinement:
    """The layers of a worker.

    Args:
        folder: the folder with the libraries.
        entries: what of it code may read.
        witness: a file of the machine's that code must not read.
        memory_mb: megabytes that code may add.
        off: layers to leave out, for tests.
        anyway: whether plain Python runs even so, for tests.

    Attributes:
        layers: by name, why a layer is off, or an empty string.
        missing: what has to be on for plain Python, and is not: seccomp; limits; one of namespaces and Landlock.
    """

    def __init__(
        self, *, folder: str, entries: list[root.Entry], witness: str, memory_mb: int, off: list[str], anyway: bool
    ) -> None:
        self._folder, self._entries, self._memory = folder, entries, memory_mb << 20
        self._filters: list[Callable[[], object]] = []

        tried: dict[str, tuple[Callable[[], object], ...]] = {  # by name: the layer, and what it must stop
            "namespaces": (
                self._enter,
                lambda: os.open(witness, os.O_RDONLY),
                lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("127.0.0.1", 9)),
            ),
            "landlock": (
                lambda: _alone(self._landlock()),
                lambda: os.open(witness, os.O_RDONLY),
                lambda: os.open(folder, os.O_TMPFILE | os.O_WRONLY),
            ),
            "seccomp": (lambda: _alone(filters.seccomp()), socket.socket, lambda: os.kill(os.getpid(), 0), os.fork),
            "limits": (_small_limits, lambda: mmap.mmap(-1, 512 << 20)),
        }
        self.layers = {
            name: "switched off" if name in off else _reason(*attempt) if _LINUX else "only on Linux"
            for name, attempt in tried.items()
        }
        either = ["namespaces", "landlock"]
        needed = ["seccomp", "limits", *(either if all(self.layers[name] for name in either) else [])]
        self.missing = [] if anyway else [name for name in needed if self.layers[name]]

    def _enter(self) -> None:
        root.enter_namespaces()
        root.enter_root(self._folder, self._entries)

    def _landlock(self) -> Callable[[], object]:
        return filters.landlock([self._folder, *(inside for inside, _ in self._entries)])

    def enter_namespaces(self) -> None:
        """For the process that starts the one that forks."""
        if not self.layers["namespaces"]:
            root.enter_namespaces()

    def confine_zygote(self) -> None:
        """For the process that forks, once it has imported everything: a root with nothing but the libraries."""
        if not self.layers["limits"]:
            memory = _address_space() + self._memory
            self._filters.append(lambda: _limit(memory))
        if not self.layers["seccomp"]:
            self._filters.append(filters.seccomp())
        if not self.layers["namespaces"]:
            root.enter_root(self._folder, self._entries)
        if not self.layers["landlock"]:
            self._filters.insert(0, self._landlock())
        if _LINUX:
            _become_nobody(self._entries[0][0])
            give_up_privileges()
            die_with_parent()
        self._entries.clear()  # where they are outside is no worker's business

    def confine_worker(self) -> None:
        """For a worker, for good."""
        if _LINUX:
            die_with_parent()
        for apply in self._filters:
            apply()


def _alone(apply: Callable[[], object]) -> None:
    give_up_privileges()
    apply()


def _small_limits() -> None:
    os.close(open_process(os.getpid()))  # by the like, the run stops and ends a worker
    _limit(_address_space() + (256 << 20))


def _reason(layer: Callable[[], object], *attempts: Callable[[], object]) -> str:
    """Why a layer is off, or an empty string: a process made for that puts it on, and tries what it must stop."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            layer()
            os.write(writing, b" " if all(map(_fails, attempts)) else b"it has no effect")
        except Exception as error:  # a library or kernel without it
            os.write(writing, (str(error) or type(error).__name__).encode()[:500])
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, encoding="utf-8", errors="replace") as source:
        said = source.read() or "it ended a process"
    os.waitpid(child, 0)
    return said.strip()


def _fails(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except OSError:
        return True
    return False


def _limit(memory: int) -> None:
    os.nice(5)
    for name, value in {**dict.fromkeys(_NOTHING_OF.split(), 0), "NOFILE": 64, "AS": memory}.items():
        with contextlib.suppress(ValueError):  # the limit that this process was given is lower still
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))


def _address_space() -> int:
    """Bytes of address space that this process has taken."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * mmap.PAGESIZE


def _become_nobody(needed: str) -> None:
    """From root to nobody, unless that user cannot read what is needed."""
    nobody = root.NOBODY
    with contextlib.suppress(OSError):  # it is not root
        os.setgroups([])
        os.setresgid(nobody, nobody, nobody)
        os.setresuid(nobody, nobody, 0)
        user = nobody if os.path.exists(needed) else 0
        os.setresuid(user, user, user)
