"""What runs behind the rewritten code: attribute access by type, class bases, formatting.

What an object lets code read is decided by its type: a table lists the types that code can come by, and an object of
any other type has no attributes at all. Nothing here trusts a name or value that the code made.
"""

from __future__ import annotations

import inspect
import string
import types
from collections.abc import Callable
from typing import Any, TypeGuard

import numpy

from medtasks_utils.sandbox.facades import MODULES, Facade, ndarray
from medtasks_utils.sandbox.objects import EVERYTHING, SAFE_BASES, TYPES, WRITABLE
from medtasks_utils.sandbox.policy import INSPECTION, MAGIC_METHODS, READABLE_DUNDERS, is_refused_name

MAIN = "__main__"
"""The module of everything that the code defines, as in a script."""

_MISSING = object()
_OF_CLASSES = frozenset({"mro", "register"})
_NEVER = INSPECTION | {"tofile", "dump", "dumps", "ctypes", "cffi", "capsule", "bit_generator", "base"}
_NAMEDTUPLE = frozenset({"_asdict", "_replace", "_fields", "_make"})
_CONVENTIONAL = frozenset({"__init__", "__str__", "__repr__", "__eq__", "__hash__", "__format__", "__len__"})


class Unavailable(AttributeError):
    """An attribute that exists, perhaps, but not here."""


def _refuse(owner: str, name: str) -> Unavailable:
    return Unavailable(f"{owner} has no attribute {name!r} here")


def _is_own(value: type) -> bool:
    """Whether code made this class."""
    return bool(type.__getattribute__(value, "__module__") == MAIN)


def _is_inherited(owner: type, name: str) -> bool:
    """Whether a private name comes from a class that the code did not make; methods it may define are no secret."""
    foreign = [kind for kind in inspect.getmro(owner) + inspect.getmro(type(owner)) if not _is_own(kind)]
    return name not in MAGIC_METHODS and any(name in vars(kind) for kind in foreign)


def _is_safe_base(value: object) -> bool:
    return any(value is base for base in SAFE_BASES)  # by identity: code says what == means for its own objects


def is_class(value: object) -> TypeGuard[type]:
    """Whether it is a class, whatever it says it is."""
    return issubclass(type(value), type)


# ---- attributes


def guarded_getattr(value: Any, name: str, default: Any = _MISSING) -> Any:
    """``getattr`` for code: by the type of the value.

    Raises:
        AttributeError: if there is no such attribute, or none here.
    """
    if type(name) is not str:
        raise TypeError("attribute names must be strings")
    try:
        return _read(value, name)
    except AttributeError:
        if default is _MISSING:
            raise
        return default


def _read(value: Any, name: str) -> Any:
    kind = type(value)
    if kind is Facade:
        return value.get(name)
    owner = value if is_class(value) else kind
    if name in READABLE_DUNDERS:
        return _read_dunder(value, name)
    if (
        name in INSPECTION
        or (name.startswith("__") and name not in MAGIC_METHODS)
        or (owner is value and name in _OF_CLASSES)
    ):
        raise _refuse(f"{owner.__name__!r} object", name)
    if name in ("format", "format_map") and (issubclass(owner, str) or kind is super):
        return _formatting(value, name)
    if kind is super:
        if not _is_own(super.__thisclass__.__get__(value)):  # type: ignore[attr-defined]
            raise _refuse("super", name)
        return getattr(value, name)
    if _is_own(owner):
        if name.startswith("_") and _is_inherited(owner, name):
            raise _refuse(f"{owner.__name__!r} object", name)
        return getattr(value, name)
    if kind is types.FunctionType and value.__module__ == MAIN and not name.startswith("_"):
        return getattr(value, name)
    if name.startswith("_"):
        if name in _NAMEDTUPLE and issubclass(owner, tuple):
            return getattr(value, name)
        if owner is value and _is_safe_base(value) and name in _CONVENTIONAL:
            return getattr(value, name)
        raise _refuse(f"{owner.__name__!r} object", name)
    if name in _NEVER:
        raise _refuse(f"{owner.__name__!r} object", name)
    for base in owner.__mro__:
        allowed = TYPES.get(base)
        if allowed is not None:
            if allowed is EVERYTHING or name in allowed:
                return getattr(value, name)
            break
    else:
        if (
            owner.__module__.startswith("scipy.") and name not in _NEVER
        ):  # results and distributions: the allowed functions make no others
            return _not_a_module(getattr(value, name), name)
    raise _refuse(f"{owner.__name__!r} object", name)


def _not_a_module(value: Any, name: str) -> Any:
    if isinstance(value, types.ModuleType):
        raise _refuse("this object", name)
    return value


