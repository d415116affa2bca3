"""The files that code may read, linked into a folder of their own: paths inside say nothing of the machine."""

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


class Layout:
    """A folder that serves as ``PYTHONHOME``.

    Attributes:
        folder: its path; ``bin/python3`` in it is the interpreter, whose own path would tell where it is.
        entries: what code may read: the path inside, and the real one.
        paths: this machine's paths that must not show, longest first.

    Raises:
        OSError: if there is no space for it.
    """

    def __init__(self) -> None:
        base = "/tmp" if os.access("/tmp", os.W_OK) else tempfile.gettempdir()  # whose name might tell who one is
        self.folder = tempfile.mkdtemp(prefix="medtasks-python-", dir=base)
        os.chmod(self.folder, 0o755)  # root is nobody when it looks
        library = sysconfig.get_path("stdlib")
        places = {
            "/".join(Path(library).parts[-2:]): [
                path for path in Path(library).iterdir() if not path.match("*-packages")
            ],
            "site": _locations(PACKAGES),
            "own": [*_locations(_OWN), Path(__file__).with_name("inside")],
        }
        links = {f"{self.folder}/{place}/{path.name}": str(path) for place, paths in places.items() for path in paths}
        self.entries = [pair for pair in links.items() if "/own/" not in pair[0]]
        links[f"{self.folder}/bin/python3"] = os.path.realpath(sys.executable)
        for inside, outside in links.items():
            Path(inside).parent.mkdir(parents=True, exist_ok=True)
            os.symlink(outside, inside)
        shown = {sys.base_prefix, *(os.path.dirname(path) for pair in self.entries for path in pair)}
        told = [path for path in shown if path.count("/") > 2]  # /usr/local and the like a text may well have
        self.paths = [*sorted(told, key=len, reverse=True), self.folder]
        if os.path.isdir(_ZONES):
            self.entries.append((_ZONES, _ZONES))

    def remove(self) -> None:
        """Delete the folder, and only links with it."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _locations(names: tuple[str, ...]) -> list[Path]:
    """The folders and files of packages, and the folders of libraries that their wheels bring along."""
    found = []
    for name in names:
        spec = importlib.util.find_spec(name)
        if spec and spec.origin:
            path = Path(spec.origin).parent if spec.submodule_search_locations else Path(spec.origin)
            found += [path, path.with_name(f"{name}.libs")]
    return [path for path in found if path.exists()]
