"""The one door to lm_eval: every name of it that this package uses, and what each is for.

No other module imports lm_eval (import-linter and ``tests/harness/test_lm_eval_names.py`` hold it to that). A name is
looked up when it is imported from here, so that each room loads only what it needs::

    from .lm_eval_names import Instance

The table ``lm_eval_names.csv`` also lists the attributes on which the package relies without lm_eval documenting them.
Its last column says what lm_eval 0.5.0.dev1, the draft of the next version, has in place of a name. That draft cannot
run these tasks: a task has one scorer for each filter there, which holds the filters, the metrics and their
aggregations, so :class:`.task.MedTask` has to hand its aggregations to scorers and to score in ``process_instances``.
:func:`missing` lists what the installed release lacks; continuous integration runs it and the self-check on the newest
pre-release.
"""

import csv
from importlib import import_module
from importlib.metadata import version
from inspect import getsource, isclass
from pathlib import Path
from typing import Any, NamedTuple

from medtasks_utils.errors import MedtasksError

from .deferred_imports import import_lm_eval


class Name(NamedTuple):
    """A name of lm_eval that this package uses.

    Attributes:
        module: the module that defines it, below ``lm_eval``.
        purpose: what this package uses it for.
        in_0_5: what 0.5.0.dev1 has in its place; empty where it has the name too.
    """

    module: str
    purpose: str
    in_0_5: str = ""


with (Path(__file__).parent / "lm_eval_names.csv").open(encoding="utf-8", newline="") as _file:
    NAMES = {row.pop("name"): Name(**row) for row in csv.DictReader(_file)}
"""The table ``lm_eval_names.csv``, by name; an attribute follows its class after a dot."""


def owner_of(name: str) -> Any:
    """Return the module, or for an attribute the class, that has a name of :data:`NAMES`."""
    import_lm_eval()
    module = import_module(f"lm_eval.{NAMES[name].module}")
    kind, dot, _ = name.partition(".")
    return getattr(module, kind) if dot else module


def missing() -> list[str]:
    """Return a line for each name that the installed lm_eval lacks.

    Names whose module needs a package that is not installed, such as torch, are passed over. An attribute that only
    instances have is looked for in the source of its class.
    """
    lines = []
    for name, known in NAMES.items():
        attribute = name.rpartition(".")[2]
        try:
            owner = owner_of(name)
            exists = hasattr(owner, attribute) or (isclass(owner) and f"self.{attribute}" in getsource(owner))
        except ModuleNotFoundError as error:
            exists = not str(error.name).startswith("lm_eval")
        if not exists:
            lines.append(f"{known.module}: {name}" + (f"; in its place {known.in_0_5}" if known.in_0_5 else ""))
    return lines


def __getattr__(name: str) -> Any:
    """Return what lm_eval has under a name.

    Raises:
        MedtasksError: where the installed lm_eval lacks it.
    """
    if name not in NAMES:
        raise AttributeError(f"{name} is not in the table of names of lm_eval")
    try:
        return getattr(owner_of(name), name)
    except (AttributeError, ImportError):
        raise MedtasksError(
            f"lm_eval {version('lm_eval')} has no {NAMES[name].module}.{name}, which this version of medtasks needs: "
            "install a release of lm_eval that it supports"
        ) from None
