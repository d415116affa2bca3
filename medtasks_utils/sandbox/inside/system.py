"""Call functions of the C library that Python does not offer."""

import ctypes
import os
import signal

# Numbers of system calls, the same on every architecture; some builds of Python lack functions for these two.
_PIDFD_SEND_SIGNAL = 424
_PIDFD_OPEN = 434

# Options of prctl(2).
PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_SET_NO_NEW_PRIVS = 38

_CAPABILITY_VERSION_3 = 0x20080522  # of capset(2)


def libc(function: str, *arguments: object) -> int:
    """Call a function of the C library and return its result; integers are passed as ``long``.

    Raises:
        OSError: if the function returns -1, with its ``errno``.
    """
    address = getattr(ctypes.CDLL(None, use_errno=True), function)
    converted = [ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments]
    result: int = address(*converted)
    if result == -1:
        code = ctypes.get_errno()
        raise OSError(code, f"{function}: {os.strerror(code)}")
    return result


def open_process(pid: int) -> int:
    """Return a descriptor of a process (a pidfd); unlike a PID, it is never reused for another process.

    Raises:
        OSError: if there is no such process, or the kernel has no pidfds (Linux before 5.3).
    """
    return libc("syscall", _PIDFD_OPEN, pid, 0)


def signal_process(descriptor: int, number: int) -> None:
    """Send the signal ``number`` to the process that a pidfd refers to.

    Raises:
        OSError: if the process has ended.
    """
    libc("syscall", _PIDFD_SEND_SIGNAL, descriptor, number, None, 0)


def prctl(option: int, value: object, more: object = 0) -> None:
    """Set a property of this process by prctl(2), with up to two values.

    Raises:
        OSError: if the kernel refuses.
    """
    libc("prctl", option, value, more, 0, 0)


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends. Call this after any change of user, which undoes it."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def give_up_privileges() -> None:
    """Drop all capabilities and any way to gain them, and prevent other processes from reading this one's memory."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    header, no_capabilities = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0), (ctypes.c_uint32 * 6)()
    libc("capset", header, no_capabilities)
    prctl(PR_SET_DUMPABLE, 0)
