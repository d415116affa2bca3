"""The namespace that code runs in: builtins, ``import``, and the guards under names that code cannot write."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Mapping
from typing import Any

from medtasks_utils.sandbox.facades import MODULES, Facade
from medtasks_utils.sandbox.guards import (
    MAIN,
    Writer,
    guarded_bases,
    guarded_delattr,
    guarded_getattr,
    guarded_setattr,
    guarded_type,
    guarded_vars,
    is_class,
)


def _hasattr(value: Any, name: str) -> bool:
    return guarded_getattr(value, name, _MISSING_TOO) is not _MISSING_TOO


_MISSING_TOO = object()


def _print(*values: Any, sep: str | None = " ", end: str | None = "\n", file: None = None, flush: bool = False) -> None:
    if file is not None:
        raise TypeError("print(file=...) is not available here")
    print(*values, sep=sep, end=end)  # to what stands in for standard output


def guarded_import(
    name: str,
    globals: Any = None,
    locals: Any = None,
    fromlist: tuple[str, ...] | list[str] | None = (),
    level: int = 0,
) -> Facade | None:
    """``import`` for code: facades of a few modules, never a module.

    Raises:
        ImportError: if there is no such module or name, or none here.
    """
    if type(fromlist) is list and name in sys.modules:
        return None  # a library's C code, which has the interpreter call this and then takes the loaded module itself
    module = MODULES.get(name) if level == 0 else None
    if module is None:
        known = ", ".join(sorted(name for name in MODULES if not name.startswith("_") and "." not in name))
        raise ImportError(f"No module named {name!r} is available here; there are {known}", name=str(name))
    for wanted in fromlist or ():
        if wanted != "*" and not module.has(wanted):
            raise ImportError(f"cannot import name {wanted!r} from {name!r} here", name=name)
    return module if fromlist else MODULES[name.partition(".")[0]]


def _unavailable(name: str) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        raise PermissionError(f"{name}() is not available here: the code runs alone, without files, input or a shell")

    return call


_PLAIN = """
abs all any ascii bin bool bytearray bytes callable chr classmethod complex dict divmod enumerate filter float format
frozenset hash hex id int isinstance issubclass iter len list map max min next object oct ord pow property range repr
reversed round set slice sorted staticmethod str sum super tuple zip None False True Ellipsis NotImplemented
__build_class__ __debug__
"""
_REFUSED = "open input eval exec compile breakpoint exit quit globals locals dir help memoryview"


def make_builtins() -> Mapping[str, Any]:
    """The builtins that code sees."""
    exceptions = [
        name for name, value in vars(builtins).items() if is_class(value) and issubclass(value, BaseException)
    ]
    return {
        **{name: getattr(builtins, name) for name in (*_PLAIN.split(), *exceptions)},
        **{name: _unavailable(name) for name in _REFUSED.split()},
        "type": guarded_type,
        "vars": guarded_vars,
        "getattr": guarded_getattr,
        "hasattr": _hasattr,
        "setattr": guarded_setattr,
        "delattr": guarded_delattr,
        "print": _print,
        "__import__": guarded_import,
    }


def make_globals() -> dict[str, Any]:
    """A fresh namespace for a session, guards included."""
    return {
        "__name__": MAIN,
        "__builtins__": dict(make_builtins()),
        "_getattr_": guarded_getattr,
        "_write_": Writer,
        "_bases_": guarded_bases,
    }
