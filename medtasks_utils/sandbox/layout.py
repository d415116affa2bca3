"""Link the files that code may read into a separate folder, so that their paths reveal nothing about the machine."""

import importlib.util
import os
import shutil
import sys
import sysconfig
import tempfile
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
        library = sysconfig.get_path("stdlib")
        contents = {
            "/".join(Path(library).parts[-2:]): [
                path for path in Path(library).iterdir() if not path.match("*-packages")
            ],
            "site": _locations(PACKAGES),
            "own": [*_locations(_SANDBOX_PACKAGES), Path(__file__).with_name("inside")],
        }
        links: dict[str, str] = {}
        for subfolder, paths in contents.items():
            links |= {f"{self.folder}/{subfolder}/{path.name}": str(path) for path in paths}
        self.entries = [(inside, outside) for inside, outside in links.items() if "/own/" not in inside]
        links[f"{self.folder}/bin/python3"] = os.path.realpath(sys.executable)
        for inside, outside in links.items():
            Path(inside).parent.mkdir(parents=True, exist_ok=True)
            os.symlink(outside, inside)
        folders = {sys.base_prefix}
        for inside, outside in self.entries:
            folders |= {os.path.dirname(inside), os.path.dirname(outside)}
        telling = [path for path in folders if path.count("/") > 2]  # short paths such as /usr/local reveal nothing
        self.paths = [*sorted(telling, key=len, reverse=True), self.folder]
        if os.path.isdir(_TIME_ZONES):
            self.entries.append((_TIME_ZONES, _TIME_ZONES))

    def remove(self) -> None:
        """Delete the folder, but not the files that its links point to."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _locations(names: tuple[str, ...]) -> list[Path]:
    """Return the folder or file of each installed package, and the folder of shared libraries, if its wheel had one."""
    locations = []
    for name in names:
        spec = importlib.util.find_spec(name)
        if spec and spec.origin:
            path = Path(spec.origin).parent if spec.submodule_search_locations else Path(spec.origin)
            locations += [path, path.with_name(f"{name}.libs")]
    return [path for path in locations if path.exists()]
