"""What the kernel refuses a process from inside: files by Landlock, system calls by seccomp.

What the functions give is to be called in the process itself, once it has given up its privileges.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import struct
from collections.abc import Callable, Iterable

from .system import libc, prctl

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""By version of Landlock, how many rights on files it knows."""
_TCP_RIGHTS, _SCOPES = 0b11, 0b11  # bind and connect; abstract sockets and signals

_PROT_WRITE, _PROT_EXEC, _MAP_ANONYMOUS = 2, 4, 0x20
_ADVICE = (0, 1, 2, 3, 4, 8, 14, 15)  # how memory will be used, free, of large pages: none that merges or writes back
_CLOCKS = 0xFFFFFFF0  # bits that only the clocks of a process or a device have
_FUTEX_OPERATIONS = (0, 1, 9, 10)  # wait, wake, and either for some of those who wait; the others can name processes
_FUTEX_PRIVATE, _FUTEX_REAL_TIME = 128, 256  # not the shared ones: two examples could meet at a page of a library
_ALL = 0xFFFFFFFF

# What computing needs, and reading libraries. No call here connects, starts, signals or changes anything outside the
# process. Names that an architecture lacks are left out. Some take only the arguments below.
_SYSTEM_CALLS = """
read readv pread64 write writev close close_range lseek fstat stat lstat newfstatat statx access faccessat faccessat2
getdents64 getcwd dup dup2 dup3 poll ppoll select pselect6 brk munmap mremap sched_yield nanosleep gettimeofday time
getrandom getpid getppid gettid getuid geteuid getgid getegid getgroups rt_sigaction rt_sigprocmask rt_sigreturn
sigaltstack setitimer getitimer alarm pause restart_syscall getrlimit exit exit_group
"""
_FCNTL = (0, 1030, 1, 2, 3)  # F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL: no locks, no signals, no owner


def landlock(readable: Iterable[str]) -> Callable[[], object]:
    """A layer in which only some files and folders can be read, and nothing written, started, bound or signalled.

    Args:
        readable: files, and folders with all that is in them.

    Raises:
        OSError: if the kernel has no Landlock.
    """
    version = libc("syscall", _CREATE_RULESET, None, 0, 1)
    files = (1 << _FILE_RIGHTS.get(version, 16)) - 1
    rights = struct.pack("=QQQ", files, _TCP_RIGHTS if version >= 4 else 0, _SCOPES if version >= 6 else 0)
    low = libc("syscall", _CREATE_RULESET, rights, len(rights), 0)
    ruleset = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, 10)  # out of the way of a worker's own descriptors
    os.close(low)
    for path in readable:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
        rule = struct.pack("=Qi", _READ_FILE | _READ_DIR if os.path.isdir(path) else _READ_FILE, handle)
        libc("syscall", _ADD_RULE, ruleset, 1, rule, 0)
        os.close(handle)
    return lambda: libc("syscall", _RESTRICT_SELF, ruleset, 0)


class _Program(ctypes.Structure):
    """The kernel's ``sock_fprog``: how many instructions of eight bytes, and where."""

    _fields_ = (("count", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def seccomp() -> Callable[[], object]:
    """A layer in which system calls outside the list fail with EPERM.

    Raises:
        ImportError: if libseccomp is missing.
    """
    instructions = _instructions()
    program = ctypes.byref(_Program(len(instructions) // 8, instructions))
    return lambda: prctl(22, 2, program)


def _instructions() -> bytes:
    try:
        from pyseccomp import ALLOW, EQ, ERRNO, MASKED_EQ, Arch, Arg, SyscallFilter, resolve_syscall
    except (ImportError, RuntimeError, OSError):
        raise ImportError("libseccomp.so.2 is missing: install libseccomp2 (Debian) or libseccomp (others)") from None
    writing = os.O_ACCMODE | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_TMPFILE & ~os.O_DIRECTORY | os.O_PATH
    rules: list[tuple[str, int, int, int]] = [  # of an argument by its number, the bits under a mask must be these
        ("open", 1, writing, 0),
        ("openat", 2, writing, 0),
        ("mmap", 2, _PROT_EXEC, 0),
        ("mprotect", 2, _PROT_EXEC, 0),
        ("sched_getaffinity", 0, _ALL, 0),  # of itself
        *(("madvise", 2, _ALL, advice) for advice in _ADVICE),
        *(("futex", 1, _ALL ^ _FUTEX_REAL_TIME, _FUTEX_PRIVATE | operation) for operation in _FUTEX_OPERATIONS),
        *((name, 0, _CLOCKS, 0) for name in ("clock_gettime", "clock_getres", "clock_nanosleep")),
        *(("fcntl", 1, _ALL, command) for command in _FCNTL),
    ]
    filter_ = SyscallFilter(ERRNO(errno.EPERM))
    library = Arg(2, MASKED_EQ, _PROT_EXEC | _PROT_WRITE, _PROT_EXEC), Arg(3, MASKED_EQ, _MAP_ANONYMOUS, 0)
    filter_.add_rule(ALLOW, "mmap", *library)
    filter_.add_rule(ALLOW, "prlimit64", Arg(0, EQ, 0), Arg(2, EQ, 0))  # its own limits, to read them
    always = [(name, 0, 0, 0) for name in _SYSTEM_CALLS.split()]
    for name, number, mask, bits in always + rules:
        if resolve_syscall(Arch.NATIVE, name) >= 0:
            filter_.add_rule(ALLOW, name, *([Arg(number, MASKED_EQ, mask, bits)] if mask else []))
    with open(os.memfd_create("filter"), "w+b") as file:  # a file elsewhere would need a folder with space
        filter_.export_bpf(file)  # made once: having each worker make it costs time, and a megabyte each
        file.seek(0)
        return file.read()
