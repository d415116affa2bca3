"""What keeps a process in: resource limits, and on Linux namespaces, an empty root, Landlock and seccomp.

:func:`enter_namespaces` and :func:`give_up_privileges` confine the process that forks, once, after it has imported
everything; :class:`Confinement` has the rest. Nothing here raises where a kernel lacks something: a layer is off then,
with a reason. A layer that was on and fails in a child ends that child.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import math
import os
import resource
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Collection
from typing import Any

LINUX = sys.platform == "linux"
NOBODY = 65534

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 1, 4, 24, 38
_CLONE_NEWUSER = 0x10000000
_CLONE_NAMESPACES = 0x00020000 | 0x04000000 | 0x08000000 | 0x20000000 | 0x40000000  # mount, uts, ipc, pid, network
_CAPABILITY_VERSION_3 = 0x20080522
_PROT_EXEC = 4
_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 22, 2

# What computing needs once everything is imported; all else is refused. No call here opens, connects, starts or
# signals anything. Names that an architecture lacks are left out.
_SYSTEM_CALLS = """
read write close lseek fstat newfstatat poll ppoll select pselect6 brk munmap mremap madvise membarrier futex rseq
set_robust_list sched_yield sched_getaffinity clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time
times getrusage getrandom getpid gettid getuid geteuid getgid getegid rt_sigaction rt_sigprocmask rt_sigreturn
sigaltstack setitimer restart_syscall exit exit_group
"""


def _libc(function: str, *arguments: Any) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    ctypes.set_errno(0)
    if getattr(library, function)(*arguments) == -1:
        code = ctypes.get_errno()
        raise OSError(code, f"{function}: {os.strerror(code)}")


def _prctl(option: int, value: int) -> None:
    _libc("prctl", option, ctypes.c_ulong(value), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0))


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when the parent ends; where it cannot, a closed socket has to do."""
    if LINUX:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def address_space() -> int:
    """Bytes of address space in use; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def offer_to_the_oom_killer() -> None:
    """If memory runs out, the kernel takes these processes before the run, and the largest of them first."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("900")


def enter_namespaces() -> str:
    """New namespaces with an empty root for the processes forked from here on; the working directory becomes the root.

    Returns:
        Why not, or an empty string. The network has no interface, processes outside cannot be seen or signalled, and
        the root is the (deleted, hence empty and unwritable) working directory.
    """
    if not LINUX:
        return "only on Linux"
    try:
        try:
            _libc("unshare", _CLONE_NAMESPACES)
        except OSError:
            _libc("unshare", _CLONE_NAMESPACES | _CLONE_NEWUSER)
        os.chroot(".")
        os.chdir("/")
    except OSError as error:
        return str(error)
    return ""


def give_up_privileges() -> None:
    """From root to nobody where that user exists; no capabilities; none to be gained."""
    if os.geteuid() == 0:
        with contextlib.suppress(OSError):
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
    if LINUX:
        for capability in range(64):
            with contextlib.suppress(OSError):
                _prctl(_PR_CAPBSET_DROP, capability)
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)
        header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
        _libc("capset", header, (ctypes.c_uint32 * 6)())


