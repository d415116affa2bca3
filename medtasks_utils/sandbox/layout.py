"""The files that code may read, linked into a folder of their own: paths inside say nothing of the machine."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path

PACKAGES = ("numpy", "scipy", "pandas", "dateutil", "six", "pytz", "tzdata")
"""What code can import beside the standard library; each is there if it is installed."""

_OWN = ("pyseccomp", "RestrictedPython")
_OTHERS = ("site-packages", "dist-packages")
_ZONES = "/usr/share/zoneinfo"
_SHARED = ("/usr/local",)
"""Like folders at the root, a prefix that tells nothing of a machine, and that a text may well have."""


class Layout:
    """A folder that serves as ``PYTHONHOME``.

    Attributes:
        folder: its path.
        interpreter: the path in it by which Python is started.
        entries: what code may read: the path inside, and the real one.
        paths: this machine's paths that must not show, longest first.

    Raises:
        OSError: if there is no space for it anywhere.
    """

    def __init__(self) -> None:
        self.folder = _temporary_folder()
        self.interpreter = f"{self.folder}/bin/python3"
        try:
            self._fill()
        except OSError:
            self.remove()
            raise

    def _fill(self) -> None:
        os.chmod(self.folder, 0o755)  # root is nobody when it looks
        library = sysconfig.get_path("stdlib")
        home = f"{self.folder}/{'/'.join(Path(library).parts[-2:])}"
        entries = [(f"{home}/{name}", f"{library}/{name}") for name in sorted(os.listdir(library))]
        self.entries: list[tuple[str, str]] = [
            each for each in entries if Path(each[1]).name not in _OTHERS and os.path.exists(each[1])
        ]
        for name in PACKAGES:
            self.entries += [(f"{self.folder}/site/{path.name}", str(path)) for path in _locations(name)]
        if os.path.isdir(_ZONES):
            self.entries.append((_ZONES, _ZONES))
        own = [(f"{self.folder}/own/{path.name}", str(path)) for name in _OWN for path in _locations(name)]
        own.append((f"{self.folder}/own/sandbox_inside", str(Path(__file__).with_name("inside"))))
        own.append((self.interpreter, os.path.realpath(sys.executable)))  # by its own path the kernel would tell where
        for inside, outside in self.entries + own:
            if inside != outside:
                Path(inside).parent.mkdir(parents=True, exist_ok=True)
                os.symlink(outside, inside)
        real = {library, sys.prefix, sys.base_prefix, str(Path(__file__).parents[2])}
        real |= {str(Path(outside).parent) for _, outside in self.entries if outside != _ZONES}
        inner = {home, f"{self.folder}/site", f"{self.folder}/own", self.folder}
        telling = {path for path in real if path.count("/") > 1 and path not in _SHARED}
        self.paths = sorted(telling | inner, key=len, reverse=True)

    def remove(self) -> None:
        """Delete the folder, and only links with it."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _temporary_folder() -> str:
    problem: OSError | None = None
    for base in ("/tmp", "/var/tmp", "/dev/shm", None):  # the name of the user's own might tell who it is
        try:
            folder = tempfile.mkdtemp(prefix="python-", dir=base)
            with contextlib.ExitStack() as undo:
                undo.callback(shutil.rmtree, folder, ignore_errors=True)
                os.symlink("x" * 200, f"{folder}/x")  # a link that takes space
                os.unlink(f"{folder}/x")
                undo.pop_all()
            return folder
        except OSError as error:
            problem = error
    assert problem is not None
    raise problem


def _locations(name: str) -> list[Path]:
    """The folder or file of a package, and the folder of libraries that its wheel brings along."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        return []
    path = Path(spec.origin).parent if spec.submodule_search_locations else Path(spec.origin)
    libraries = path.with_name(f"{name}.libs")
    return [path, libraries] if libraries.is_dir() else [path]
