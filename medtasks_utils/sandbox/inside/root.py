"""Namespaces: no process, network or host name of the machine's, and a root of nothing but the libraries."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterable
from pathlib import Path

from .system import libc

NOBODY = 65534
HOST_NAME = "python"

_NEW_USER, _NEW_PROCESSES, _NEW_IPC, _NEW_NETWORK = 0x10000000, 0x20000000, 0x08000000, 0x40000000
_NEW_OTHERS = _NEW_PROCESSES | _NEW_IPC | _NEW_NETWORK | 0x00020000 | 0x04000000  # and mount, host name
_READ_ONLY, _NO_SUID, _NO_DEV, _REMOUNT, _BIND, _REC, _PRIVATE = 1, 2, 4, 32, 4096, 16384, 1 << 18
_KEPT_FLAGS = {8: 8, 1024: 1024, 2048: 2048, 4096: 1 << 21}
"""As statvfs gives a mount's flags, and as mount takes them: noexec, noatime, nodiratime, relatime."""
_DETACH = 2

Entry = tuple[str, str]
"""A path inside, and what is there: a path of the machine's."""


def enter_namespaces() -> None:
    """Take namespaces of one's own; the process namespace is for the next fork.

    Raises:
        OSError: if the kernel refuses.
    """
    user, group = os.geteuid(), os.getegid()
    try:
        libc("unshare", _NEW_OTHERS)
    except OSError:
        libc("unshare", _NEW_OTHERS | _NEW_USER)
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"{NOBODY} {user} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"{NOBODY} {group} 1", encoding="ascii")
    _mount("none", "/", _REC | _PRIVATE)


def enter_root(folder: str, entries: Iterable[Entry]) -> None:
    """Make the entries all that there is, read-only. For a process in namespaces of its own.

    Raises:
        OSError: if the kernel refuses.
    """
    socket.sethostname(HOST_NAME)
    _mount("tmpfs", folder, _NO_SUID | _NO_DEV, "tmpfs", "mode=755")
    for inside, outside in entries:
        target = Path(folder + inside)
        target.parent.mkdir(parents=True, exist_ok=True)
        if os.path.isdir(outside):
            target.mkdir(exist_ok=True)
        else:
            target.touch()
        _mount(outside, str(target), _BIND | _REC)
        flags = os.statvfs(target).f_flag
        kept = sum(mount for flag, mount in _KEPT_FLAGS.items() if flags & flag)
        _mount("none", str(target), _REMOUNT | _BIND | _READ_ONLY | _NO_SUID | _NO_DEV | kept)
    os.chdir(folder)
    libc("pivot_root", b".", b".")
    libc("umount2", b".", _DETACH)
    os.chdir("/")
    _mount("none", "/", _REMOUNT | _BIND | _READ_ONLY | _NO_SUID | _NO_DEV)


class Nursery:
    """Gives each fork a process, an IPC and a network namespace of its own, in which it is all that there is."""

    def __init__(self) -> None:
        self._own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)

    def prepare(self) -> None:
        """To be called before a fork."""
        libc("setns", self._own, _NEW_PROCESSES)
        libc("unshare", _NEW_PROCESSES | _NEW_IPC | _NEW_NETWORK)


def leave_keyrings() -> None:
    """Share no key with others of the same user, where users may have namespaces; seccomp keeps from keys as well."""
    with contextlib.suppress(OSError):
        libc("unshare", _NEW_USER)


def holds(witness: str, run: int) -> bool:
    """Whether the namespaces stop what they must: reading a file, reaching the machine's loopback, seeing a process."""
    with contextlib.suppress(OSError):
        os.close(os.open(witness, os.O_RDONLY))
        return False
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("127.0.0.1", 9))
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(run, 0)
        return False
    return True


def _mount(source: str, target: str, flags: int, kind: str | None = None, options: str | None = None) -> None:
    encoded = [None if text is None else os.fsencode(text) for text in (source, target, kind, options)]
    try:
        libc("mount", encoded[0], encoded[1], encoded[2], flags, encoded[3])
    except OSError as error:
        raise OSError(error.errno, f"mount: {os.strerror(error.errno or 0)}") from None
