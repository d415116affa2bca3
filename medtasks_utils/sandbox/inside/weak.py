"""RestrictedPython in place of plain Python, where the kernel offers no boundary: only for models that one trusts.

It is no boundary. It keeps honest code from files, and nobody who means harm from anything.
"""

import builtins
import importlib
import types
from typing import Any

from .worker import Session

MODULES = ("math", "statistics", "datetime", "decimal", "fractions")
"""What can be imported: the public names of these, never the modules themselves. None formats what it is given by the
names of attributes, as ``str.format`` does, or hands on what does."""

_BUILTINS = "all any bin dict enumerate filter frozenset iter list map max min next reversed set sum"


def _import(name: str, *others: Any) -> types.SimpleNamespace:
    if name not in MODULES:
        raise ImportError(f"no module {name!r} in the weak sandbox; there are {', '.join(MODULES)}")
    module = vars(importlib.import_module(name))
    public = module.get("__all__") or [each for each in module if not each.startswith("_")]
    return types.SimpleNamespace(**{each: module[each] for each in public})


def _in_place(operation: str, value: Any, other: Any) -> Any:
    scope = {"value": value, "other": other}
    exec(f"value {operation} other", scope)  # the operation is a sign out of RestrictedPython's own list
    return scope["value"]


class WeakSession(Session):
    """As :class:`Session`, in RestrictedPython's language."""

    def predefined(self) -> dict[str, Any]:
        """The guards, and :mod:`math`."""
        from RestrictedPython import Eval, Guards, safe_builtins

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
            "_inplacevar_": _in_place,
            "_print_": lambda get_attribute: printer,
            "_print": printer,
            "_write_": lambda target: target,
            "math": _import("math"),
        }

    def compile(self, *arguments: Any) -> Any:
        """Compile under RestrictedPython's policy."""
        from RestrictedPython import compile_restricted

        return compile_restricted(*arguments)
