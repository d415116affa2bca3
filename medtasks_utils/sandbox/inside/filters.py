"""What the kernel refuses a process from inside: files by Landlock, system calls by seccomp."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import stat
import struct
from collections.abc import Callable, Iterable

from .system import NO_NEW_PRIVILEGES, libc, prctl

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""By version of Landlock, how many rights on files it knows."""
_TCP_RIGHTS, _SCOPES = 0b11, 0b11  # bind and connect; abstract sockets and signals

_SET_SECCOMP, _FILTER_MODE = 22, 2
_PROT_WRITE, _PROT_EXEC, _MAP_ANONYMOUS = 2, 4, 0x20
_ADVICE = (0, 1, 2, 3, 4, 8, 14, 15)  # how memory will be used, free, of large pages: none that merges or writes back
_CLOCKS = 0xFFFFFFF0  # bits that only the clocks of a process or a device have
_FUTEX_PRIVATE = 128

# What computing needs, and reading libraries. No call here connects, starts, signals or changes anything outside the
# process. Names that an architecture lacks are left out. Some take only the arguments below.
_SYSTEM_CALLS = """
read readv pread64 write writev close close_range lseek fstat stat lstat newfstatat statx access faccessat faccessat2
getdents64 getcwd dup dup2 dup3 poll ppoll select pselect6 brk munmap mremap membarrier rseq set_robust_list
sched_yield nanosleep gettimeofday time times getrusage
getrandom getpid getppid gettid getuid geteuid getgid getegid getgroups rt_sigaction rt_sigprocmask rt_sigreturn
sigaltstack setitimer getitimer alarm pause restart_syscall getrlimit exit exit_group
"""
_FCNTL = (0, 1030, 1, 2, 3)  # F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL: no locks, no signals, no owner


def landlock(readable: Iterable[str], listable: Iterable[str]) -> Callable[[], None]:
    """A layer in which only some files and folders can be read, and nothing written, started, bound or signalled.

    Args:
        readable: files, and folders with all that is in them.
        listable: folders of which only the names of what is in them can be read.

    Raises:
        OSError: if the kernel has no Landlock.
    """
    version = libc("syscall", _CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    files = (1 << _FILE_RIGHTS.get(version, 16)) - 1
    rights = struct.pack("=QQQ", files, _TCP_RIGHTS if version >= 4 else 0, _SCOPES if version >= 6 else 0)[
        : 24 if version >= 6 else 16 if version >= 4 else 8
    ]
    low = libc("syscall", _CREATE_RULESET, rights, ctypes.c_size_t(len(rights)), 0)
    ruleset = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, 10)  # out of the way of a worker's own descriptors
    os.close(low)
    for path, for_folders in [
        *((path, _READ_FILE | _READ_DIR) for path in readable),
        *((p, _READ_DIR) for p in listable),
    ]:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
        is_folder = stat.S_ISDIR(os.fstat(handle).st_mode)
        rule = struct.pack("=Qi", for_folders if is_folder else _READ_FILE, handle)
        libc("syscall", _ADD_RULE, ruleset, 1, rule, 0)
        os.close(handle)

    def apply() -> None:
        prctl(NO_NEW_PRIVILEGES, 1)
        libc("syscall", _RESTRICT_SELF, ruleset, 0)

    return apply


class _Program(ctypes.Structure):
    """The kernel's ``sock_fprog``: how many instructions of eight bytes, and where."""

    _fields_ = (("count", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def seccomp() -> Callable[[], None]:
    """A layer in which system calls outside the list fail with EPERM.

    Raises:
        ImportError: if libseccomp is missing.
    """
    instructions = _instructions()
    program = _Program(len(instructions) // 8, instructions)

    def apply() -> None:
        prctl(NO_NEW_PRIVILEGES, 1)
        prctl(_SET_SECCOMP, _FILTER_MODE, ctypes.byref(program))

    return apply


def _instructions() -> bytes:
    try:
        from pyseccomp import ALLOW, EQ, ERRNO, MASKED_EQ, Arch, Arg, SyscallFilter, resolve_syscall
    except (ImportError, RuntimeError, OSError):
        raise ImportError("libseccomp.so.2 is missing: install libseccomp2 (Debian) or libseccomp (others)") from None
    writing = os.O_ACCMODE | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_TMPFILE & ~os.O_DIRECTORY | os.O_PATH
    filter_ = SyscallFilter(ERRNO(errno.EPERM))
    with_arguments = [
        ("open", Arg(1, MASKED_EQ, writing, 0)),
        ("openat", Arg(2, MASKED_EQ, writing, 0)),
        ("mmap", Arg(2, MASKED_EQ, _PROT_EXEC, 0)),
        ("mmap", Arg(2, MASKED_EQ, _PROT_EXEC | _PROT_WRITE, _PROT_EXEC), Arg(3, MASKED_EQ, _MAP_ANONYMOUS, 0)),
        ("mprotect", Arg(2, MASKED_EQ, _PROT_EXEC, 0)),
        *(("madvise", Arg(2, EQ, advice)) for advice in _ADVICE),
        ("futex", Arg(1, MASKED_EQ, _FUTEX_PRIVATE, _FUTEX_PRIVATE)),  # others meet at a page of a library
        ("sched_getaffinity", Arg(0, EQ, 0)),  # of itself
        *((name, Arg(0, MASKED_EQ, _CLOCKS, 0)) for name in ("clock_gettime", "clock_getres", "clock_nanosleep")),
        ("prlimit64", Arg(0, EQ, 0), Arg(2, EQ, 0)),
        *(("fcntl", Arg(1, EQ, command)) for command in _FCNTL),
    ]
    for name, *arguments in [*((name,) for name in _SYSTEM_CALLS.split()), *with_arguments]:
        if resolve_syscall(Arch.NATIVE, name) >= 0:
            filter_.add_rule(ALLOW, name, *arguments)
    reading, writing_end = os.pipe()  # holds 64 kB, and a file would need a folder with space
    with open(reading, "rb") as source, open(writing_end, "wb") as sink:
        filter_.export_bpf(sink)  # made once: having each worker make it costs time, and a megabyte each
        sink.close()
        return source.read()
