"""Provide every name of lm_eval that this package uses, and record its purpose.

No other module imports lm_eval; import-linter enforces this. A name is looked up when it is imported from here, so that
each module loads only what it needs::

    from .lm_eval_names import Instance

The table ``lm_eval_names.csv`` also lists undocumented attributes that this package relies on. Its column ``in_0_5``
names the replacement in lm_eval 0.5.0.dev1, the draft of the next version. That draft cannot run these tasks: it keeps
metrics and their aggregations in a scorer per filter. :class:`.task.MedTask` would have to pass its aggregations to
scorers, and score in ``process_instances``. :func:`missing` lists the names that the installed release lacks. CI runs
this function and the self-check on the newest pre-release.
"""

import csv
from importlib.metadata import requires, version
from inspect import getsource, isclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, NamedTuple

from medtasks_utils.errors import MedtasksError, reason_of

from .deferred_imports import import_lm_eval


class Name(NamedTuple):
    """A name of lm_eval that this package uses.

    Attributes:
        module: the module that defines it, below ``lm_eval``.
        purpose: its use in this package.
        in_0_5: its replacement in 0.5.0.dev1; empty if that version has the name too.
        parameters: for a function, class or method that is replaced, its parameters in 0.4.13; a test compares them
            with those in the installed release.
    """

    module: str
    purpose: str
    in_0_5: str = ""
    parameters: str = ""


with (Path(__file__).parent / "lm_eval_names.csv").open(encoding="utf-8", newline="") as _file:
    NAMES = {row.pop("name"): Name(**row) for row in csv.DictReader(_file)}
"""The rows of ``lm_eval_names.csv`` by name; an attribute is written as ``Class.attribute``."""


def owner_of(name: str) -> Any:
    """Return the module that defines a name of :data:`NAMES` or, for an attribute, its class."""
    if not NAMES[name].module.startswith("_cli"):  # which imports nothing, so that --help is quick
        import_lm_eval()
    return resolve_name(f"lm_eval.{NAMES[name].module}:{name.rpartition('.')[0]}")


def missing() -> list[str]:
    """Return a line for each name that the installed lm_eval lacks.

    Names whose module needs a package that is not installed, such as torch, are skipped. An attribute that only
    instances have is looked up in the source of its class.
    """
    lines = []
    for name, known in NAMES.items():
        attribute = name.rpartition(".")[2]
        try:
            owner = owner_of(name)
            exists = hasattr(owner, attribute) or (isclass(owner) and f"self.{attribute}" in getsource(owner))
        except ImportError as error:
            exists = not _is_of_lm_eval(error)
        if not exists:
            lines.append(f"{known.module}: {name}" + (f"; in its place {known.in_0_5}" if known.in_0_5 else ""))
    return lines


def __getattr__(name: str) -> Any:
    """Return the object that lm_eval has under a name of :data:`NAMES`.

    Raises:
        AttributeError: if the name is not in :data:`NAMES`.
        ImportError: if the name's module needs a package that is not installed.
        MedtasksError: if the installed release has no such name.
    """
    if name not in NAMES:
        raise AttributeError(f"{name} is not in lm_eval_names.csv")
    try:
        return getattr(owner_of(name), name)
    except (ImportError, AttributeError) as error:
        if isinstance(error, ImportError) and not _is_of_lm_eval(error):
            raise  # for a model whose package is not installed
        (supported,) = (text for text in requires("medtasks") or () if text.startswith("lm-eval") and ";" not in text)
        raise MedtasksError(
            f"lm_eval {version('lm_eval')} is not supported ({reason_of(error)}): pip install '{supported}'"
        ) from None


def _is_of_lm_eval(error: ImportError) -> bool:
    """Return whether the module that failed to import belongs to lm_eval itself."""
    return error.name is None or error.name.startswith("lm_eval")
