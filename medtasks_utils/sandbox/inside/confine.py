"""Apply the layers that confine a worker: namespaces, Landlock, seccomp and limits.

Each layer is tested first, and is on only if it blocks what it should. A layer that the kernel lacks is off, with a
reason; this is not an error. If a layer that is on fails in a worker, the worker exits.
"""

import mmap
import os
import resource
import socket
import sys
from contextlib import suppress
from pathlib import Path

from . import kernel_filters, root
from .kernel_filters import Layer
from .system import die_with_parent, give_up_privileges, open_process

_FORBIDDEN_FILE = "/proc/self/status"  # code must not be able to read it
_LINUX = sys.platform == "linux"
_EITHER = {"namespaces", "landlock"}  # one of the two is enough
_ZERO_LIMITS = ("CORE", "FSIZE", "NPROC", "MEMLOCK", "MSGQUEUE", "SIGPENDING")


class Confinement:
    """The layers that confine a worker.

    Args:
        folder: the folder with the libraries.
        entries: the files and folders that code may read.
        memory_mb: memory in MiB that code may use in addition to the interpreter's own.
        off: layers to leave out, for tests.
        anyway: True to run plain Python even if layers are off, for tests.

    Attributes:
        layers: for each layer, the reason why it is off; an empty string if it is on.
        on: the names of the layers that are on.
        filters: functions that confine a worker irrevocably; the worker calls them in the order of the list.
        missing: names of the layers that are off although plain Python needs them. Plain Python needs seccomp, limits,
            and either namespaces or Landlock. Always empty with ``anyway``.
    """

    def __init__(self, *, folder: str, entries: list[root.Entry], memory_mb: int, off: list[str], anyway: bool) -> None:
        self._folder, self._entries, self._memory = folder, entries, memory_mb << 20
        self.filters: list[Layer] = [die_with_parent] if _LINUX else []

        def read_a_file() -> int:
            return os.open(_FORBIDDEN_FILE, os.O_RDONLY)

        experiments: dict[str, tuple[list[Layer], list[Layer]]] = {  # by layer: steps that apply it, and what it blocks
            "namespaces": ([root.enter_namespaces, lambda: root.enter_root(folder, entries)], [read_a_file]),
            "landlock": (
                [give_up_privileges, lambda: self._landlock()()],
                [read_a_file, lambda: os.open(folder, os.O_TMPFILE | os.O_WRONLY)],
            ),
            "seccomp": ([give_up_privileges, lambda: kernel_filters.seccomp()()], [socket.socket, os.fork]),
            "limits": (  # these include pidfds, which are used to pause and end a worker
                [lambda: open_process(os.getpid()), lambda: _limit(_address_space() + (256 << 20))],
                [lambda: mmap.mmap(-1, 512 << 20)],
            ),
        }
        self.layers = {
            name: "switched off" if name in off else _reason_off(steps, attempts)
            for name, (steps, attempts) in experiments.items()
        }
        self.on = {name for name, reason in self.layers.items() if not reason}
        needed = {"seccomp", "limits"} if self.on & _EITHER else {*self.layers}
        self.missing = [] if anyway else sorted(needed - self.on)

    def _landlock(self) -> Layer:
        return kernel_filters.landlock([self._folder, *(inside for inside, _ in self._entries)])

    def confine_zygote(self) -> None:
        """Confine the zygote, and prepare the workers' filters. Call this after the libraries are imported."""
        if "limits" in self.on:
            memory = _address_space() + self._memory
            self.filters.append(lambda: _limit(memory))
        if "seccomp" in self.on:
            self.filters.append(kernel_filters.seccomp())
        if "namespaces" in self.on:
            root.enter_root(self._folder, self._entries)
        if "landlock" in self.on:
            self.filters.insert(0, self._landlock())
        if _LINUX:
            with suppress(OSError):  # this process is not root
                os.setgroups([])
                os.setresgid(*[root.NOBODY] * 3)
                os.setresuid(root.NOBODY, root.NOBODY, 0)
                can_read = os.path.exists(self._entries[0][0])  # the user nobody may lack permission to read them
                os.setresuid(*[root.NOBODY if can_read else 0] * 3)
            give_up_privileges()
            die_with_parent()
        self._entries.clear()  # workers must not find the machine's paths in their memory


def _reason_off(steps: list[Layer], attempts: list[Layer]) -> str:
    """Return the reason why a layer does not work; an empty string if it works.

    Args:
        steps: functions that apply the layer. A child process calls them.
        attempts: functions that the child process then calls, and that must fail with an OSError.
    """
    if not _LINUX:
        return "only on Linux"
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
        except Exception as error:  # the kernel or a library lacks the layer
            os.write(writing, str(error).encode())
        finally:
            os._exit(0)
    os.close(writing)
    reason = os.read(reading, 999).decode(errors="replace") or "the process that tested it ended"
    os.close(reading)
    os.waitpid(child, 0)
    return reason.strip()


def _limit(memory: int) -> None:
    """Lower this process's priority, and limit its resources, including its address space to ``memory`` bytes."""
    os.nice(5)
    for name, value in {**dict.fromkeys(_ZERO_LIMITS, 0), "NOFILE": 64, "AS": memory}.items():
        with suppress(ValueError):  # the hard limit is lower
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))


def _address_space() -> int:
    """Return the size of this process's address space in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * mmap.PAGESIZE
