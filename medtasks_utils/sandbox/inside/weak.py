"""RestrictedPython with a short list of modules, for systems whose kernel offers no boundary: a guard, not a wall."""

from __future__ import annotations

import builtins
import importlib
import types
from collections.abc import Mapping
from typing import Any

from .worker import Session

MODULES = (
    "bisect", "calendar", "cmath", "collections", "datetime", "decimal", "fractions", "heapq", "itertools", "json",
    "math", "random", "re", "statistics",
)  # fmt: skip
"""What can be imported: the public functions and classes of these, never the modules themselves. Not ``string``, whose
``Formatter`` reads any attribute."""

_BUILTINS = "all any bin dict enumerate filter frozenset iter list map max min next reversed set sum"


def _public(name: str) -> types.SimpleNamespace:
    module = importlib.import_module(name)
    names = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
    found = {name: getattr(module, name) for name in names}
    return types.SimpleNamespace(
        **{name: value for name, value in found.items() if not isinstance(value, types.ModuleType)}
    )


def _import(
    name: str, globals: Any = None, locals: Any = None, fromlist: tuple[str, ...] | None = (), level: int = 0
) -> types.SimpleNamespace:
    if name not in MODULES or level:
        raise ImportError(f"no module {name!r} in the weak sandbox; there are {', '.join(MODULES)}")
    return _public(name)


_MISSING = object()


def _get_attribute(value: Any, name: str) -> Any:
    from RestrictedPython.Guards import safer_getattr

    found = safer_getattr(value, name, _MISSING)
    if found is _MISSING:
        raise AttributeError(f"{type(value).__name__!r} object has no attribute {name!r} in the weak sandbox")
    return found


class _Printer:
    """What RestrictedPython's ``print`` prints with: the real one."""

    def __init__(self, getattr_: Any = None) -> None:
        self._call_print = print


def _write_guard(value: Any) -> Any:
    if type(value) in (dict, list, set) or type(type(value)) is _Class:
        return value
    raise TypeError(f"attributes and items of {type(value).__name__!r} objects cannot be set in the weak sandbox")


class _Class(type):
    """Metaclass of the classes that code makes."""


def _in_place(operation: str, value: Any, other: Any) -> Any:
    import operator

    names = {"**": "pow", "<<": "lshift", ">>": "rshift", "//": "floordiv", "@": "matmul", "+": "add", "-": "sub"}
    names |= {"*": "mul", "/": "truediv", "%": "mod", "&": "and", "|": "or", "^": "xor"}
    return getattr(operator, f"__i{names[operation.rstrip('=')]}__")(value, other)


def _make_builtins() -> Mapping[str, Any]:
    from RestrictedPython import safe_builtins

    return {
        **safe_builtins,
        **{name: getattr(builtins, name) for name in _BUILTINS.split()},
        "__import__": _import,
    }


class WeakSession(Session):
    """As :class:`Session`, in RestrictedPython's language."""

    def predefined(self) -> dict[str, Any]:
        """The guards, and :mod:`math`."""
        from RestrictedPython import Eval, Guards

        return {
            "__builtins__": dict(_make_builtins()),
            "__metaclass__": _Class,
            "_getattr_": _get_attribute,
            "_getitem_": Eval.default_guarded_getitem,
            "_getiter_": Eval.default_guarded_getiter,
            "_iter_unpack_sequence_": Guards.guarded_iter_unpack_sequence,
            "_unpack_sequence_": Guards.guarded_unpack_sequence,
            "_inplacevar_": _in_place,
            "_print_": _Printer,
            "_write_": _write_guard,
            "math": _public("math"),
        }

    def execute(self, code: str, name: str) -> None:
        """Compile under RestrictedPython's policy, and run."""
        import ast

        from RestrictedPython import compile_restricted

        tree = ast.parse(code, name)
        last = tree.body[-1] if tree.body else None
        if isinstance(last, ast.Expr):
            target = ast.copy_location(ast.Name("last_value", ast.Store()), last)
            tree.body[-1] = ast.copy_location(ast.Assign([target], last.value), last)
        exec(compile_restricted(tree, name, "exec"), self.globals)
        value = self.globals.pop("last_value", None)
        if isinstance(last, ast.Expr) and value is not None:
            print(repr(value))