class Confinement:
    """Landlock, limits and seccomp; made before anything is confined, since libraries are loaded and filters built.

    Args:
        memory: bytes of address space that code may add to what the process has when it starts.
        base: bytes of address space in use, from :func:`address_space`.
        cpu_seconds: CPU time of a whole session; each call has its own limit below it.
        off: layers to leave out.

    Attributes:
        layers: by name, why a layer is off, or an empty string.
    """

    def __init__(self, *, memory: int, base: int, cpu_seconds: float, off: Collection[str] = ()) -> None:
        self._address_space = memory + base if base else resource.RLIM_INFINITY
        self._cpu_seconds = math.ceil(cpu_seconds)
        self._makers: dict[str, Callable[[], Callable[[], None]]] = {
            "landlock": _landlock,
            "limits": lambda: self._limit,
            "seccomp": _seccomp,
        }
        self.layers: dict[str, str] = {}
        self._applied: dict[str, Callable[[], None]] = {}
        for name, make in self._makers.items():
            reason = "switched off"
            if name not in off:
                try:
                    apply = make()
                    reason = _tried(name, apply)
                except Exception as error:  # a library or kernel without it: ImportError, RuntimeError, OSError, ...
                    reason = str(error) or type(error).__name__
                if not reason:
                    self._applied[name] = apply
            self.layers[name] = reason

    def apply_to_supervisor(self) -> None:
        """What the process that forks can live with, and its forks inherit."""
        if "landlock" in self._applied:
            self._applied["landlock"]()

    def apply_to_worker(self) -> None:
        """All the rest, for good."""
        if LINUX:
            _prctl(_PR_SET_DUMPABLE, 0)
        for name in ("limits", "seccomp"):
            if name in self._applied:
                self._applied[name]()

    def _limit(self) -> None:
        os.nice(5)
        for name, value in {
            "RLIMIT_CORE": 0,
            "RLIMIT_FSIZE": 0,
            "RLIMIT_NOFILE": 0,  # those open stay so; no other can be opened
            "RLIMIT_NPROC": 0,
            "RLIMIT_MEMLOCK": 0,
            "RLIMIT_MSGQUEUE": 0,
            "RLIMIT_AS": self._address_space,
            "RLIMIT_CPU": self._cpu_seconds,
        }.items():
            with contextlib.suppress(AttributeError, ValueError, OSError):  # not every system has or takes every one
                resource.setrlimit(getattr(resource, name), (value, value))


def _landlock() -> Callable[[], None]:
    """No file or directory can be opened, made, renamed or removed."""
    import landlock

    def apply() -> None:
        ctypes.set_errno(0)  # the library takes a number left there for its own call's error
        ruleset = landlock.Ruleset()
        ruleset.apply()
        os.close(ruleset._fd)

    return apply


class _Program(ctypes.Structure):
    """The kernel's ``sock_fprog``: how many instructions of eight bytes, and where."""

    _fields_ = (("count", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def _seccomp() -> Callable[[], None]:
    """System calls outside the list fail with EPERM; memory cannot be made executable; limits only of oneself."""
    import pyseccomp

    filter_ = pyseccomp.SyscallFilter(pyseccomp.ERRNO(errno.EPERM))
    for name in _SYSTEM_CALLS.split():
        if pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, name) >= 0:
            filter_.add_rule(pyseccomp.ALLOW, name)
    for name in ("mmap", "mprotect"):
        filter_.add_rule(pyseccomp.ALLOW, name, pyseccomp.Arg(2, pyseccomp.MASKED_EQ, _PROT_EXEC, 0))
    filter_.add_rule(pyseccomp.ALLOW, "prlimit64", pyseccomp.Arg(0, pyseccomp.EQ, 0))
    with tempfile.TemporaryFile() as file:  # made once: having each child make it costs time, and a megabyte each
        filter_.export_bpf(file)
        file.seek(0)
        instructions = file.read()
    program = _Program(len(instructions) // 8, instructions)

    def apply() -> None:
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)
        _libc("prctl", _PR_SET_SECCOMP, ctypes.c_ulong(_SECCOMP_MODE_FILTER), ctypes.byref(program))

    return apply


def _tried(name: str, apply: Callable[[], None]) -> str:
    """Apply a layer in a throwaway child and see whether it holds; why not, or an empty string."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            apply()
            code = 0 if _holds(name) else 2
        finally:
            os._exit(code)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return {0: "", 1: "the kernel refused it", 2: "it has no effect"}.get(status, f"it ended a process ({status})")


def _holds(name: str) -> bool:
    try:
        if name == "landlock":
            os.open("/", os.O_RDONLY)
        elif name == "seccomp":
            socket.socket()
        else:
            return resource.getrlimit(resource.RLIMIT_NOFILE) == (0, 0)
    except OSError:
        return True
    return False
