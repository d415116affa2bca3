"""Calls of the C library that Python's own modules lack."""

import ctypes
import os
import signal
from typing import Any


def libc(function: str, *arguments: Any) -> int:
    """Call a function that returns -1 and sets ``errno`` when it fails; whole numbers are passed as ``long``.

    Raises:
        OSError: if it fails.
    """
    called = getattr(ctypes.CDLL(None, use_errno=True), function)
    result: int = called(*(ctypes.c_long(each) if isinstance(each, int) else each for each in arguments))
    if result == -1:
        code = ctypes.get_errno()
        raise OSError(code, f"{function}: {os.strerror(code)}")
    return result


# Not every build of Python has the two below; their numbers are the same on every architecture.


def open_process(pid: int) -> int:
    """A descriptor of a process, which never stands for another one.

    Raises:
        OSError: if there is no such process, or the system has no such descriptors (Linux before 5.3).
    """
    return libc("syscall", 434, pid, 0)


def signal_process(descriptor: int, number: int) -> None:
    """Send a signal to the process that a descriptor stands for.

    Raises:
        OSError: if it is gone.
    """
    libc("syscall", 424, descriptor, number, None, 0)


def prctl(option: int, value: Any, more: Any = 0) -> None:
    """Set a property of this process."""
    libc("prctl", option, value, more, 0, 0)


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends; to be called after any change of user."""
    prctl(1, signal.SIGKILL)


def give_up_privileges() -> None:
    """Have no capability and none to be gained, and let no other process look into this one's memory."""
    prctl(38, 1)  # no new privileges
    libc("capset", (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)())
    prctl(4, 0)  # not dumpable
