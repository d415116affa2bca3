"""Run RestrictedPython instead of plain Python if the kernel cannot confine a process.

This is not a security boundary: it prevents accidental access to files, not attacks.
"""

import builtins
import importlib
import types

from RestrictedPython import Eval, Guards, compile_restricted, safe_builtins

from .worker import Interpreter

MODULES = ("math", "statistics", "datetime", "decimal", "fractions")
"""The modules whose public names can be imported. None of these names accesses attributes by name, as ``str.format``
does, or returns an object that does."""

_BUILTINS = "all any bin dict enumerate filter frozenset iter list map max min next reversed set sum"


def _import(name: str, *others: object) -> types.SimpleNamespace:
    """Return a namespace with a module's public names, in place of ``__import__``.

    Raises:
        ImportError: if the module is not one of :data:`MODULES`.
    """
    if name not in MODULES:
        raise ImportError(f"no module {name!r} in the weak sandbox; available: {', '.join(MODULES)}")
    module = vars(importlib.import_module(name))
    public = module.get("__all__") or [key for key in module if not key.startswith("_")]
    return types.SimpleNamespace(**{key: module[key] for key in public})


def in_place(operation: str, value: object, other: object) -> object:
    """Apply an in-place operation such as ``+=``, and return its result."""
    scope = {"value": value, "other": other}
    exec(f"value {operation} other", scope)  # safe: RestrictedPython passes only known operators
    return scope["value"]


class RestrictedInterpreter(Interpreter):
    """An :class:`.Interpreter` that accepts only the subset of Python that RestrictedPython allows."""

    def predefined(self) -> dict[str, object]:
        """Return the allowed built-in functions, RestrictedPython's guard functions, and ``math``."""
        printer = types.SimpleNamespace(_call_print=print)
        allowed = {name: getattr(builtins, name) for name in _BUILTINS.split()}
        return {
            "__builtins__": {**safe_builtins, **allowed, "__import__": _import},
            "__metaclass__": type,
            "_getattr_": Guards.safer_getattr_raise,
            "_getitem_": Eval.default_guarded_getitem,
            "_getiter_": Eval.default_guarded_getiter,
            "_iter_unpack_sequence_": Guards.guarded_iter_unpack_sequence,
            "_unpack_sequence_": Guards.guarded_unpack_sequence,
            "_inplacevar_": in_place,
            "_print_": lambda get_attribute: printer,
            "_print": printer,
            "_write_": lambda target: target,
            "math": _import("math"),
        }

    compile = staticmethod(compile_restricted)
