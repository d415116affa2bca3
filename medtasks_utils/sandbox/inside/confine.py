"""What keeps a worker in: namespaces, Landlock, seccomp, limits; each is on only if an attempt that it must stop fails.

Nothing here raises where a kernel lacks something: a layer is off then, with a reason. A layer that was on and fails
in a worker ends that worker.
"""

from __future__ import annotations

import contextlib
import math
import mmap
import os
import resource
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from . import filters, root
from .system import DUMPABLE, LINUX, die_with_parent, drop_capabilities, prctl

DESCRIPTORS = 64
"""Files that a worker may have open."""

CALLS_OF_CPU = 100
"""Calls' worth of CPU time that a worker has in all, where the run may not set a limit for each call."""

_NO_EFFECT = 255
_MEGABYTE = 1 << 20


@dataclass
class Settings:
    """What the run asks for.

    Attributes:
        timeout: seconds for a call.
        memory_mb: megabytes that code may add.
        off: layers to leave out.
        weak: whether RestrictedPython will do where something is missing.
        anyway: whether plain Python runs even so, for tests.
        folder: the folder with the libraries.
        entries: what of it code may read.
        witness: a file of the machine's that code must not read.
    """

    timeout: float
    memory_mb: int
    off: list[str]
    weak: bool
    anyway: bool
    folder: str
    entries: list[root.Entry]
    witness: str