def _read_dunder(value: Any, name: str) -> Any:
    if name == "__class__":
        return guarded_type(value)
    if name == "__dict__":
        return guarded_vars(value)
    found = getattr(value, name)
    if found is not None and type(found) is not str:
        raise _refuse("this object", name)
    return found


def guarded_setattr(value: Any, name: str, new: Any) -> None:
    """``setattr`` for code: on its own objects, classes and functions."""
    _check_write(value, name)
    setattr(value, name, new)


def guarded_delattr(value: Any, name: str) -> None:
    """``delattr`` for code: on its own objects, classes and functions."""
    _check_write(value, name)
    delattr(value, name)


def _check_write(value: Any, name: str) -> None:
    if type(name) is not str:
        raise TypeError("attribute names must be strings")
    owner = value if is_class(value) else type(value)
    own = (
        _is_own(owner)
        or name in WRITABLE.get(type(value), ())
        or (type(value) is types.FunctionType and value.__module__ == MAIN)
    )
    if not own or is_refused_name(name) or name in INSPECTION:
        raise Unavailable(f"attribute {name!r} of {owner.__name__!r} object cannot be set here")


class Writer:
    """What ``_write_`` returns: the target of an attribute assignment, plain or augmented."""

    __slots__ = ("target",)

    def __init__(self, target: Any) -> None:
        object.__setattr__(self, "target", target)

    def __getattribute__(self, name: str) -> Any:
        return guarded_getattr(object.__getattribute__(self, "target"), name)

    def __setattr__(self, name: str, value: Any) -> None:
        guarded_setattr(object.__getattribute__(self, "target"), name, value)

    def __delattr__(self, name: str) -> None:
        guarded_delattr(object.__getattribute__(self, "target"), name)


# ---- formatting: str.format walks attributes by itself


class _Formatter(string.Formatter):
    def get_field(self, field_name: str, args: Any, kwargs: Any) -> tuple[Any, str | int]:
        first, rest = string._string.formatter_field_name_split(field_name)  # type: ignore[attr-defined]
        value = self.get_value(first, args, kwargs)
        for is_attribute, key in rest:
            value = guarded_getattr(value, key) if is_attribute else value[key]
        return value, first


def _formatting(value: Any, name: str) -> Callable[..., str]:
    text = super.__self__.__get__(value) if type(value) is super else value  # type: ignore[attr-defined]
    if not isinstance(text, str) and not (is_class(text) and issubclass(text, str)):
        raise _refuse("this object", name)

    def apply(template: Any, *args: Any, **kwargs: Any) -> str:
        if not isinstance(template, str):
            raise TypeError(f"str.{name} needs a string")
        if name == "format_map":
            (mapping,) = args
            return _Formatter().vformat(str(template), (), mapping)
        return _Formatter().vformat(str(template), args, kwargs)

    return apply if is_class(text) else lambda *args, **kwargs: apply(text, *args, **kwargs)


# ---- classes


def guarded_bases(*bases: Any) -> tuple[Any, ...]:
    """The bases of a class statement, checked: the code's own classes, and builtin ones that are only data."""
    for base in bases:
        own = is_class(base) and _is_own(base)
        plain = _is_safe_base(base) or (is_class(base) and issubclass(base, BaseException))
        if not own and not plain:
            raise TypeError(f"a class cannot derive from {getattr(base, '__name__', 'this')!r} here")
    return bases


class _TypeName:
    """Stands for a class that code may compare and print but not have."""

    def __init__(self, kind: type) -> None:
        self.kind = kind

    @property
    def __name__(self) -> str:
        return self.kind.__name__

    def __repr__(self) -> str:
        return repr(self.kind)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _TypeName) and other.kind is self.kind

    def __hash__(self) -> int:
        return hash(self.kind)


def guarded_type(value: Any) -> Any:
    """``type(value)``: the class where it is only data, else something that prints and compares like it."""
    kind = type(value)
    if kind is numpy.ndarray:
        return ndarray
    return kind if _is_own(kind) or kind in _DATA or issubclass(kind, BaseException) else _TypeName(kind)


_DATA = frozenset(
    [kind for kind, allowed in TYPES.items() if allowed is EVERYTHING]
    + [kind for kind in vars(MODULES["numpy"]).values() if is_class(kind) and issubclass(kind, numpy.generic)]
)


def guarded_vars(value: Any) -> dict[str, Any]:
    """A copy of the attributes of one of the code's own objects."""
    if is_class(value) or not _is_own(type(value)):
        raise TypeError("vars() works here on objects of your own classes only")
    return dict(object.__getattribute__(value, "__dict__"))
