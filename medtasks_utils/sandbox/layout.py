"""Link the files that code may read into a separate folder, so that their paths reveal nothing about the machine."""

import importlib.util
import os
import shutil
import sys
import sysconfig
import tempfile
from itertools import chain
from pathlib import Path

PACKAGES = ("numpy", "scipy", "pandas", "dateutil", "six", "pytz", "tzdata", "sympy", "mpmath")
"""Packages that code can import in addition to the standard library, if they are installed."""

_SANDBOX_PACKAGES = ("pyseccomp", "RestrictedPython")  # used by the sandbox itself; code cannot import them
_TIME_ZONES = "/usr/share/zoneinfo"


class Layout:
    """A folder of links that serves as ``PYTHONHOME`` of the sandbox's interpreter.

    Attributes:
        folder: the folder's path; the interpreter is ``bin/python3`` in it.
        entries: the files and folders that code may read, as pairs of the path in the sandbox and the real path.
        paths: paths of this machine that must be removed from all output; a folder comes after the paths in it.

    Raises:
        OSError: if the folder cannot be made.
    """

    def __init__(self) -> None:
        base = "/tmp" if os.access("/tmp", os.W_OK) else tempfile.gettempdir()  # TMPDIR may contain the user's name
        self.folder = tempfile.mkdtemp(prefix="medtasks-python-", dir=base)
        os.chmod(self.folder, 0o755)  # if root runs this, the interpreter reads the folder as the user nobody
        library = Path(sysconfig.get_path("stdlib"))
        standard = [path for path in library.iterdir() if not path.match("*-packages")]
        self.entries = self._link("/".join(library.parts[-2:]), standard) + self._link("site", _locations(PACKAGES))
        self._link("own", [*_locations(_SANDBOX_PACKAGES), Path(__file__).with_name("inside")])
        os.mkdir(f"{self.folder}/bin")
        os.symlink(os.path.realpath(sys.executable), f"{self.folder}/bin/python3")
        folders = {sys.base_prefix, *map(os.path.dirname, chain.from_iterable(self.entries))}
        telling = [path for path in folders if path.count("/") > 2]  # short paths such as /usr/local reveal nothing
        self.paths = [*sorted(telling, key=len, reverse=True), self.folder]
        if os.path.isdir(_TIME_ZONES):
            self.entries.append((_TIME_ZONES, _TIME_ZONES))

    def _link(self, subfolder: str, paths: list[Path]) -> list[tuple[str, str]]:
        """Link files and folders into a new subfolder, and return each link with its target."""
        folder = f"{self.folder}/{subfolder}"
        os.makedirs(folder)
        links = [(f"{folder}/{path.name}", str(path)) for path in paths]
        for inside, outside in links:
            os.symlink(outside, inside)
        return links

    def remove(self) -> None:
        """Delete the folder and its links, but not their targets."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _locations(names: tuple[str, ...]) -> list[Path]:
    """Return the folder or file of each installed package, and its wheel's folder of shared libraries, if any."""
    locations = []
    for name in names:
        spec = importlib.util.find_spec(name)
        if spec and spec.origin:
            path = Path(spec.origin).parent if spec.submodule_search_locations else Path(spec.origin)
            locations += [path, path.with_name(f"{name}.libs")]
    return [path for path in locations if path.exists()]
