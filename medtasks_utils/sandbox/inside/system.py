"""Calls of the C library that Python's own modules lack."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import signal
import sys
from typing import Any

LINUX = sys.platform == "linux"
NO_NEW_PRIVILEGES, DUMPABLE = 38, 4
"""Options of :func:`prctl`."""

_PARENT_DEATH_SIGNAL, _DROP_FROM_BOUNDING_SET = 1, 24
_CAPABILITY_VERSION_3 = 0x20080522


def libc(function: str, *arguments: Any) -> int:
    """Call a function that returns -1 and sets ``errno`` when it fails.

    Raises:
        OSError: if it fails, or if the library has no such function.
    """
    library = _library()
    ctypes.set_errno(0)
    try:
        result: int = getattr(library, function)(*arguments)
    except AttributeError:
        raise OSError(f"the C library has no {function}") from None
    if result == -1:
        code = ctypes.get_errno()
        raise OSError(code, f"{function}: {os.strerror(code)}")
    return result


@functools.cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def prctl(option: int, value: int, more: Any = 0) -> None:
    """Set a property of this process."""
    more = ctypes.c_ulong(more) if isinstance(more, int) else more
    libc("prctl", option, ctypes.c_ulong(value), more, ctypes.c_ulong(0), ctypes.c_ulong(0))


def die_with_parent(parent: int | None) -> None:
    """Have the kernel kill this process when its parent ends; None: the parent cannot be seen from here."""
    if LINUX:
        prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if parent is not None and os.getppid() != parent:
        os._exit(1)


def drop_capabilities() -> None:
    """Have no capability, and none to be gained."""
    with contextlib.suppress(OSError):  # beyond the last one, or not allowed, and then there is none to be dropped
        for capability in range(64):
            prctl(_DROP_FROM_BOUNDING_SET, capability)
    prctl(NO_NEW_PRIVILEGES, 1)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    libc("capset", header, (ctypes.c_uint32 * 6)())
