"""Restrict a process through the kernel: its access to files by Landlock, and its system calls by seccomp.

Each function prepares a layer and returns a function that applies it to the calling process. A worker calls that
function after it has given up its privileges.
"""

import ctypes
import errno
import fcntl
import os
import struct
from collections.abc import Callable, Iterable
from mmap import MAP_ANONYMOUS, PROT_EXEC, PROT_WRITE

from .system import PR_SET_SECCOMP, libc, prctl

Layer = Callable[[], object]
"""A function that applies a layer to the calling process, irrevocably."""

# Numbers of Landlock's system calls, the same on every architecture, and constants of linux/landlock.h.
_LANDLOCK_CREATE_RULESET = 444
_LANDLOCK_ADD_RULE = 445
_LANDLOCK_RESTRICT_SELF = 446
_CREATE_RULESET_VERSION = 1  # flag: return Landlock's version instead of a ruleset
_RULE_PATH_BENEATH = 1
_ACCESS_READ_FILE = 1 << 2
_ACCESS_READ_DIR = 1 << 3
_FILE_RIGHTS = (13, 14, 15, 15, 16)
"""The number of file access rights in versions 1 to 5 of Landlock; later versions have as many as version 5."""

# Constants of futex(2), clock_gettime(2) and seccomp(2).
_CLOCK_ID_BITS = 0xFFFFFFF0  # set only for clocks of a process or a device
_FUTEX_OPERATIONS = (0, 1, 9, 10)  # WAIT, WAKE, WAIT_BITSET, WAKE_BITSET; the others can name other processes
_FUTEX_PRIVATE, _FUTEX_CLOCK_REALTIME = 128, 256  # only private ones: a shared one could lie in a library's page
_FCNTL_COMMANDS = (fcntl.F_DUPFD, fcntl.F_DUPFD_CLOEXEC, fcntl.F_GETFD, fcntl.F_SETFD, fcntl.F_GETFL)
_SECCOMP_MODE_FILTER = 2
_INT_BITS, _LONG_BITS = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
_INSTRUCTION_SIZE = 8  # bytes of struct sock_filter

# The system calls that computing and reading libraries need. None of them connects, starts, signals or changes anything
# outside the process. Names that an architecture lacks are skipped. `seccomp` adds calls with restricted arguments.
_SYSTEM_CALLS = """
read readv pread64 write writev close close_range lseek fstat stat lstat newfstatat statx access faccessat faccessat2
getdents64 getcwd dup dup2 dup3 poll ppoll select pselect6 brk munmap mremap sched_yield nanosleep gettimeofday time
getrandom getpid getppid gettid getuid geteuid getgid getegid getgroups rt_sigaction rt_sigprocmask rt_sigreturn
sigaltstack setitimer getitimer alarm pause restart_syscall getrlimit exit exit_group
"""


def landlock(readable: Iterable[str]) -> Layer:
    """Return a layer that allows a process to read the given files and folders, and to open or change nothing else.

    From version 4, Landlock also blocks TCP ports; from version 6, signals to processes outside, and abstract sockets.

    Raises:
        OSError: if the kernel has no Landlock.
    """
    version = libc("syscall", _LANDLOCK_CREATE_RULESET, None, 0, _CREATE_RULESET_VERSION)
    handled_files = (1 << _FILE_RIGHTS[min(version, 5) - 1]) - 1
    handled_tcp = 0b11 if version >= 4 else 0  # bind, connect
    scoped = 0b11 if version >= 6 else 0  # abstract sockets, signals
    rights = struct.pack("=QQQ", handled_files, handled_tcp, scoped)
    ruleset = libc("syscall", _LANDLOCK_CREATE_RULESET, rights, len(rights), 0)
    ruleset = fcntl.fcntl(ruleset, fcntl.F_DUPFD_CLOEXEC, 10)  # a worker needs the lowest descriptors
    for path in readable:
        allowed = _ACCESS_READ_FILE | _ACCESS_READ_DIR if os.path.isdir(path) else _ACCESS_READ_FILE
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
        rule = struct.pack("=Qi", allowed, handle)
        libc("syscall", _LANDLOCK_ADD_RULE, ruleset, _RULE_PATH_BENEATH, rule, 0)
        os.close(handle)
    return lambda: libc("syscall", _LANDLOCK_RESTRICT_SELF, ruleset, 0)


def seccomp() -> Layer:
    """Return a layer in which all system calls fail with EPERM, except those that computing and reading need.

    Raises:
        ImportError: if libseccomp is missing.
    """
    try:
        from pyseccomp import ALLOW, ERRNO, MASKED_EQ, Arch, Arg, SyscallFilter, resolve_syscall
    except (ImportError, RuntimeError, OSError):
        raise ImportError("libseccomp.so.2 is missing: install libseccomp2 (Debian) or libseccomp (others)") from None

    def bits(argument: int, mask: int, value: int = 0) -> object:
        """Return the condition that the masked bits of an argument equal a value."""
        return Arg(argument, MASKED_EQ, mask, value)

    writing = os.O_ACCMODE | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_TMPFILE & ~os.O_DIRECTORY | os.O_PATH
    futex_bits = _INT_BITS ^ _FUTEX_CLOCK_REALTIME
    rules: list[tuple[object, ...]] = [  # a system call, and conditions on its arguments
        *((name,) for name in _SYSTEM_CALLS.split()),
        ("open", bits(1, writing)),
        ("openat", bits(2, writing)),
        ("mmap", bits(2, PROT_EXEC)),
        ("mmap", bits(2, PROT_EXEC | PROT_WRITE, PROT_EXEC), bits(3, MAP_ANONYMOUS)),  # loads a library
        ("mprotect", bits(2, PROT_EXEC)),
        ("sched_getaffinity", bits(0, _INT_BITS)),  # of this process
        ("prlimit64", bits(0, _LONG_BITS), bits(2, _LONG_BITS)),  # reads this process's limits
        *(("futex", bits(1, futex_bits, _FUTEX_PRIVATE | operation)) for operation in _FUTEX_OPERATIONS),
        *((name, bits(0, _CLOCK_ID_BITS)) for name in ("clock_gettime", "clock_getres", "clock_nanosleep")),
        *(("fcntl", bits(1, _INT_BITS, command)) for command in _FCNTL_COMMANDS),  # no locks, signals or owner
    ]
    filter_ = SyscallFilter(ERRNO(errno.EPERM))
    for name, *arguments in rules:
        if resolve_syscall(Arch.NATIVE, name) >= 0:
            filter_.add_rule(ALLOW, name, *arguments)
    with open(os.memfd_create("filter"), "w+b") as file:  # in memory, since the disk may be full
        filter_.export_bpf(file)  # once for all workers, since it takes time and a megabyte of memory
        file.seek(0)
        instructions = ctypes.create_string_buffer(file.read())

    def apply() -> None:
        """Apply the filter to this process; this closure keeps ``instructions`` in memory."""
        sock_fprog = struct.pack("HP", len(instructions) // _INSTRUCTION_SIZE, ctypes.addressof(instructions))
        prctl(PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, sock_fprog)

    return apply