class Confinement:
    """The layers of a worker.

    Attributes:
        layers: by name, why a layer is off, or an empty string.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._run = os.getpid()
        self._filters: dict[str, Callable[[], None]] = {}
        self._address_space = resource.RLIM_INFINITY
        self._nursery: root.Nursery | None = None
        self.layers: dict[str, str] = {}
        self.layers["namespaces"] = self._tried("namespaces", self._namespaces_hold)
        self.layers["landlock"] = self._tried("landlock", self._landlock_holds)
        self.layers["seccomp"] = self._tried("seccomp", self._seccomp_holds)
        self.layers["limits"] = self._tried("limits", self._limits_hold)

    @property
    def missing(self) -> list[str]:
        """What has to be on for plain Python, and is not: seccomp; limits; one of namespaces and Landlock."""
        found = [name for name in ("seccomp", "limits") if self.layers[name]]
        if self.layers["namespaces"] and self.layers["landlock"]:
            found += ["namespaces", "landlock"]
        return [] if self._settings.anyway else found

    def enter_namespaces(self) -> None:
        """For the process that starts the one that forks."""
        if not self.layers["namespaces"]:
            root.enter_namespaces()

    def confine_zygote(self) -> None:
        """For the process that forks, once it has imported everything: a root with nothing but the libraries."""
        if not self.layers["limits"]:
            self._address_space = address_space() + (self._settings.memory_mb << 20)
        if not self.layers["seccomp"]:
            self._filters["seccomp"] = filters.seccomp()
        if not self.layers["namespaces"]:
            self._nursery = root.Nursery()
            root.enter_root(self._settings.folder, self._settings.entries)
        if not self.layers["landlock"]:
            self._filters["landlock"] = self._landlock()
        inside = [path for path, _ in self._settings.entries]
        self._settings.entries[:] = zip(inside, inside, strict=True)  # where they are outside is no worker's business
        self._settings.witness = ""

    def prepare_fork(self) -> None:
        """For the process that forks, before each worker."""
        if self._nursery is not None:
            self._nursery.prepare()

    def confine_worker(self, zygote: int) -> None:
        """For a worker, for good."""
        become_nobody(self._settings.entries[0][0])
        if self._nursery:
            root.leave_keyrings()
        if LINUX:
            drop_capabilities()
            prctl(DUMPABLE, 0)  # no other process may look into its memory
        die_with_parent(None if self._nursery else zygote)  # after the change of user, which would undo it
        if "landlock" in self._filters:
            self._filters["landlock"]()
        if not self.layers["limits"]:
            self._limit(self._address_space)
        if "seccomp" in self._filters:
            self._filters["seccomp"]()

    def _limit(self, memory: int) -> None:
        os.nice(5)
        cpu = math.ceil(CALLS_OF_CPU * (self._settings.timeout + 1))
        for name, value in {
            "RLIMIT_CORE": 0,
            "RLIMIT_FSIZE": 0,
            "RLIMIT_NPROC": 0,
            "RLIMIT_MEMLOCK": 0,
            "RLIMIT_MSGQUEUE": 0,
            "RLIMIT_SIGPENDING": 64,
            "RLIMIT_NOFILE": DESCRIPTORS,
            "RLIMIT_AS": memory,
            "RLIMIT_CPU": cpu,
        }.items():
            with contextlib.suppress(AttributeError, ValueError, OSError):  # not every system has or takes every one
                resource.setrlimit(getattr(resource, name), (value, value))

    # ---- each layer tried

    def _tried(self, name: str, holds: Callable[[], bool]) -> str:
        """Why a layer is off, or an empty string; it is put on a child that then tries what the layer must stop."""
        if name in self._settings.off:
            return "switched off"
        if not LINUX and name != "limits":
            return "only on Linux"
        return _in_a_child(holds)

    def _namespaces_hold(self) -> bool:
        root.enter_namespaces()

        def inside() -> bool:
            nursery = root.Nursery()
            root.enter_root(self._settings.folder, self._settings.entries)
            nursery.prepare()
            return root.holds(self._settings.witness, self._run)

        reason = _in_a_child(inside)
        if reason and reason != NO_EFFECT:
            raise RuntimeError(reason)
        return not reason

    def _landlock(self) -> Callable[[], None]:
        inside = [path for path, _ in self._settings.entries]
        folders = {os.path.dirname(path) for path in inside if path.startswith(self._settings.folder)}
        return filters.landlock(inside, folders)

    def _landlock_holds(self) -> bool:
        self._landlock()()
        os.close(os.open(self._settings.entries[0][1], os.O_RDONLY))
        return _refused(lambda: os.open(self._settings.witness, os.O_RDONLY)) and _refused(
            lambda: os.rmdir(_made(self._settings.witness + ".tried"))
        )

    def _seccomp_holds(self) -> bool:
        filters.seccomp()()
        return _refused(socket.socket) and _refused(lambda: os.kill(os.getpid(), 0)) and _refused(os.fork)

    def _limits_hold(self) -> bool:
        self._limit(address_space() + 64 * _MEGABYTE)
        mmap.mmap(-1, 32 * _MEGABYTE).close()
        return _refused(lambda: mmap.mmap(-1, 65 * _MEGABYTE))


NO_EFFECT = "it has no effect"


def _made(folder: str) -> str:
    os.mkdir(folder)
    return folder


def _refused(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except OSError:
        return True
    return False


def _in_a_child(holds: Callable[[], bool]) -> str:
    """An empty string if it holds in a process made for the purpose, else why not."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        reason = "it ended a process"
        try:
            reason = "" if holds() else NO_EFFECT
        except Exception as error:  # a library or kernel without it
            reason = str(error) or type(error).__name__
        finally:
            os.write(writing, b"=" + reason.encode()[:500])
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as source:
        said = source.read().decode("utf-8", "replace")
    os.waitpid(child, 0)
    return said[1:] if said.startswith("=") else "it ended a process"


def address_space() -> int:
    """Bytes of address space that this process has taken, to within a megabyte, by what limit it is still given more.

    Needs no ``/proc``. Asked of a child, which has as much, and for which a limit too low does no harm.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, str(_least_limit()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as source:
        said = source.read()
    os.waitpid(child, 0)
    return int(said or 0)


def _least_limit() -> int:
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    low, high = 0, 1 << 47 if hard == resource.RLIM_INFINITY else hard
    while high - low > _MEGABYTE:
        middle = (low + high) // 2
        resource.setrlimit(resource.RLIMIT_AS, (middle, hard))
        try:
            mmap.mmap(-1, mmap.PAGESIZE).close()
            high = middle
        except OSError:
            low = middle
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    return high


def become_nobody(needed: str) -> None:
    """From root to nobody, unless that user cannot read what is needed."""
    if os.geteuid() != 0:
        return
    with contextlib.suppress(OSError):
        os.setgroups([])
        os.setresgid(root.NOBODY, root.NOBODY, root.NOBODY)
        os.setresuid(root.NOBODY, root.NOBODY, 0)
        users: Sequence[int] = (root.NOBODY,) * 3
        if _refused(lambda: os.stat(needed)):
            users = (0, 0, 0)
        os.setresuid(-1, 0, -1)
        os.setresuid(*users)
