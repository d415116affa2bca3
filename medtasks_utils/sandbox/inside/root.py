"""Hide the machine's processes, network and host name by namespaces, and its files by a separate root directory."""

import os
import socket
from collections.abc import Iterable
from pathlib import Path

from .system import libc

NOBODY = 65534
"""User ID and group ID of processes in the sandbox."""

# Flags of unshare(2), from linux/sched.h.
_CLONE_NEWNS = 0x00020000
_CLONE_NEWUTS = 0x04000000
_CLONE_NEWIPC = 0x08000000
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWPID = 0x20000000
_CLONE_NEWNET = 0x40000000
_NEW_NAMESPACES = _CLONE_NEWNS | _CLONE_NEWUTS | _CLONE_NEWIPC | _CLONE_NEWPID | _CLONE_NEWNET

# Flags of mount(2) and umount2(2), from linux/mount.h.
_MS_RDONLY = 1
_MS_NOSUID = 2
_MS_NODEV = 4
_MS_NOEXEC = 8
_MS_REMOUNT = 32
_MS_BIND = 4096
_MS_REC = 16384
_MS_PRIVATE = 1 << 18
_MNT_DETACH = 2
_READ_ONLY = _MS_RDONLY | _MS_NOSUID | _MS_NODEV

Entry = tuple[str, str]
"""A path in the sandbox, and the machine's path that is mounted there."""


def enter_namespaces() -> None:
    """Move this process to new namespaces; the new process namespace takes effect with the next fork.

    Raises:
        OSError: if the kernel refuses.
    """
    user, group = os.geteuid(), os.getegid()
    try:
        libc("unshare", _NEW_NAMESPACES)
    except OSError:
        libc("unshare", _NEW_NAMESPACES | _CLONE_NEWUSER)
        for name, text in ("setgroups", "deny"), ("uid_map", f"{NOBODY} {user} 1"), ("gid_map", f"{NOBODY} {group} 1"):
            Path("/proc/self", name).write_text(text)
    _mount("none", "/", _MS_REC | _MS_PRIVATE)


def enter_root(folder: str, entries: Iterable[Entry]) -> None:
    """Set a neutral host name, and make ``folder`` the root directory, with only the entries, read-only.

    The process must already be in namespaces of its own.

    Raises:
        OSError: if the kernel refuses.
    """
    socket.sethostname("python")
    _mount("tmpfs", folder, _MS_NOSUID | _MS_NODEV, "tmpfs")
    for inside, outside in entries:
        target = Path(folder + inside)
        target.parent.mkdir(parents=True, exist_ok=True)
        if os.path.isdir(outside):
            target.mkdir(exist_ok=True)
        else:
            target.touch()
        _mount(outside, str(target), _MS_BIND | _MS_REC)
        no_exec = os.statvfs(target).f_flag & _MS_NOEXEC  # the kernel keeps flags such as noatime itself
        _mount("none", str(target), _MS_REMOUNT | _MS_BIND | _READ_ONLY | no_exec)
    os.chdir(folder)
    libc("pivot_root", b".", b".")
    libc("umount2", b".", _MNT_DETACH)
    os.chdir("/")
    _mount("none", "/", _MS_REMOUNT | _MS_BIND | _READ_ONLY)


def _mount(source: str, target: str, flags: int, kind: str = "none") -> None:
    libc("mount", *map(os.fsencode, (source, target, kind)), flags, None)
