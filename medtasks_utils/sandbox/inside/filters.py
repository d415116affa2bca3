"""What the kernel refuses a process from inside: files by Landlock, system calls by seccomp.

What the functions give is to be called in the process itself, once it has given up its privileges.
"""

import ctypes
import errno
import fcntl
import os
import struct
from collections.abc import Callable, Iterable
from typing import Any

from .system import libc, prctl

Layer = Callable[[], object]
"""What is to be called."""

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""By version of Landlock, how many rights on files it knows."""

_WRITABLE, _EXECUTABLE, _ANONYMOUS = 2, 4, 0x20  # memory
_CLOCKS = 0xFFFFFFF0  # bits that only the clocks of a process or a device have
_FUTEX_OPERATIONS = (0, 1, 9, 10)  # wait, wake, and either for some of those who wait; the others can name processes
_FUTEX_PRIVATE, _FUTEX_REAL_TIME = 128, 256  # not the shared ones: two examples could meet at a page of a library
_ALL, _WHOLE = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF  # bits of an int, and of a long

# What computing needs, and reading libraries. No call here connects, starts, signals or changes anything outside the
# process. Names that an architecture lacks are left out. Some take only the arguments below.
_SYSTEM_CALLS = """
read readv pread64 write writev close close_range lseek fstat stat lstat newfstatat statx access faccessat faccessat2
getdents64 getcwd dup dup2 dup3 poll ppoll select pselect6 brk munmap mremap sched_yield nanosleep gettimeofday time
getrandom getpid getppid gettid getuid geteuid getgid getegid getgroups rt_sigaction rt_sigprocmask rt_sigreturn
sigaltstack setitimer getitimer alarm pause restart_syscall getrlimit exit exit_group
"""
_FCNTL = (0, 1030, 1, 2, 3)  # F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL: no locks, no signals, no owner


def landlock(readable: Iterable[str]) -> Layer:
    """A layer in which only some files and folders can be read, and nothing written, started, bound or signalled.

    Args:
        readable: files, and folders with all that is in them.

    Raises:
        OSError: if the kernel has no Landlock.
    """
    version = libc("syscall", _CREATE_RULESET, None, 0, 1)
    files = (1 << _FILE_RIGHTS.get(version, 16)) - 1
    rights = struct.pack("=QQQ", files, 0b11 * (version >= 4), 0b11 * (version >= 6))  # TCP; abstract sockets, signals
    ruleset = libc("syscall", _CREATE_RULESET, rights, len(rights), 0)
    ruleset = fcntl.fcntl(ruleset, fcntl.F_DUPFD_CLOEXEC, 10)  # out of the way of a worker's own descriptors
    for path in readable:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
        rule = struct.pack("=Qi", _READ_FILE | _READ_DIR if os.path.isdir(path) else _READ_FILE, handle)
        libc("syscall", _ADD_RULE, ruleset, 1, rule, 0)
        os.close(handle)
    return lambda: libc("syscall", _RESTRICT_SELF, ruleset, 0)


def seccomp() -> Layer:
    """A layer in which system calls outside the list fail with EPERM.

    Raises:
        ImportError: if libseccomp is missing.
    """
    try:
        from pyseccomp import ALLOW, ERRNO, MASKED_EQ, Arch, Arg, SyscallFilter, resolve_syscall
    except (ImportError, RuntimeError, OSError):
        raise ImportError("libseccomp.so.2 is missing: install libseccomp2 (Debian) or libseccomp (others)") from None

    def bits(argument: int, mask: int, value: int = 0) -> Any:
        return Arg(argument, MASKED_EQ, mask, value)

    writing = os.O_ACCMODE | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_TMPFILE & ~os.O_DIRECTORY | os.O_PATH
    rules: list[tuple[Any, ...]] = [  # a call, and what its arguments must be
        *((name,) for name in _SYSTEM_CALLS.split()),
        ("open", bits(1, writing)),
        ("openat", bits(2, writing)),
        ("mmap", bits(2, _EXECUTABLE)),
        ("mmap", bits(2, _EXECUTABLE | _WRITABLE, _EXECUTABLE), bits(3, _ANONYMOUS)),  # a library
        ("mprotect", bits(2, _EXECUTABLE)),
        ("sched_getaffinity", bits(0, _ALL)),  # of itself
        ("prlimit64", bits(0, _WHOLE), bits(2, _WHOLE)),  # its own limits, to read them
        *(("futex", bits(1, _ALL ^ _FUTEX_REAL_TIME, _FUTEX_PRIVATE | operation)) for operation in _FUTEX_OPERATIONS),
        *((name, bits(0, _CLOCKS)) for name in ("clock_gettime", "clock_getres", "clock_nanosleep")),
        *(("fcntl", bits(1, _ALL, command)) for command in _FCNTL),
    ]
    filter_ = SyscallFilter(ERRNO(errno.EPERM))
    for name, *arguments in rules:
        if resolve_syscall(Arch.NATIVE, name) >= 0:
            filter_.add_rule(ALLOW, name, *arguments)
    with open(os.memfd_create("filter"), "w+b") as file:  # a file elsewhere would need a folder with space
        filter_.export_bpf(file)  # made once: having each worker make it costs time, and a megabyte each
        file.seek(0)
        instructions = ctypes.create_string_buffer(file.read())
    # The kernel's sock_fprog: how many instructions of eight bytes, and where.
    return lambda: prctl(22, 2, struct.pack("HP", len(instructions) // 8, ctypes.addressof(instructions)))
