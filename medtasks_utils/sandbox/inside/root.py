"""Namespaces: no process, network or host name of the machine's, and a root of nothing but the libraries."""

import os
import socket
from collections.abc import Iterable
from pathlib import Path

from .system import libc

NOBODY = 65534

_NEW_USER = 0x10000000
_NEW_OTHERS = 0x00020000 | 0x04000000 | 0x08000000 | 0x20000000 | 0x40000000
"""Mount, host name, IPC, process and network."""
_READ_ONLY, _NO_SUID, _NO_DEV, _REMOUNT, _BIND, _REC, _PRIVATE = 1, 2, 4, 32, 4096, 16384, 1 << 18
_KEPT, _RELATIVE_TIMES = 8 | 1024 | 2048, 4096
"""As statvfs gives the flags of a mount: noexec, noatime, nodiratime, as mount takes them; relatime, nine bits away."""

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
        for name, text in ("setgroups", "deny"), ("uid_map", f"{NOBODY} {user} 1"), ("gid_map", f"{NOBODY} {group} 1"):
            Path("/proc/self", name).write_text(text)
    _mount("none", "/", _REC | _PRIVATE)


def enter_root(folder: str, entries: Iterable[Entry]) -> None:
    """Make the entries all that there is, read-only. For a process in namespaces of its own.

    Raises:
        OSError: if the kernel refuses.
    """
    socket.sethostname("python")
    _mount("tmpfs", folder, _NO_SUID | _NO_DEV, "tmpfs")
    for inside, outside in entries:
        target = Path(folder + inside)
        target.parent.mkdir(parents=True, exist_ok=True)
        if os.path.isdir(outside):
            target.mkdir(exist_ok=True)
        else:
            target.touch()
        _mount(outside, str(target), _BIND | _REC)
        flags = os.statvfs(target).f_flag
        kept = flags & _KEPT | (flags & _RELATIVE_TIMES) << 9
        _mount("none", str(target), _REMOUNT | _BIND | _READ_ONLY | _NO_SUID | _NO_DEV | kept)
    os.chdir(folder)
    libc("pivot_root", b".", b".")
    libc("umount2", b".", 2)  # even while it is in use
    os.chdir("/")
    _mount("none", "/", _REMOUNT | _BIND | _READ_ONLY | _NO_SUID | _NO_DEV)


def _mount(source: str, target: str, flags: int, kind: str = "none") -> None:
    libc("mount", *map(os.fsencode, (source, target, kind)), flags, None)
