"""The files that code may read, linked into a folder of their own: paths inside say nothing of the machine."""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import os
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path

PACKAGES = ("numpy", "scipy", "pandas", "dateutil", "six", "pytz", "tzdata", "sympy", "mpmath")
"""What code can import beside the standard library; each is there if it is installed."""

_OWN = ("pyseccomp", "RestrictedPython")
_ZONES = "/usr/share/zoneinfo"
_SHARED = {"/usr/local"}
"""Like folders at the root, a prefix that tells nothing of a machine, and that a text may well have."""

_BASES = ("/tmp", "/var/tmp", "/dev/shm", None)
"""Where the folder may be; None: the user's own temporary folder, whose name might tell who it is."""

_PREFIX = "medtasks-python-"


class Layout:
    """A folder that serves as ``PYTHONHOME``. Folders that no living process holds any more are removed on the way.

    Attributes:
        folder: its path.
        interpreter: the path in it by which Python is started.
        entries: what code may read: the path inside, and the real one.
        paths: this machine's paths that must not show, longest first.

    Raises:
        OSError: if there is no space for it anywhere.
    """

    def __init__(self) -> None:
        problem = OSError()
        for base in _BASES:
            try:
                for left in Path(base or tempfile.gettempdir()).glob(f"{_PREFIX}*/lock"):
                    _remove_if_left(left)
                self.folder = tempfile.mkdtemp(prefix=_PREFIX, dir=base)
                self.interpreter = f"{self.folder}/bin/python3"
                self._lock = open(f"{self.folder}/lock", "w")  # noqa: SIM115 - held as long as this process lives
                fcntl.flock(self._lock, fcntl.LOCK_EX)
                return self._fill()
            except OSError as error:
                problem = error
        raise problem

    def _fill(self) -> None:
        os.chmod(self.folder, 0o755)  # root is nobody when it looks
        library = sysconfig.get_path("stdlib")
        home = f"{self.folder}/{'/'.join(Path(library).parts[-2:])}"
        names = set(os.listdir(library)) - {"site-packages", "dist-packages"}
        self.entries = [(f"{home}/{name}", f"{library}/{name}") for name in sorted(names)]
        self.entries += [(f"{self.folder}/site/{path.name}", str(path)) for path in _locations(PACKAGES)]
        self.entries.append((_ZONES, _ZONES))
        self.entries = [each for each in self.entries if os.path.exists(each[1])]
        own = [(f"{self.folder}/own/{path.name}", str(path)) for path in _locations(_OWN)]
        own.append((f"{self.folder}/own/sandbox_inside", str(Path(__file__).with_name("inside"))))
        own.append((self.interpreter, os.path.realpath(sys.executable)))  # by its own path the kernel would tell where
        for inside, outside in self.entries + own:
            if inside != outside:
                Path(inside).parent.mkdir(parents=True, exist_ok=True)
                os.symlink(outside, inside)
        shown = {library, sys.prefix, sys.base_prefix, str(Path(__file__).parents[2]), self.folder}
        for pair in self.entries:
            shown |= {os.path.dirname(path) for path in pair if _ZONES not in pair}
        self.paths = sorted((path for path in shown - _SHARED if path.count("/") > 1), key=len, reverse=True)

    def remove(self) -> None:
        """Delete the folder, and only links with it."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self._lock.close()


def _remove_if_left(lock: Path) -> None:
    """Delete the folder of a run that was killed."""
    with contextlib.suppress(OSError), lock.open() as held:  # or it is in use, or somebody else's
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(lock.parent, ignore_errors=True)


def _locations(names: tuple[str, ...]) -> list[Path]:
    """The folders and files of packages, and the folders of libraries that their wheels bring along."""
    found = []
    for name in names:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            path = Path(spec.origin).parent if spec.submodule_search_locations else Path(spec.origin)
            found += [path, path.with_name(f"{name}.libs")]
    return [path for path in found if path.exists()]
