"""Look up objects by name, in this package and in other installed distributions.

Another distribution registers an object by an entry point, such as::

    [project.entry-points."medtasks.judges"]
    my-judge = "my_package.my_judge:MyJudge"
"""

from collections import UserDict
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any


@cache
def _installed() -> Any:
    """Return the entry points of all installed distributions. They are cached, since finding them takes 20 ms."""
    return entry_points()


class Registry(UserDict[str, Any]):
    """A mapping from names to objects, each imported on first use.

    Args:
        group: the entry-point group in which other distributions register objects; they replace builtin objects of the
            same name.
        builtin: the paths of this package's objects by name, such as ``package.module:Class``.
    """

    def __init__(self, group: str, builtin: Mapping[str, str]) -> None:
        plugins = {entry.name: entry.value for entry in sorted(_installed().select(group=group))}
        super().__init__({**builtin, **plugins})

    def __getitem__(self, name: str) -> Any:
        module, _, attribute = self.data[name].partition(":")
        return getattr(import_module(module), attribute)
